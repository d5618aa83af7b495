import { toolOf } from "../builtin-tools.ts";
import type { ToolEffect } from "../effect.ts";
import { describeThrown, errorData } from "../errors.ts";
import type { FactBody } from "../event.ts";
import { labelsOf } from "../labels.ts";
import { defaultPolicy } from "../policy.ts";
import type { Outcome, Reads, Tool, ToolContext } from "../tool.ts";
import { type AgentRequest, agentRequestOf, callAgent, readsInside } from "./call-agent.ts";
import { changedFragments } from "./changed-fragments.ts";
import { unknownTool, validateInput } from "./check-calls.ts";
import { digestOf } from "./digest.ts";
import { gather } from "./gather.ts";
import { agentOf, type HookedCall, type Io, inputOf, runIdOf } from "./io.ts";
import { failed, interrupted, modelView, outcomeOf } from "./outcome.ts";
import { answersTo, asking, questionOf } from "./question.ts";
import { isDeadline, untilAborted } from "./until-aborted.ts";
import { type Fitted, withinSize } from "./within-size.ts";

const longestBlockMs = 1000;
const longestHookMs = 1000;
/** Of what a tool streams: more is not read. */
const mostCharacters = 10_000_000;
const mostBytes = 50_000_000;

/** One call under way. `facts` is what there is to say about it beside its result. */
type Calling = {
  readonly effect: ToolEffect;
  readonly io: Io;
  readonly signal: AbortSignal;
  readonly facts: FactBody[];
};

/** Runs one tool call. One that asks a person has no result yet, nor one without `execute`, which the client runs. */
export async function callTool(
  effect: ToolEffect,
  io: Io,
  signal: AbortSignal,
): Promise<readonly FactBody[]> {
  const startedAt = io.clock.now();
  const facts: FactBody[] = [];
  const calling = { effect, io, signal, facts };
  const outcome = await outcomeOfCall(calling);
  if (!outcome) return facts;
  const { status, content, ...rest } = await presented(await afterTool(outcome, calling), calling);
  const { callId: id, name } = effect;
  const ms = io.clock.now() - startedAt;
  const is_error = status !== "ok";
  const reads = readsOf(calling);
  facts.push(...changedFragments(rest.contexts ?? [], io.state));
  return [
    {
      type: "tool_call_result",
      id,
      name,
      result: content,
      is_error,
      status,
      attempts: 1,
      ms,
      ...rest,
      ...reads,
    },
    ...facts,
  ];
}

/** The outcome as the model gets to read it, within its size. */
async function presented(
  outcome: Outcome,
  { effect, io }: Calling,
): Promise<Fitted & { readonly cacheUntil?: number }> {
  const tool = toolFor(effect, io);
  const policy = io.state.run?.policy ?? defaultPolicy;
  const { resultForModel = "full" } = tool ?? {};
  const view = modelView(outcome, { includeData: policy.includeToolData, resultForModel });
  const fitted = await withinSize(view, tool?.maxResultSize ?? policy.maxToolResultSize, io.blobs);
  const isCacheable = tool?.cacheMs !== undefined && outcome.status === "ok";
  return { ...fitted, ...(isCacheable && { cacheUntil: io.clock.now() + (tool.cacheMs ?? 0) }) };
}

/** An error of a tool is as much a stranger's word as its result. What did not run has read nothing. */
function readsOf({ effect, io }: Calling): { reads?: readonly Reads[] } {
  const tool = effect.refused ? undefined : toolFor(effect, io);
  const reads = [...new Set([...(tool ? labelsOf(tool) : []), ...readsInside(effect, io)])];
  return reads.length > 0 ? { reads } : {};
}

function toolFor(effect: ToolEffect, io: Io): Tool | undefined {
  const agent = agentOf(effect.agent, io);
  return effect.isFallback ? agent.fallbackTool : toolOf(agent, effect.name);
}

