import type { ToolEffect } from "../effect.ts";
import { describeThrown, errorData } from "../errors.ts";
import type { FactBody } from "../event.ts";
import type { Json } from "../json.ts";
import type { Outcome, Tool, ToolContext } from "../tool.ts";
import { findTool, validateInput } from "./check-calls.ts";
import { digestOf } from "./digest.ts";
import { agentOf, type HookedCall, type Io, runIdOf } from "./io.ts";
import { failed, interrupted, outcomeOf } from "./outcome.ts";
import { isDeadline, untilAborted } from "./until-aborted.ts";

const longestBlockMs = 1000;

/** One call under way. `facts` is what there is to say about it beside its result. */
type Calling = {
  readonly effect: ToolEffect;
  readonly io: Io;
  readonly signal: AbortSignal;
  readonly facts: FactBody[];
};

/** Runs one tool call. A tool without `execute` is the client's to run: it has no result yet. */
export async function callTool(
  effect: ToolEffect,
  io: Io,
  signal: AbortSignal,
): Promise<readonly FactBody[]> {
  const startedAt = io.clock.now();
  const { callId: id, name } = effect;
  const facts: FactBody[] = [];
  const outcome = await outcomeOfCall({ effect, io, signal, facts });
  if (!outcome) return facts;
  const { status, content, ...rest } = await afterTool(outcome, { effect, io, signal, facts });
  const ms = io.clock.now() - startedAt;
  const is_error = status !== "ok";
  return [
    { type: "tool_call_result", id, name, result: content, is_error, status, attempts: 1, ms, ...rest },
    ...facts,
  ];
}

async function outcomeOfCall(calling: Calling): Promise<Outcome | undefined> {
  const { effect, io, signal } = calling;
  if (effect.refused) return failed(effect.refused);
  const agent = agentOf(effect.agent, io);
  const found =
    effect.isFallback && agent.fallbackTool ? { tool: agent.fallbackTool } : findTool(effect.name, agent);
  if ("error" in found) return failed(found.error);
  const { tool } = found;
  const valid = await validateInput(tool, effect.input);
  if ("error" in valid) return failed(valid.error);
  if (!(await isAsApproved(tool, calling))) {
    const message = `"${tool.name}" or its arguments are not what was approved. The call was not made.`;
    return failed(errorData("approval_mismatch", message));
  }
  if (!tool.execute) return undefined;
  try {
    await untilAborted(Promise.resolve(io.hooks.onBeforeTool?.(hookedCall(effect, io))), signal);
    return outcomeOf(await untilAborted(begin(tool, valid.value, calling), signal));
  } catch (thrown) {
    if (!signal.aborted) return failed(describeThrown(thrown, "tool_failed"));
    if (!isDeadline(signal)) return interrupted;
    return failed(errorData("tool_timeout", `"${tool.name}" gave no result within ${effect.timeoutMs} ms.`));
  }
}

/** Nothing can stop a tool that computes without a pause, and it holds up every run of the process: so it is named. */
async function begin(tool: Tool, input: unknown, { effect, io, signal, facts }: Calling): Promise<unknown> {
  const startedAt = io.clock.now();
  const work = tool.execute?.(input, toolContext(effect, io, signal));
  const ms = io.clock.now() - startedAt;
  if (ms >= longestBlockMs) {
    const message = `The tool "${tool.name}" blocked the process for ${ms} ms.`;
    facts.push({ type: "warning", code: "event_loop_blocked", message });
  }
  return work;
}

async function isAsApproved(tool: Tool, { effect, io }: Calling): Promise<boolean> {
  if (effect.digest === undefined) return true;
  const call = { id: effect.callId, input: effect.input as { [key: string]: Json } };
  return (await digestOf(runIdOf(io), tool, call)) === effect.digest;
}

function toolContext(effect: ToolEffect, io: Io, signal: AbortSignal): ToolContext {
  const { callId } = effect;
  const runId = runIdOf(io);
  return {
    signal,
    runId,
    sessionId: io.state.sessionId,
    callId,
    idempotencyKey: `${runId}/${callId}`,
    context: io.context,
    progress(data) {
      // What is left behind after a time-out or a cancellation has nothing more to say.
      if (!signal.aborted) io.emit({ type: "tool_progress", id: callId, data });
    },
  };
}

function hookedCall({ callId, name, input }: ToolEffect, { context }: Io): HookedCall {
  return { id: callId, name, input, context };
}

async function afterTool(outcome: Outcome, { effect, io, signal }: Calling): Promise<Outcome> {
  if (!io.hooks.onAfterTool) return outcome;
  try {
    const changed = Promise.resolve(io.hooks.onAfterTool(hookedCall(effect, io), outcome));
    return (await untilAborted(changed, signal)) ?? outcome;
  } catch (thrown) {
    return signal.aborted ? outcome : failed(describeThrown(thrown, "tool_failed"));
  }
}
