import { isDeadline, rejectOnAbort } from "../clock.ts";
import type { ModelEffect } from "../effect.ts";
import { describeThrown, type ErrorData, toErrorData } from "../errors.ts";
import type { FactBody, StructuredOutput } from "../event.ts";
import { type AssistantEntry, getText } from "../history.ts";
import type { Json } from "../json.ts";
import type { Model } from "../model.ts";
import type { Schema } from "../schema/schema.ts";
import type { State } from "../state/state.ts";
import { buildRequest } from "./build-request.ts";
import { checkCalls } from "./check-calls.ts";
import { type CitationFilter, createCitationFilter } from "./citations/citation-filter.ts";
import { coerce } from "./coerce.ts";
import { getAgent, type Io } from "./io.ts";
import { parseLenient } from "./lenient-json.ts";
import {
  addChunk,
  buildParts,
  createMessageBuilder,
  type MessageBuilder,
  readModelStream,
  resolveUsage,
} from "./message-builder.ts";
import { toJson } from "./to-json.ts";

/** One conversation with a model: who is asked, for what, and what it has said so far. */
type ModelCallContext = {
  readonly effect: ModelEffect;
  readonly io: Io;
  readonly model: Model;
  readonly message: MessageBuilder;
  /** Of a run that cites. */
  readonly citing: CitationFilter | undefined;
  readonly startedAt: number;
};

/** Asks the model once: streams what it says, and gives its finished message or why there is none. */
export async function callModel(
  effect: ModelEffect,
  io: Io,
  signal: AbortSignal,
): Promise<readonly FactBody[]> {
  const agent = getAgent(effect.agent, io);
  const models = agent.models[effect.chain];
  const choice = models[effect.candidate] ?? models[0];
  const model = io.resolveModel(choice);
  const message = createMessageBuilder(createCallIds(effect.turn, io.state));
  // An answer with a form is data: a list of numbers in it is no citation.
  const citing = agent.output || !citesSources(io.state) ? undefined : createCitationFilter(io.state);
  const asking: ModelCallContext = { effect, io, model, message, citing, startedAt: io.clock.now() };
  try {
    // What ignores its signal is left behind: a model, instructions, a repair.
    return await rejectOnAbort(requestMessage(asking, signal), signal);
  } catch (thrown) {
    if (signal.aborted && !isDeadline(signal)) return buildPartialMessage(asking);
    return buildFailure(asking, describeThrown(signal.aborted ? signal.reason : thrown, "model_failed"));
  }
}

/** Whether `[n]` in an answer is a citation. */
function citesSources({ fragments, run }: State): boolean {
  const { citations = "auto" } = run?.policy ?? {};
  return citations === "on" || (citations === "auto" && fragments.size > 0);
}

/**
 * A provider's id is kept while it is new to the session; a call without one is named after its place. Nested runs go on
 * side by side, so the ids of each begin with the call that it answers.
 */
function createCallIds(turn: number, { callIds: used, run }: State): MessageBuilder["nameCall"] {
  const taken = new Set<string>();
  const inside = run?.parent ? `${run.parent.callId}.` : "";
  return (providerId, index) => {
    const wanted = inside + (providerId || `call_${turn}_${index}`);
    let id = wanted;
    for (let count = 2; used.has(id) || taken.has(id); count++) id = `${wanted}~${count}`;
    taken.add(id);
    return id;
  };
}

async function requestMessage(asking: ModelCallContext, signal: AbortSignal): Promise<readonly FactBody[]> {
  const { effect, io, model, message, citing } = asking;
  await readModelStream({ model, message, citing, emit: io.emit }, await buildRequest(effect, io), signal);
  const problem = findProblem(message);
  return problem ? buildFailure(asking, problem) : buildMessage(asking);
}

/** Why a stream that has ended is not a message, so that nothing half-said is ever used. */
function findProblem({ finish, calls, hasText }: MessageBuilder): ErrorData | undefined {
  if (finish === undefined)
    return toErrorData("stream_truncated", "The model's answer broke off before its end.");
  if (finish === "length" && calls.size > 0) {
    return toErrorData(
      "output_truncated",
      "The model reached its output limit in the middle of a tool call; the call was not made.",
    );
  }
  if (finish === "other" && calls.size > 0) {
    return toErrorData(
      "model_failed",
      "The model stopped for an unknown reason; its tool calls were not made.",
    );
  }
  if (!hasText && calls.size === 0 && finish !== "content_filter") {
    return toErrorData("empty_response", "The model gave neither text nor a tool call.");
  }
  return undefined;
}

function buildFailure(
  { effect, io, model, message }: ModelCallContext,
  error: ErrorData,
): readonly FactBody[] {
  if (message.open.length > 0) io.emit({ type: "message_restart", reason: error.code });
  return [
    {
      type: "model_failed",
      model: model.id,
      candidate: effect.candidate,
      attempts: 1,
      hadMoreRoom: effect.hasMoreRoom,
      error,
    },
  ];
}

async function buildMessage({
  effect,
  io,
  model,
  message,
  citing,
  startedAt,
}: ModelCallContext): Promise<readonly FactBody[]> {
  const { finish = "other" } = message;
  const agent = getAgent(effect.agent, io);
  // A filtered answer's calls are not to be trusted; its words are kept.
  const said = buildParts(message).filter((part) => finish !== "content_filter" || part.type !== "call");
  const { parts, checks, repairs } = await checkCalls(said, agent, io);
  const entry: AssistantEntry = { type: "assistant", parts };
  const output =
    agent.output && message.calls.size === 0 ? await readOutput(getText(entry), agent.output) : undefined;
  const { usage, warnings } = resolveUsage(message, io.state);
  const ms = io.clock.now() - startedAt;
  const about = { model: model.id, usage, ms, finish, ...(checks && { checks }), ...(output && { output }) };
  return [
    { type: "message", entry, ...about, ...citing?.found() },
    ...repairs,
    ...warnings,
    ...(citing?.warnings() ?? []),
  ];
}

/** What had been said when the run was cancelled: words only, for nothing else of it is whole. */
function buildPartialMessage({
  io,
  model,
  message,
  citing,
  startedAt,
}: ModelCallContext): readonly FactBody[] {
  if (citing) addChunk(message, { type: "text", text: citing.rest() });
  if (!message.hasText) return [];
  const parts = message.open.filter((part) => part.type === "text");
  const { usage, warnings } = resolveUsage(message, io.state);
  const ms = io.clock.now() - startedAt;
  const entry: AssistantEntry = { type: "assistant", parts };
  return [
    { type: "message", entry, model: model.id, usage, ms, finish: "aborted", ...citing?.found() },
    ...warnings,
    ...(citing?.warnings() ?? []),
  ];
}

/** Reads an answer that must have a form. What is certain is repaired; the rest is told, for the model to say it anew. */
export async function readOutput(text: string, schema: Schema): Promise<StructuredOutput> {
  const parsed = parseLenient(text);
  if (!parsed) return { issues: ["it is not JSON"] };
  const found = await schema.validate(parsed.value);
  if (found.valid) return { value: toJson(found.value) };
  const repaired: { value: Json } = coerce(parsed.value, schema.json);
  const again = await schema.validate(repaired.value);
  return again.valid ? { value: toJson(again.value) } : { issues: found.issues.slice(0, 10) };
}
