import { isDeadline, rejectOnAbort } from "../base/clock.ts";
import { AgentError, type ErrorData } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { type CitationFilter, createCitationFilter } from "../features/citations/citation-filter.ts";
import { createRequestReport } from "../features/exact-requests/report-request.ts";
import { warnWithdrawn } from "../features/hosted/offer.ts";
import { createHostedTracker } from "../features/hosted/tracker.ts";
import { hasMedia } from "../features/media/has-media.ts";
import { type Agent, getAgent } from "../kernel/agent.ts";
import { coerce } from "../kernel/calls/coerce.ts";
import {
  createOverlapFilter,
  joinCitations,
  joinParts,
  listPartialDeltas,
} from "../kernel/calls/continuation.ts";
import { parseLenient } from "../kernel/calls/lenient-json.ts";
import {
  addChunk,
  buildParts,
  createMessageBuilder,
  emitRestart,
  type MessageBuilder,
  readModelStream,
} from "../kernel/calls/message-builder.ts";
import { createThrownReport } from "../kernel/calls/report-thrown.ts";
import { findReportedUsage, resolveUsage } from "../kernel/calls/resolve-usage.ts";
import { toJson } from "../kernel/calls/to-json.ts";
import type { ModelEffect } from "../kernel/effect.ts";
import type { DeltaBody, FactBody, StructuredOutput } from "../kernel/event.ts";
import { type AssistantEntry, type Citation, getText, type TextPart } from "../kernel/history.ts";
import type { Io } from "../kernel/io.ts";
import {
  findAnswerProblem,
  type Model,
  type ModelRequest,
  type StopReason,
  type Usage,
} from "../kernel/model.ts";
import { findNewDescriptions, mergeLabels, type Source } from "../kernel/provenance.ts";
import type { ModelSettings } from "../kernel/settings/settings.ts";
import type { PartialMessage, State } from "../kernel/state.ts";
import type { Schema } from "../schema/schema.ts";
import { buildRequest } from "./build-request.ts";
import { checkCalls } from "./check-calls.ts";

/** One model call: the effect, the model, and the message built so far. */
type ModelCallContext = {
  readonly effect: ModelEffect;
  readonly io: Io;
  readonly model: Model;
  readonly message: MessageBuilder;
  /** Set when the run cites sources. */
  readonly citationFilter: CitationFilter | undefined;
  /** The message so far, which this call continues. */
  readonly partial: PartialMessage | undefined;
  readonly earlierDeltas: readonly DeltaBody[];
  readonly startedAt: number;
  /** Set once it is built. */
  request?: ModelRequest;
  /** Of the request. */
  settings?: ModelSettings;
};

/** Calls the model once and streams its deltas. Returns the finished message or the failure as facts. */
export async function callModel(
  effect: ModelEffect,
  io: Io,
  signal: AbortSignal,
): Promise<readonly FactBody[]> {
  const agent = getAgent(io.agents, effect.agent);
  const models = agent.models[effect.chain];
  const choice = models[effect.candidate] ?? models[0];
  const model = io.resolveModel(choice);
  const nameCall = createCallIds(effect.turn, io.state);
  const message = createMessageBuilder(nameCall, () => createHostedTracker({ agent, ...io, nameCall }));
  // Structured output is data: a list of numbers in it is not a citation.
  const citationFilter = agent.output || !citesSources(io.state) ? undefined : createCitationFilter(io.state);
  const partial = io.state.run?.currentTurn?.partial;
  const context: ModelCallContext = {
    ...{ effect, io, model, message, citationFilter, partial },
    earlierDeltas: partial ? listPartialDeltas(partial.entry) : [],
    startedAt: io.clock.monotonic(),
  };
  if (partial && !partial.isShown)
    emitRestart({ earlierDeltas: context.earlierDeltas, emit: io.emit }, { reason: "continued" });
  const facts = await requestFacts(context, signal);
  // Outside of the call, because a store that fails is not a model that fails.
  if (!message.open.some(({ type }) => type === "media")) return facts;
  return (await import("../features/media/store-media.ts")).storeMedia(facts, io.blobs);
}