async function outcomeOfCall(calling: Calling): Promise<Outcome | undefined> {
  const { effect, io, signal } = calling;
  if (effect.refused) return failed(effect.refused);
  const tool = toolFor(effect, io);
  if (!tool) return failed(unknownTool(effect.name, agentOf(effect.agent, io)));
  const valid = await validateInput(tool, effect.input);
  if ("error" in valid) return failed(valid.error);
  if (!(await isAsApproved(tool, calling))) {
    const message = `"${tool.name}" or its arguments are not what was approved. The call was not made.`;
    return failed(errorData("approval_mismatch", message));
  }
  if (!tool.execute) return undefined;
  let request: AgentRequest | undefined;
  try {
    await untilAborted(Promise.resolve(io.hooks.onBeforeTool?.(hookedCall(effect, io))), signal);
    const returned = await untilAborted(begin(tool, valid.value, calling), signal);
    request = agentRequestOf(returned);
    if (!request) return await outcomeReturned(returned, tool, calling);
  } catch (thrown) {
    if (!signal.aborted) return failed(describeThrown(thrown, "tool_failed"));
    if (!isDeadline(signal)) return interrupted;
    return failed(errorData("tool_timeout", `"${tool.name}" gave no result within ${effect.timeoutMs} ms.`));
  }
  return callAgent(request, calling);
}

async function outcomeReturned(
  returned: unknown,
  tool: Tool,
  calling: Calling,
): Promise<Outcome | undefined> {
  const question = questionOf(returned);
  if (!question) {
    const gathered = await gather(returned, { signal: calling.signal, mostCharacters, mostBytes });
    return checkedOutcome(outcomeOf(gathered), tool);
  }
  calling.facts.unshift(await asking(question, tool, calling));
  return undefined;
}

/** A result that is not what its tool promises is no result. */
async function checkedOutcome(outcome: Outcome, tool: Tool): Promise<Outcome> {
  if (!tool.outputSchema || outcome.status !== "ok") return outcome;
  const result = await tool.outputSchema.validate(outcome.data ?? outcome.content);
  if (result.valid) return outcome;
  const issues = result.issues.slice(0, 10).join("; ");
  return failed(
    errorData("result_invalid", `"${tool.name}" gave a result that is not what it promises: ${issues}.`),
  );
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
  if (effect.digest === undefined && !effect.asked) return true;
  const call = { id: effect.callId, input: inputOf(effect) };
  const runId = runIdOf(io);
  if (effect.digest !== undefined && (await digestOf(runId, tool, call)) !== effect.digest) return false;
  for (const [index, { question, digest }] of effect.asked?.entries() ?? [])
    if ((await digestOf(runId, tool, { ...call, asked: [index + 1, question] })) !== digest) return false;
  return true;
}

function toolContext(effect: ToolEffect, io: Io, signal: AbortSignal): ToolContext {
  const { callId, asked } = effect;
  const runId = runIdOf(io);
  return {
    signal,
    runId,
    sessionId: io.state.sessionId,
    callId,
    idempotencyKey: `${runId}/${callId}`,
    context: io.context,
    answers: answersTo(asked),
    progress(data) {
      // What is left behind after a time-out or a cancellation has nothing more to say.
      if (!signal.aborted) io.emit({ type: "tool_progress", id: callId, data });
    },
    readBlob: io.blobs.get,
  };
}

function hookedCall({ callId, name, input }: ToolEffect, { context }: Io): HookedCall {
  return { id: callId, name, input, context };
}

/** The hook also hears of a call whose time was up; it then gets a moment of its own. */
async function afterTool(outcome: Outcome, { effect, io, signal }: Calling): Promise<Outcome> {
  if (!io.hooks.onAfterTool) return outcome;
  try {
    const changed = Promise.resolve(io.hooks.onAfterTool(hookedCall(effect, io), outcome));
    const late = signal.aborted && isDeadline(signal);
    const patience = late ? Promise.race([changed, pause(io, longestHookMs)]) : untilAborted(changed, signal);
    return (await patience) ?? outcome;
  } catch (thrown) {
    return signal.aborted ? outcome : failed(describeThrown(thrown, "tool_failed"));
  }
}

function pause({ clock }: Io, ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    clock.after(ms, () => resolve(undefined));
  });
}
