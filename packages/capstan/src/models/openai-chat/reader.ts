import { AgentError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { Chunk, StopReason } from "../../kernel/model.ts";
import { createEventShapes } from "../event-shapes.ts";
import { readLogprobs } from "../logprobs.ts";
import { createStreamIdentity, type StreamIdentity } from "../stream-identity.ts";
import { createFinish, tagData, toList, type WireEvent, type WireReader } from "../wire.ts";
import { addCallPieces, type ChatCalls, createChatCalls, isCompleteJson } from "./calls.ts";
import { toChatError } from "./failure.ts";
import { toChatCitations } from "./hosted.ts";
import { closeAudio, readImages } from "./media.ts";
import type { ChatQuirks } from "./quirks.ts";
import {
  addDetails,
  createOpenReasoning,
  findReasoning,
  type OpenReasoning,
  toReasoningData,
} from "./reasoning.ts";
import { findChatUsage } from "./usage.ts";

type Fields = Record<string, unknown>;

type ChatReaderState = {
  readonly name: string;
  readonly quirks: ChatQuirks;
  readonly calls: ChatCalls;
  readonly identity: StreamIdentity;
  reasoning: OpenReasoning | undefined;
  /** Pieces of generated audio. */
  readonly audio: string[];
  readonly isStreamed: boolean;
  /** Last non-empty finish reason. */
  reason: string | undefined;
  isRefused: boolean;
  hasText: boolean;
  emittedFinish: StopReason | undefined;
  isEnded: boolean;
};

/** Keys are lower case, because some servers send upper case. Unknown reasons (vLLM's `abort`) map to `other`. */
const stopReasons: Readonly<Record<string, StopReason>> = {
  ...{ stop: "end", eos: "end", eos_token: "end", stop_sequence: "end", end_turn: "end" },
  ...{
    tool_calls: "tool_calls",
    tool_call: "tool_calls",
    tool_use: "tool_calls",
    function_call: "tool_calls",
  },
  ...{ length: "length", max_tokens: "length", model_length: "length" },
  ...{ content_filter: "content_filter", safety: "content_filter", sensitive: "content_filter" },
  refusal: "refusal",
};

/** Finish reasons that report a failure. */
const failureReasons = ["error", "network_error", "insufficient_system_resource"];

/** Fields that differ between the events of a stream. */
const shapes = createEventShapes([
  "id",
  "created",
  "choices.*.index",
  "choices.*.delta.content",
  "choices.*.delta.reasoning_content",
  "choices.*.delta.reasoning",
  "choices.*.delta.tool_calls.*.index",
  "choices.*.delta.tool_calls.*.function.arguments",
  "obfuscation",
]);

export function createChatReader(name: string, quirks: ChatQuirks): WireReader {
  const state = createChatState(name, quirks, true);
  return {
    read: (event) => readChatEvent(state, event),
    repeated: {
      shapes,
      read(value, _event, chunks) {
        if (!state.isEnded) readChunk(state, value, chunks);
      },
    },
  };
}

/** Converts a non-streamed response. */
export function parseChatAnswer(body: unknown, name: string, quirks: ChatQuirks): Chunk[] {
  if (!isRecord(body)) throw new AgentError("bad_chunk", "The model's response is not a JSON object.");
  const state = createChatState(name, quirks, false);
  const [first] = Array.isArray(body.choices) ? body.choices : [];
  const choice = isRecord(first) ? first : {};
  const message = isRecord(choice.message) ? choice.message : {};
  const given = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  // Each entry is a complete call, whatever its id.
  const tool_calls = given.filter(isRecord).map((call, index) => ({ ...call, index }));
  const whole = { ...choice, index: 0, delta: { ...message, tool_calls } };
  const chunks = readChunk(state, { ...body, choices: isRecord(first) ? [whole] : [] }, []);
  return [...chunks, ...finishAnswer(state)];
}

function createChatState(name: string, quirks: ChatQuirks, isStreamed: boolean): ChatReaderState {
  return {
    name,
    quirks,
    calls: createChatCalls(),
    identity: createStreamIdentity({ isStrict: quirks.stableIds ?? false }),
    reasoning: undefined,
    audio: [],
    isStreamed,
    reason: undefined,
    isRefused: false,
    hasText: false,
    emittedFinish: undefined,
    isEnded: false,
  };
}

function readChatEvent(state: ChatReaderState, { event, data }: WireEvent): Chunk[] {
  const text = data.trim();
  if (text === "" || state.isEnded) return [];
  if (text === "[DONE]") return finishAnswer(state);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    if (event === "error") throw toChatError(text);
    throw new AgentError("bad_chunk", "A stream event is not JSON.", { cause });
  }
  if (event === "error") throw toChatError(isRecord(parsed) ? (parsed.error ?? parsed) : parsed);
  if (!isRecord(parsed)) throw new AgentError("bad_chunk", "A stream event is not an object.");
  return readChunk(state, parsed, []);
}

