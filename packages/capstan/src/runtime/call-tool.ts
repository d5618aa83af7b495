import { isDeadline, rejectOnAbort } from "../base/clock.ts";
import { describeThrown, toErrorData } from "../base/errors.ts";
import { matchesDigest } from "../features/approvals/digest.ts";
import { asQuestion, buildQuestionFact } from "../features/approvals/question.ts";
import { findTool } from "../features/calls/find-tool.ts";
import { warnLostContexts } from "../features/citations/warn-contexts.ts";
import { isBackgroundWork } from "../features/nested/background-work.ts";
import {
  type AgentRequest,
  asAgentRequest,
  callAgent,
  listNestedReads,
} from "../features/nested/call-agent.ts";
import { manageBackground } from "../features/nested/manage-background.ts";
import { listDiscovered } from "../features/tool-search/discovered-tools.ts";
import { readFoundNames, splitTools } from "../features/tool-search/search-tools.ts";
import { getAgent } from "../kernel/agent.ts";
import { createFailedOutcome, filterForModel, interrupted, toOutcome } from "../kernel/calls/outcome.ts";
import { outputLimits, readToolOutput } from "../kernel/calls/read-tool-output.ts";
import { createThrownReport, type DescribeThrown } from "../kernel/calls/report-thrown.ts";
import { isShortText, type TruncatedOutcome, truncateOutcome } from "../kernel/calls/truncate-outcome.ts";
import type { ToolEffect } from "../kernel/effect.ts";
import type { FactBody } from "../kernel/event.ts";
import type { Fragment } from "../kernel/history.ts";
import { getInput, type HookCall, type Io } from "../kernel/io.ts";
import type { ToolSpec } from "../kernel/model.ts";
import { defaultPolicy } from "../kernel/policy.ts";
import { getLabels } from "../kernel/provenance.ts";
import { getRunId, type State } from "../kernel/state.ts";
import { type Outcome, type Reads, searchToolsName, type Tool } from "../kernel/tool.ts";
import { createUnknownToolError, isPromiseLike, validateInput } from "./check-calls.ts";
import { createToolContext } from "./tool-context.ts";

const maxBlockMs = 1000;
const maxHookMs = 1000;

/** One tool call in progress. `facts` collects the facts to report besides its result. */
type ToolCallContext = {
  readonly effect: ToolEffect;
  readonly io: Io;
  readonly signal: AbortSignal;
  readonly facts: FactBody[];
  /** Labels of its result besides the tool's own: from stored results that it has read, and from its return value. */
  readonly addedReads: Set<Reads>;
  readonly describe: DescribeThrown;
};

/** Runs one tool call. Returns no result yet if the tool asks the user, or has no `execute` because the client runs it. */
export async function callTool(
  effect: ToolEffect,
  io: Io,
  signal: AbortSignal,
): Promise<readonly FactBody[]> {
  const startedAt = io.clock.monotonic();
  const facts: FactBody[] = [];
  const { agent, name, callId } = effect;
  const describe = createThrownReport(io, { type: "tool", agent, name, callId });
  const context = { effect, io, signal, facts, addedReads: new Set<Reads>(), describe };
  const outcome = await executeCall(context);
  if (!outcome) return facts;
  const changed = io.hooks.onAfterTool ? await runAfterToolHook(outcome, context) : outcome;
  const { status, content, reads: ownReads, ...rest } = await formatForModel(changed, context);
  const ms = io.clock.monotonic() - startedAt;
  const is_error = status !== "ok";
  const reads = pickReads(context, ownReads);
  facts.push(...warnChangedFragments(rest.contexts ?? [], io.state));
  return [
    {
      type: "tool_call_result",
      id: callId,
      name,
      result: content,
      is_error,
      status,
      attempts: 1,
      ms,
      ...rest,
      ...reads,
      ...findDiscovered(changed, context),
    },
    ...facts,
  ];
}

/** Returns the deferred tools that later requests include: the results of a search, and the tool that was called. */
function findDiscovered(
  { data, status }: Outcome,
  { effect, io }: ToolCallContext,
): { discovered?: readonly ToolSpec[] } {
  const agent = getAgent(io.agents, effect.agent);
  const { deferred } = splitTools(agent, io.state.run?.policy);
  if (deferred.size === 0 || effect.isFallback) return {};
  const found = effect.name === searchToolsName && status === "ok" ? readFoundNames(data) : [effect.name];
  const known = listDiscovered(io.state, agent.name, deferred);
  const discovered = found
    .flatMap((name) => deferred.get(name) ?? [])
    .filter((spec) => !known.includes(spec));
  return discovered.length > 0 ? { discovered } : {};
}

