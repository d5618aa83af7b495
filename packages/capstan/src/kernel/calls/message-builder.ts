import type { Clock } from "../../base/clock.ts";
import type { Json } from "../../base/json.ts";
import type { CitationFilter } from "../../features/citations/citation-filter.ts";
import type { RequestReport } from "../../features/exact-requests/report-request.ts";
import type { HostedTracker } from "../../features/hosted/tracker.ts";
import type { DeltaBody } from "../event.ts";
import type { AssistantPart, CallPart, ReasoningPart, TextPart } from "../history.ts";
import {
  type Chunk,
  type Model,
  type ModelRequest,
  type StopReason,
  type TokenLogprob,
  toStopReason,
  type Usage,
} from "../model.ts";
import { parseArguments } from "./parse-arguments.ts";

const maxNameLength = 128;

type OpenCall = {
  readonly type: "call";
  readonly id: string;
  providerId: string | undefined;
  name: string;
  text: string;
  opaque: Json | undefined;
};
type Mutable<Part> = { -readonly [Field in keyof Part]: Part[Field] };
type WholePart = Extract<AssistantPart, { type: "opaque" | "media" }>;
type OpenPart = Mutable<TextPart> | Mutable<ReasoningPart> | OpenCall | WholePart;

/** A message under construction. The result does not depend on how the chunks are split or interleaved. */
export type MessageBuilder = {
  readonly open: OpenPart[];
  readonly calls: Map<number, OpenCall>;
  /** Assigns a call its id, unique in the session. */
  readonly nameCall: (providerId: string | undefined, index: number) => string;
  stopReason: StopReason | undefined;
  /** The provider's own word for `stopReason`. */
  stopDetail: string | undefined;
  usage: Usage | undefined;
  logprobs: TokenLogprob[] | undefined;
  /** Calls of hosted tools, and the sources that the text cites; set once there is one. */
  hosted: HostedTracker | undefined;
  /** Absent if nothing is done with them. */
  readonly createTracker: (() => HostedTracker) | undefined;
  /** Number of characters received so far. */
  size: number;
  /** Text or generated media. */
  hasText: boolean;
};

export function createMessageBuilder(
  nameCall: MessageBuilder["nameCall"],
  createTracker?: MessageBuilder["createTracker"],
): MessageBuilder {
  return {
    open: [],
    calls: new Map(),
    nameCall,
    stopReason: undefined,
    stopDetail: undefined,
    usage: undefined,
    logprobs: undefined,
    hosted: undefined,
    createTracker,
    size: 0,
    hasText: false,
  };
}

export function addChunk(message: MessageBuilder, chunk: Chunk): void {
  switch (chunk.type) {
    case "text":
      message.hasText ||= chunk.text.trim() !== "";
      appendText(message, chunk);
      return;
    case "reasoning":
      appendText(message, chunk);
      return;
    case "call_start":
      openCall(message, chunk);
      return;
    case "call_delta":
      message.size += chunk.text.length;
      (message.calls.get(chunk.index) ?? openCall(message, { index: chunk.index, name: "" })).text +=
        chunk.text;
      return;
    case "opaque":
    case "media":
      message.hasText ||= chunk.type === "media";
      message.open.push(chunk);
      return;
    case "restart":
      restartMessage(message);
      return;
    case "usage":
      message.usage = chunk.usage;
      return;
    case "logprobs":
      message.logprobs ??= [];
      for (const token of chunk.tokens) message.logprobs.push(token);
      return;
    case "hosted":
    case "citation":
      return; // `trackHosted` adds them, because a delta shows them at once
    case "finish":
      message.stopReason = toStopReason(chunk.reason);
      message.stopDetail = chunk.detail;
  }
}

function restartMessage(message: MessageBuilder): void {
  message.open.length = 0;
  message.calls.clear();
  message.size = 0;
  message.hasText = false;
  message.stopReason = undefined;
  message.stopDetail = undefined;
  message.usage = undefined;
  message.logprobs = undefined;
  message.hosted = undefined;
}

type CallHead = {
  readonly index: number;
  readonly id?: string;
  readonly name: string;
  readonly opaque?: Json;
};

function openCall(
  { open, calls, nameCall }: MessageBuilder,
  { index, id, name, opaque }: CallHead,
): OpenCall {
  const existing = calls.get(index);
  if (existing) {
    // Some servers repeat the head of a call with every chunk, or send the id late.
    existing.providerId ||= id;
    existing.name ||= name;
    existing.opaque = opaque ?? existing.opaque; // a later head repeats the data of the earlier one
    return existing;
  }
  const call: OpenCall = { type: "call", id: nameCall(id, index), providerId: id, name, text: "", opaque };
  calls.set(index, call);
  open.push(call);
  return call;
}

function appendText(message: MessageBuilder, chunk: Extract<Chunk, { type: "text" | "reasoning" }>): void {
  const { open } = message;
  const last = open.at(-1);
  const { opaque } = chunk;
  message.size += chunk.text.length;
  // Opaque data closes a block: later text starts a new one.
  if (last?.type === chunk.type && last.opaque === undefined) {
    last.text += chunk.text;
    if (opaque !== undefined) last.opaque = opaque;
  } else if (chunk.text || opaque !== undefined) {
    open.push({ type: chunk.type, text: chunk.text, ...(opaque !== undefined && { opaque }) });
  }
}

/** Returns the parts in the model's order. A call repeated with the same id, name and arguments is one call. */
export function buildParts({ open }: MessageBuilder): AssistantPart[] {
  const seenCalls = new Set<string>();
  const parts: AssistantPart[] = [];
  for (const part of open) {
    if (part.type !== "call") parts.push(part);
    else if (part.providerId === undefined) parts.push(buildCallPart(part));
    else {
      const key = JSON.stringify([part.providerId, part.name, part.text]);
      if (!seenCalls.has(key)) parts.push(buildCallPart(part));
      seenCalls.add(key);
    }
  }
  return parts;
}