function readChunk(state: ChatReaderState, chunk: Fields, chunks: Chunk[]): Chunk[] {
  const { choices } = chunk;
  if (chunk.error !== undefined && chunk.error !== null) throw toChatError(chunk.error);
  if (chunk.object === "error" || chunk.type === "error") throw toChatError(chunk);
  const { length: countBefore } = chunks;
  let first: Fields | undefined;
  for (const choice of Array.isArray(choices) ? choices : []) {
    // Other choices are alternative answers.
    if (!isRecord(choice) || (typeof choice.index === "number" && choice.index !== 0)) continue;
    first = choice;
    if (isRecord(choice.delta)) readDelta(state, choice.delta, chunks);
    if (isRecord(choice.logprobs))
      chunks.push(...readLogprobs(choice.logprobs.content), ...readLogprobs(choice.logprobs.refusal));
    readFinishReason(state, choice.finish_reason);
  }
  state.identity.check(chunk.id, chunks.length > countBefore || hasFinishReason(first));
  const usage = findChatUsage(chunk, first);
  if (usage) chunks.push({ type: "usage", usage });
  if (state.reason !== undefined && !state.quirks.needsDone) emitFinish(state, chunks);
  return chunks;
}

function hasFinishReason(choice: Fields | undefined): boolean {
  return typeof choice?.finish_reason === "string" && choice.finish_reason !== "";
}

function readDelta(state: ChatReaderState, delta: Fields, chunks: Chunk[]): void {
  const { content, refusal, tool_calls: pieces, function_call: only } = delta;
  readReasoning(state, delta, chunks);
  if (typeof content === "string") emitText(state, content, chunks);
  else if (Array.isArray(content)) readContent(state, content, chunks);
  if (typeof refusal === "string" && refusal !== "") {
    state.isRefused = true;
    emitText(state, refusal, chunks);
  }
  if (delta.annotations) chunks.push(...toChatCitations(delta.annotations));
  if (isRecord(delta.audio)) readAudio(state, delta.audio, chunks);
  if (delta.images !== undefined) emitMedia(state, readImages(delta.images), chunks);
  if (Array.isArray(pieces) && pieces.length > 0) addCalls(state, pieces, chunks);
  // The legacy form of `tool_calls`.
  if (isRecord(only)) addCalls(state, [{ index: 0, function: only }], chunks);
}

function readAudio(state: ChatReaderState, { data, transcript }: Fields, chunks: Chunk[]): void {
  if (typeof transcript === "string") emitText(state, transcript, chunks);
  if (typeof data === "string" && data !== "") state.audio.push(data);
}

function emitMedia(state: ChatReaderState, media: readonly Chunk[], chunks: Chunk[]): void {
  if (media.length === 0) return;
  closeReasoning(state, chunks);
  state.hasText = true;
  chunks.push(...media);
}