/** Applies the tool's view for the model and the size limit. */
async function formatForModel(
  outcome: Outcome,
  { effect, io }: ToolCallContext,
): Promise<TruncatedOutcome & { readonly cacheUntil?: number }> {
  const tool = findCalledTool(effect, io);
  const policy = io.state.run?.policy ?? defaultPolicy;
  const { resultForModel = "full" } = tool ?? {};
  const view = filterForModel(outcome, { includeData: policy.includeToolData, resultForModel });
  const maxSize = tool?.maxResultSize ?? policy.maxToolResultSize;
  const truncated = isShortText(view, maxSize) ? view : await truncateOutcome(view, maxSize, io.blobs);
  const isCacheable = tool?.cacheMs !== undefined && outcome.status === "ok";
  return { ...truncated, ...(isCacheable && { cacheUntil: io.clock.now() + (tool.cacheMs ?? 0) }) };
}

/** Returns the labels of a result. A tool's error is as untrusted as its result; a refused call has read nothing. */
function pickReads(
  { effect, io, addedReads }: ToolCallContext,
  ownReads: readonly Reads[] = [],
): { reads?: readonly Reads[] } {
  const tool = effect.refused ? undefined : findCalledTool(effect, io);
  const reads = new Set(tool && getLabels(tool));
  for (const label of ownReads) reads.add(label);
  for (const label of addedReads) reads.add(label);
  if (io.state.run?.nested.size) for (const label of listNestedReads(effect, io)) reads.add(label);
  reads.delete("public");
  return reads.size > 0 ? { reads: [...reads] } : {};
}

function findCalledTool(effect: ToolEffect, io: Io): Tool | undefined {
  const agent = getAgent(io.agents, effect.agent);
  return effect.isFallback ? agent.fallbackTool : findTool(agent, effect.name);
}

async function executeCall(context: ToolCallContext): Promise<Outcome | undefined> {
  const { effect, io, signal, describe } = context;
  if (effect.refused) return createFailedOutcome(effect.refused);
  const tool = findCalledTool(effect, io);
  if (!tool)
    return createFailedOutcome(createUnknownToolError(effect.name, getAgent(io.agents, effect.agent), io));
  const valid = await validateInput(tool, effect.input, describe);
  if ("error" in valid) return createFailedOutcome(valid.error);
  const isBound = effect.digest !== undefined || effect.asked !== undefined;
  if (isBound && !(await matchesApproval(tool, context))) {
    const message = `"${tool.name}" or its arguments are not what was approved. The call was not made; call it again to ask for a new approval.`;
    return createFailedOutcome(toErrorData("approval_mismatch", message));
  }
  if (!tool.execute) return undefined;
  const refusal = io.hooks.onBeforeTool && (await runBeforeToolHook(tool, context));
  if (refusal) return refusal;
  let request: AgentRequest | undefined;
  try {
    signal.throwIfAborted(); // a run that was cancelled meanwhile starts no tool
    let returned = startExecution(tool, valid.value, context);
    if (isPromiseLike(returned)) returned = await rejectOnAbort(returned, signal);
    else signal.throwIfAborted();
    // Most tools return text: nothing to read, no question, no agent.
    if (typeof returned !== "object") {
      const outcome = toOutcome(returned);
      return tool.outputSchema ? await checkOutcome(outcome, tool, context) : outcome;
    }
    request = asAgentRequest(returned);
    if (!request) return await readReturnedValue(returned, tool, context);
  } catch (thrown) {
    return signal.aborted ? buildAborted(tool, context) : createFailedOutcome(describe(thrown));
  }
  return callAgent(request, context);
}

function buildAborted({ name }: Tool, { effect, signal }: ToolCallContext): Outcome {
  if (!isDeadline(signal)) return interrupted;
  const message = `"${name}" gave no result within ${effect.timeoutMs} ms.`;
  return createFailedOutcome(toErrorData("tool_timeout", message));
}

async function readReturnedValue(
  returned: unknown,
  tool: Tool,
  context: ToolCallContext,
): Promise<Outcome | undefined> {
  const question = asQuestion(returned);
  if (!question) {
    const { signal, describe } = context;
    const output = await readToolOutput(returned, { ...outputLimits, signal, describe });
    context.facts.push(...warnLostContexts(output, tool.name));
    return checkOutcome(toOutcome(output), tool, context);
  }
  context.facts.unshift(await buildQuestionFact(question, tool, context));
  return undefined;
}