async function requestFacts(context: ModelCallContext, signal: AbortSignal): Promise<readonly FactBody[]> {
  try {
    // Do not wait for a model, instructions or a schema that ignore the signal.
    return await rejectOnAbort(requestMessage(context, signal), signal);
  } catch (thrown) {
    if (signal.aborted && !isDeadline(signal)) return buildPartialMessage(context);
    const { effect, io, model } = context;
    const describe = createThrownReport(io, { type: "model", agent: effect.agent, name: model.id });
    return buildFailure(context, describe(signal.aborted ? signal.reason : thrown));
  }
}

/** Whether `[n]` in an answer is a citation. */
function citesSources({ fragments, run }: State): boolean {
  const { citations = "auto" } = run?.policy ?? {};
  return citations === "on" || (citations === "auto" && fragments.size > 0);
}

/** Longer ids (some providers put a signature into the id) do not fit into a database index. */
const maxCallIdLength = 200;

/**
 * Keeps the provider's id if it is new to the session. Calls without an id, or with an id that is too long, are numbered
 * by turn and index. Nested runs are concurrent, so their ids start with the id of the call they answer.
 */
function createCallIds(turn: number, { callIds: sessionIds, run }: State): MessageBuilder["nameCall"] {
  const messageIds = new Set<string>();
  const prefix = run?.parent ? `${run.parent.callId}.` : "";
  return (providerId, index) => {
    // A hosted call that an earlier part of this message started.
    if (providerId && run?.currentTurn?.hosted?.has(prefix + providerId)) return prefix + providerId;
    const isUsable = providerId && providerId.length <= maxCallIdLength;
    const baseId = prefix + (isUsable ? providerId : `call_${turn}_${index}`);
    let id = baseId;
    for (let count = 2; sessionIds.has(id) || messageIds.has(id); count++) id = `${baseId}~${count}`;
    messageIds.add(id);
    return id;
  };
}

async function requestMessage(context: ModelCallContext, signal: AbortSignal): Promise<readonly FactBody[]> {
  const { effect, io, model, message, citationFilter, partial, earlierDeltas } = context;
  const filter = partial && createOverlapFilter(partial);
  const request = await buildRequest(effect, io);
  context.request = request;
  if (request.settings) context.settings = request.settings;
  assertSupported(context, request);
  const { emit, clock } = io;
  await readModelStream(
    {
      ...{ model, message, filter, citationFilter, earlierDeltas, emit, yieldIfBusy: clock.yieldIfBusy },
      report: createRequestReport(io, { purpose: "answer", model: model.id, request }),
    },
    request,
    signal,
  );
  const { stopReason, stopDetail: detail, calls } = message;
  // A continuation may add nothing.
  const hasText = message.hasText || (partial !== undefined && getText(partial.entry).trim() !== "");
  const isStructured = getAgent(io.agents, effect.agent).output !== undefined;
  const problem = findAnswerProblem({ stopReason, detail, hasText, hasCalls: calls.size > 0, isStructured });
  return problem ? buildFailure(context, problem) : buildMessage(context);
}

/** A setting that changes the meaning of the request must not get lost. A choice of the runtime itself is a wish. */
function assertSupported({ model, effect }: ModelCallContext, request: ModelRequest): void {
  const { settings, toolChoice, hosted, tools } = request;
  const [problem] = (hosted && model.checkHosted?.({ hosted, hasFunctions: tools.length > 0 })) ?? [];
  if (problem) throw new AgentError("settings_failed", problem);
  const isForced =
    effect.tools !== "required" && (toolChoice === "required" || typeof toolChoice === "object");
  if (!settings && !isForced) return;
  const problems = model.checkSettings?.({ ...settings, ...(isForced && { toolChoice }) });
  const refused = problems?.find(({ isError }) => isError);
  if (refused) throw new AgentError("settings_failed", refused.message);
}

