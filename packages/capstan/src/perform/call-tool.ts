import type { Agent } from "../agent.ts";
import type { Clock } from "../clock.ts";
import type { ToolEffect } from "../effect.ts";
import { describeThrown, errorData } from "../errors.ts";
import type { DeltaBody, FactBody } from "../event.ts";
import type { Json } from "../json.ts";
import type { State } from "../state.ts";
import type { Outcome, Tool, ToolContext } from "../tool.ts";
import { findTool, validateInput } from "./check-calls.ts";
import { digestOf } from "./digest.ts";
import { failed, interrupted, outcomeOf } from "./outcome.ts";
import { isDeadline, untilAborted } from "./until-aborted.ts";

export type HookedCall = {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  readonly context: unknown;
};

export type CallHooks = {
  /** Before a tool runs. A throw refuses the call; the model is told why. */
  onBeforeTool?(call: HookedCall): void | Promise<void>;
  /** After a tool has run; what it returns takes the place of the outcome. */
  onAfterTool?(call: HookedCall, outcome: Outcome): Outcome | undefined | Promise<Outcome | undefined>;
};

type ToolIo = {
  readonly agent: Agent;
  readonly state: State;
  readonly clock: Clock;
  readonly context: unknown;
  readonly hooks: CallHooks;
  emit(delta: DeltaBody): void;
};

/** Runs one tool call. A tool without `execute` is the client's to run: it has no result yet. */
export async function callTool(
  effect: ToolEffect,
  io: ToolIo,
  signal: AbortSignal,
): Promise<readonly FactBody[]> {
  const startedAt = io.clock.now();
  const { callId: id, name, input } = effect;
  const outcome = await outcomeOfCall(effect, io, signal);
  if (!outcome) return [];
  const call = { id, name, input, context: io.context };
  const { status, content, ...rest } = await afterTool(call, outcome, io.hooks);
  return [
    {
      type: "tool_call_result",
      id,
      name,
      result: content,
      is_error: status !== "ok",
      status,
      attempts: 1,
      ms: io.clock.now() - startedAt,
      ...rest,
    },
  ];
}

async function outcomeOfCall(
  effect: ToolEffect,
  io: ToolIo,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const found = findTool(effect.name, io.agent);
  if ("error" in found) return failed(found.error);
  const { tool } = found;
  const valid = await validateInput(tool, effect.input);
  if ("error" in valid) return failed(valid.error);
  if (effect.digest !== undefined && !(await isAsApproved(effect, tool, io))) {
    return failed(
      errorData(
        "approval_mismatch",
        `"${tool.name}" or its arguments are not what was approved. The call was not made.`,
      ),
    );
  }
  if (!tool.execute) return undefined;
  try {
    const call = { id: effect.callId, name: tool.name, input: effect.input, context: io.context };
    await io.hooks.onBeforeTool?.(call);
    signal.throwIfAborted();
    const work = Promise.resolve(tool.execute(valid.value, toolContext(effect, io, signal)));
    return outcomeOf(await untilAborted(work, signal));
  } catch (thrown) {
    return thrownOutcome(thrown, effect, signal);
  }
}

function thrownOutcome(thrown: unknown, { name, timeoutMs }: ToolEffect, signal: AbortSignal): Outcome {
  if (!signal.aborted) return failed(describeThrown(thrown, "tool_failed"));
  if (!isDeadline(signal)) return interrupted;
  return failed(errorData("tool_timeout", `"${name}" gave no result within ${timeoutMs} ms.`));
}

async function isAsApproved(effect: ToolEffect, tool: Tool, { state }: ToolIo): Promise<boolean> {
  const call = { id: effect.callId, input: effect.input as { [key: string]: Json } };
  return (await digestOf(state.run?.id ?? "", tool, call)) === effect.digest;
}

function toolContext(effect: ToolEffect, io: ToolIo, signal: AbortSignal): ToolContext {
  const { callId } = effect;
  const runId = io.state.run?.id ?? "";
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

async function afterTool(call: HookedCall, outcome: Outcome, hooks: CallHooks): Promise<Outcome> {
  if (!hooks.onAfterTool) return outcome;
  try {
    return (await hooks.onAfterTool(call, outcome)) ?? outcome;
  } catch (thrown) {
    return failed(describeThrown(thrown, "tool_failed"));
  }
}