function readReasoning(state: ChatReaderState, delta: Fields, chunks: Chunk[]): void {
  const reasoning = findReasoning(delta);
  const details = toList(delta.reasoning_details);
  const blocks = toList(delta.thinking_blocks);
  if (reasoning) emitReasoning(state, reasoning, chunks);
  if (details.length === 0 && blocks.length === 0) return;
  state.reasoning ??= createOpenReasoning();
  addDetails(state.reasoning.details, details);
  addDetails(state.reasoning.blocks, blocks);
}

function emitReasoning(
  state: ChatReaderState,
  { field, text }: { field: string; text: string },
  chunks: Chunk[],
): void {
  state.reasoning ??= createOpenReasoning();
  state.reasoning.field ??= field || undefined;
  chunks.push({ type: "reasoning", text });
}

/** Mistral's format: a list of texts and thoughts. */
function readContent(state: ChatReaderState, content: readonly unknown[], chunks: Chunk[]): void {
  for (const part of content) {
    if (typeof part === "string") emitText(state, part, chunks);
    if (!isRecord(part)) continue;
    if (part.type === "text" && typeof part.text === "string") emitText(state, part.text, chunks);
    const text = part.type === "thinking" ? findReasoning({ reasoning: part.thinking })?.text : undefined;
    if (text) emitReasoning(state, { field: "thinking", text }, chunks);
  }
}

function emitText(state: ChatReaderState, text: string, chunks: Chunk[]): void {
  if (text === "") return;
  closeReasoning(state, chunks);
  state.hasText = true;
  chunks.push({ type: "text", text });
}

function addCalls(state: ChatReaderState, pieces: readonly unknown[], chunks: Chunk[]): void {
  closeReasoning(state, chunks);
  addCallPieces(state, pieces, chunks);
}

function closeReasoning(state: ChatReaderState, chunks: Chunk[]): void {
  if (!state.reasoning) return;
  const data = toReasoningData(state.reasoning);
  chunks.push({ type: "reasoning", text: "", opaque: tagData(state.name, data) });
  state.reasoning = undefined;
}

function readFinishReason(state: ChatReaderState, reason: unknown): void {
  if (typeof reason !== "string" || reason === "") return;
  if (failureReasons.includes(reason))
    throw toChatError({ code: reason, message: `The response ended with "${reason}".` });
  state.reason = reason.toLowerCase();
}

/** Called for `[DONE]` and after a non-streamed response. */
function finishAnswer(state: ChatReaderState): Chunk[] {
  const chunks: Chunk[] = [];
  state.isEnded = true;
  emitFinish(state, chunks);
  return chunks;
}

function emitFinish(state: ChatReaderState, chunks: Chunk[]): void {
  closeReasoning(state, chunks);
  if (state.audio.length > 0) emitMedia(state, [closeAudio(state.audio.splice(0), state.isStreamed)], chunks);
  const reason = resolveStopReason(state);
  if (reason === undefined || reason === state.emittedFinish) return;
  state.emittedFinish = reason;
  chunks.push(createFinish(reason, state.reason));
}

function resolveStopReason({
  reason,
  quirks,
  calls,
  isRefused,
  hasText,
}: ChatReaderState): StopReason | undefined {
  const hasCalls = calls.all.length > 0;
  if (reason === undefined) {
    if (quirks.needsFinish) return undefined;
    // An incomplete call means a truncated stream, whatever the server reports.
    if (hasCalls && !calls.all.every(({ text }) => isCompleteJson(text))) return undefined;
    if (!hasCalls && !hasText) return undefined;
  }
  const stopReason = Object.hasOwn(stopReasons, reason ?? "stop") ? stopReasons[reason ?? "stop"] : "other";
  if (stopReason !== "end" && stopReason !== "tool_calls") return stopReason;
  if (isRefused) return "refusal";
  // Some servers report `stop` with calls, or `tool_calls` without: the content decides.
  return hasCalls ? "tool_calls" : "end";
}