/** Warns once per run of settings that the model ignores. */
function listSettingWarnings({ io, model, settings }: ModelCallContext): readonly FactBody[] {
  if (!settings || io.state.run?.warned.has("setting_ignored")) return [];
  const [first, ...others] = model.checkSettings?.(settings) ?? [];
  if (!first) return [];
  const message = [first, ...others].map((problem) => problem.message).join(" ");
  return [{ type: "warning", code: "setting_ignored", message }];
}

/** No provider caches a shorter request. */
const minCachedTokens = 1024;

/** Warns of a lost cache, if the provider reports one at all. */
async function loadCacheWarnings(
  { effect, io, model, request }: ModelCallContext,
  usage: Usage,
): Promise<readonly FactBody[]> {
  const hasCache = usage.cachedTokens !== undefined || usage.cacheWriteTokens !== undefined;
  if (!request || !hasCache || usage.inputTokens < minCachedTokens) return [];
  const { listCacheWarnings } = await import("../features/exact-requests/cache-loss.ts");
  return listCacheWarnings({ effect, io, model: model.id, request, usage });
}

/** Warns once per run of media that the model cannot use. */
async function listMediaWarnings({ io, model, request }: ModelCallContext): Promise<readonly FactBody[]> {
  if (!request || !hasMedia(request.history) || io.state.run?.warned.has("media_ignored")) return [];
  const warning = (await import("../features/media/store-media.ts")).findIgnoredMedia(request.history, model);
  return warning ? [warning] : [];
}

function buildFailure(
  { effect, io, model, message, earlierDeltas }: ModelCallContext,
  error: ErrorData,
): readonly FactBody[] {
  const { size: discarded } = message;
  const usage = findReportedUsage(message);
  if (message.open.length > 0)
    emitRestart({ earlierDeltas, emit: io.emit }, { reason: error.code, model: model.id, discarded });
  return [
    {
      type: "model_failed",
      model: model.id,
      candidate: effect.candidate,
      attempts: 1,
      hadMoreRoom: effect.hasMoreRoom,
      error,
      ...(usage && { usage }),
      ...(discarded > 0 && { discarded }),
      ...pickUnusedAnswer(message),
    },
  ];
}

/** An answer that ended but cannot be used is kept for the end of the run, if every attempt fails. */
function pickUnusedAnswer(message: MessageBuilder): { stopReason?: StopReason; text?: string } {
  const { stopReason, hasText } = message;
  if (stopReason === undefined) return {};
  return { stopReason, ...(hasText && { text: getText({ type: "assistant", parts: buildParts(message) }) }) };
}

async function buildMessage(context: ModelCallContext): Promise<readonly FactBody[]> {
  const { effect, io, model, message, citationFilter, partial, startedAt, settings } = context;
  const { stopReason = "other" } = message;
  const agent = getAgent(io.agents, effect.agent);
  // Calls in a filtered or refused answer cannot be trusted; its text is kept.
  const isRefused = stopReason === "content_filter" || stopReason === "refusal";
  const builtParts = buildParts(message).filter((part) => !isRefused || part.type !== "call");
  const { parts, checks, repairs } = await checkCalls(builtParts, agent, withHostedLabels(context));
  const entry: AssistantEntry = { type: "assistant", parts: partial ? joinParts(partial, parts) : parts };
  const output =
    agent.output && message.calls.size === 0 ? await readOutput(getText(entry), agent.output) : undefined;
  const { usage, warnings } = resolveUsage(message, io.state, model.id);
  const ms = io.clock.monotonic() - startedAt;
  const details = {
    ...{ entry, model: model.id, usage, ms },
    ...buildCitationFields(context),
  };
  const { candidate, continueAfter } = effect;
  const isContinued =
    (stopReason === "length" || stopReason === "pause") && continueAfter.includes(stopReason);
  const notices = [
    ...listHostedFacts(context, !isContinued),
    ...repairs,
    ...warnings,
    ...listSettingWarnings(context),
    ...(await loadCacheWarnings(context, usage)),
    ...(await listMediaWarnings(context)),
    ...(agent.hosted ? warnWithdrawn(agent, io.state) : []),
    ...(citationFilter?.getWarnings() ?? []),
  ];
  if (isContinued) return [{ type: "message_partial", ...details, candidate, stopReason }, ...notices];
  return [
    {
      ...{ type: "message", ...details, stopReason, ...listNewSources(context, agent) },
      ...(checks && { checks }),
      ...(output && { output }),
      ...(settings && { settings }),
      ...(message.logprobs && { logprobs: message.logprobs }),
    },
    ...notices,
  ];
}