/** Turns a result that does not match the tool's output schema into a failure. */
async function checkOutcome(outcome: Outcome, tool: Tool, { addedReads }: ToolCallContext): Promise<Outcome> {
  for (const label of outcome.reads ?? []) addedReads.add(label);
  if (!tool.outputSchema || outcome.status !== "ok") return outcome;
  const result = await tool.outputSchema.validate(outcome.data ?? outcome.content);
  if (result.valid) return outcome;
  const issues = result.issues.slice(0, 10).join("; ");
  return createFailedOutcome(
    toErrorData(
      "result_invalid",
      `"${tool.name}" returned a result that does not match its output schema: ${issues}.`,
    ),
  );
}

/** Starts the tool. Warns if it blocked the event loop, which delays every run of the process and cannot be aborted. */
function startExecution(
  tool: Tool,
  input: unknown,
  { effect, io, signal, facts, addedReads }: ToolCallContext,
): unknown {
  const startedAt = io.clock.monotonic();
  const context = createToolContext(effect, io, { signal, addedReads });
  if (isBackgroundWork(tool)) return manageBackground(input, { io, signal, facts, addedReads });
  const work =
    tool.isolate && io.executeIsolated
      ? io.executeIsolated(tool, input, context)
      : tool.execute?.(input, context);
  const ms = io.clock.monotonic() - startedAt;
  if (ms >= maxBlockMs) {
    const message = `The tool "${tool.name}" blocked the process for ${ms} ms.`;
    facts.push({ type: "warning", code: "event_loop_blocked", message });
  }
  return work;
}

async function matchesApproval(tool: Tool, { effect, io }: ToolCallContext): Promise<boolean> {
  const call = { id: effect.callId, input: getInput(effect) };
  const runId = getRunId(io.state);
  if (effect.digest !== undefined && !(await matchesDigest(effect.digest, runId, { tool, call })))
    return false;
  for (const [index, { question, digest }] of effect.asked?.entries() ?? []) {
    const asked = [index + 1, question] as const;
    if (!(await matchesDigest(digest, runId, { tool, call: { ...call, asked } }))) return false;
  }
  return true;
}

function toHookCall({ callId, name, input }: ToolEffect, { context }: Io): HookCall {
  return { id: callId, name, input, context };
}

/** A throw is the hook's way to refuse the call, so it is not reported as an error. */
async function runBeforeToolHook(tool: Tool, context: ToolCallContext): Promise<Outcome | undefined> {
  const { effect, io, signal } = context;
  try {
    await rejectOnAbort(Promise.resolve(io.hooks.onBeforeTool?.(toHookCall(effect, io))), signal);
    return undefined;
  } catch (thrown) {
    if (signal.aborted) return buildAborted(tool, context);
    return createFailedOutcome(describeThrown(thrown, "tool_failed"));
  }
}

/** The hook also runs after a timeout, when the signal is already aborted; it then has `maxHookMs`. */
async function runAfterToolHook(
  outcome: Outcome,
  { effect, io, signal, describe }: ToolCallContext,
): Promise<Outcome> {
  try {
    const changed = Promise.resolve(io.hooks.onAfterTool?.(toHookCall(effect, io), outcome));
    const hasTimedOut = signal.aborted && isDeadline(signal);
    const hookResult = hasTimedOut
      ? Promise.race([changed, waitMs(io, maxHookMs)])
      : rejectOnAbort(changed, signal);
    return (await hookResult) ?? outcome;
  } catch (thrown) {
    return signal.aborted ? outcome : createFailedOutcome(describe(thrown));
  }
}

function waitMs({ clock }: Io, ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    clock.after(ms, () => resolve(undefined));
  });
}

/** Warns about fragments returned again with different content. Their number keeps referring to the first content. */
export function warnChangedFragments(
  newFragments: readonly Fragment[],
  { fragments, run }: Pick<State, "fragments" | "run">,
): readonly FactBody[] {
  if (newFragments.length === 0) return [];
  const firstContents = new Map<string, string>();
  const changed = new Set<string>();
  const turnFragments = [...(run?.currentTurn?.calls.values() ?? [])].flatMap(
    ({ result }) => result?.contexts ?? [],
  );
  for (const { id, content } of [...turnFragments, ...newFragments]) {
    const first = fragments.get(id)?.content ?? firstContents.get(id) ?? content;
    firstContents.set(id, first);
    if (first !== content) changed.add(id);
  }
  const ids = newFragments
    .map(({ id }) => id)
    .filter((id, index, all) => changed.has(id) && all.indexOf(id) === index);
  if (ids.length === 0) return [];
  const names = ids.slice(0, 10).map((id) => JSON.stringify(id));
  const message = `A tool returned ${names.join(", ")} again with different content. The first content is kept; give changed passages a new id.`;
  return [{ type: "warning", code: "fragment_changed", message }];
}