function buildCallPart({ id, providerId, name, text, opaque }: OpenCall): CallPart {
  const parsed = parseArguments(text);
  return {
    type: "call",
    id,
    ...(providerId && providerId !== id && { providerId }),
    name: name.length > maxNameLength ? `${name.slice(0, maxNameLength - 1).toWellFormed()}…` : name,
    ...(parsed.ok ? { input: parsed.input } : { input: {}, raw: text }),
    ...(opaque !== undefined && { opaque }),
  };
}

/** Context for reading one model stream. */
export type StreamContext = {
  readonly model: Model;
  readonly message: MessageBuilder;
  /** Applied to every chunk before `citationFilter`. */
  readonly filter?: ((chunk: Chunk) => readonly Chunk[]) | undefined;
  readonly citationFilter?: CitationFilter | undefined;
  /** Emitted after a restart: deltas of the message that do not come from this stream. */
  readonly earlierDeltas?: readonly DeltaBody[];
  emit(delta: DeltaBody): void;
  readonly report?: RequestReport | undefined;
  readonly yieldIfBusy?: Clock["yieldIfBusy"] | undefined;
};

/** Sends the request and reads the answer to its end, emitting deltas. */
export async function readModelStream(
  context: StreamContext,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const { report } = context;
  const options = report ? { signal, onRequest: report.onRequest } : { signal };
  const reader = context.model.stream(request, options)[Symbol.asyncIterator]();
  const stopReading = () => {
    Promise.resolve(reader.return?.()).catch(() => undefined); // not awaited: a stream that hangs would block here
  };
  signal.addEventListener("abort", stopReading, { once: true });
  try {
    for (;;) {
      const read = await reader.next();
      const turn = context.yieldIfBusy?.();
      if (turn) await turn;
      signal.throwIfAborted();
      if (read.done) return;
      report?.onAnswer();
      handleChunks(read.value, context);
    }
  } finally {
    signal.removeEventListener("abort", stopReading);
  }
}

/** A delta that may still grow. */
type OpenDelta = Extract<DeltaBody, { delta: string }> & { delta: string };

/** Adds a batch of chunks to the message and emits them as deltas, merging neighbors of the same kind. */
function handleChunks(batch: readonly Chunk[], context: StreamContext): void {
  const { model, message, filter, citationFilter, emit } = context;
  let openDelta: OpenDelta | undefined;
  const filtered = filter ? batch.flatMap(filter) : batch;
  for (const chunk of citationFilter ? filtered.flatMap(citationFilter.filter) : filtered) {
    const { size } = message;
    addChunk(message, chunk);
    const hostedDelta = trackHosted(message, chunk);
    if (hostedDelta) {
      if (openDelta) emit(openDelta);
      openDelta = undefined;
      emit(hostedDelta);
    }
    if (openDelta && continuesDelta(openDelta, chunk, message)) {
      if (chunk.type !== "call_start") openDelta.delta += chunk.text;
      continue;
    }
    const delta = toDelta(chunk, message);
    if (delta || chunk.type === "restart") {
      if (openDelta) emit(openDelta);
      openDelta = delta;
    }
    if (chunk.type === "restart")
      emitRestart(context, { reason: chunk.reason, model: chunk.model ?? model.id, discarded: size });
  }
  if (openDelta) emit(openDelta);
  for (const citation of citationFilter?.takeCitations() ?? []) emit(citation);
}

/** Adds a hosted call or a citation, and returns the delta that shows it. */
function trackHosted(message: MessageBuilder, chunk: Chunk): DeltaBody | undefined {
  if (chunk.type !== "hosted" && chunk.type !== "citation") return undefined;
  message.hosted ??= message.createTracker?.();
  return chunk.type === "hosted"
    ? message.hosted?.addCall(chunk.call)
    : message.hosted?.addCitation(chunk.source);
}

/** Tells readers to discard the message, and what of it remains. */
export function emitRestart(
  { earlierDeltas = [], emit }: Pick<StreamContext, "earlierDeltas" | "emit">,
  restart: Omit<Extract<DeltaBody, { type: "message_restart" }>, "type">,
): void {
  emit({ type: "message_restart", ...restart });
  for (const delta of earlierDeltas) emit(delta);
}

function toDelta(chunk: Chunk, message: MessageBuilder): OpenDelta | undefined {
  if (chunk.type === "text" && chunk.text) return { type: "content_delta", delta: chunk.text };
  if (chunk.type === "reasoning" && chunk.text) return { type: "reasoning_delta", delta: chunk.text };
  if (chunk.type !== "call_start" && chunk.type !== "call_delta") return undefined;
  const call = message.calls.get(chunk.index);
  const delta = chunk.type === "call_delta" ? chunk.text : "";
  return call && { type: "tool_call_delta", id: call.id, name: call.name, delta };
}

/** Whether a piece belongs to a delta that may still grow. The head of a call may be repeated with every piece of it. */
function continuesDelta(
  delta: OpenDelta,
  chunk: Chunk,
  { calls }: MessageBuilder,
): chunk is Extract<Chunk, { type: "text" | "reasoning" | "call_start" | "call_delta" }> {
  if (chunk.type === "text") return delta.type === "content_delta";
  if (chunk.type === "reasoning") return delta.type === "reasoning_delta";
  if (chunk.type !== "call_delta" && chunk.type !== "call_start") return false;
  return delta.type === "tool_call_delta" && calls.get(chunk.index)?.id === delta.id;
}