/** Everything that the model writes may repeat the third-party descriptions of its tools, and what hosted tools found. */
function listNewSources(
  { io, message }: ModelCallContext,
  { tools }: Agent,
): { readonly sources?: readonly Source[] } {
  const found = message.hosted?.getLabels().untrusted ?? [];
  const sources = [...findNewDescriptions(tools.values(), io.state.labels), ...found];
  return sources.length > 0 ? { sources } : {};
}

/** The calls of a message come after the results of the hosted tools in it. */
function withHostedLabels({ io, message }: ModelCallContext): Io {
  if (!message.hosted) return io;
  return { ...io, state: { ...io.state, labels: mergeLabels(io.state.labels, message.hosted.getLabels()) } };
}

function listHostedFacts({ io, message }: ModelCallContext, isFinal: boolean): readonly FactBody[] {
  const hasOpenCalls = isFinal && (io.state.run?.currentTurn?.hosted?.size ?? 0) > 0;
  const tracker = hasOpenCalls ? (message.hosted ?? message.createTracker?.()) : message.hosted;
  return tracker?.buildFacts(isFinal) ?? [];
}

/** Builds the message of a cancelled call: text only, because calls and reasoning may be incomplete. */
function buildPartialMessage(context: ModelCallContext): readonly FactBody[] {
  const { effect, io, model, message, citationFilter, partial, startedAt } = context;
  if (citationFilter) addChunk(message, { type: "text", text: citationFilter.flush() });
  if (!message.hasText && !partial) return [];
  const texts = message.open.filter(isText);
  const parts = partial ? joinParts(partial, texts).filter(isText) : texts;
  const { usage, warnings } = resolveUsage(message, io.state, model.id);
  const ms = io.clock.monotonic() - startedAt;
  const entry: AssistantEntry = { type: "assistant", parts };
  return [
    {
      type: "message",
      entry,
      model: model.id,
      usage,
      ms,
      stopReason: "aborted",
      ...listNewSources(context, getAgent(io.agents, effect.agent)),
      ...buildCitationFields(context),
    },
    ...listHostedFacts(context, true),
    ...warnings,
    ...(citationFilter?.getWarnings() ?? []),
  ];
}

/** Includes the sources of hosted tools, and the citations of the message that this call continues. */
function buildCitationFields({ citationFilter, partial, message, io }: ModelCallContext): {
  readonly citations?: readonly Citation[];
} {
  const fields = citationFilter?.getCitationFields() ?? {};
  const isOff = io.state.run?.policy.citations === "off";
  const found = isOff ? [] : (message.hosted?.getCitations() ?? []);
  const citations = found.length > 0 ? [...(fields.citations ?? []), ...found] : fields.citations;
  if (partial) return joinCitations(partial, citations);
  return citations ? { citations } : {};
}

const isText = (part: { readonly type: string }): part is TextPart => part.type === "text";

/** Parses a structured answer. Unambiguous mistakes are repaired; otherwise returns the issues for the model to correct. */
export async function readOutput(text: string, schema: Schema): Promise<StructuredOutput> {
  const parsed = parseLenient(text);
  if (!parsed) return { issues: ["it is not JSON"] };
  const result = await schema.validate(parsed.value);
  if (result.valid) return { value: toJson(result.value) };
  const repaired: { value: Json } = coerce(parsed.value, schema.json);
  const repairedResult = await schema.validate(repaired.value);
  return repairedResult.valid
    ? { value: toJson(repairedResult.value) }
    : { issues: result.issues.slice(0, 10) };
}
