import { AgentError } from "../../base/errors.ts";
import { isRecord, type Json } from "../../base/json.ts";
import type { Chunk, StopReason } from "../../kernel/model.ts";
import { createEventShapes } from "../event-shapes.ts";
import { createStreamIdentity, type StreamIdentity } from "../stream-identity.ts";
import { createFinish, tagData, type WireReader } from "../wire.ts";
import { createAudioChunk, createMediaChunk } from "../wire-media.ts";
import { addArgumentPiece, createPartialArguments, type PartialArguments } from "./arguments.ts";
import { toGeminiError } from "./failure.ts";
import { readGrounding, readHostedPart } from "./hosted.ts";
import { readGeminiLogprobs } from "./logprobs.ts";
import { geminiToolNames } from "./names.ts";

/** A call whose arguments are still streaming. */
type OpenCall = { readonly index: number; readonly input: PartialArguments };

type GeminiReaderState = {
  readonly identity: StreamIdentity;
  calls: number;
  openCall: OpenCall | undefined;
  audio: { readonly mediaType: string; readonly pieces: string[] } | undefined;
  /** A call ended within a string: the answer counts as truncated, whatever its finish reason. */
  isBroken: boolean;
  reason: string | undefined;
  emittedFinish: StopReason | undefined;
  counts: Record<string, unknown>;
  /** Programs that hosted code execution ran, and whether the answer reports other hosted calls as parts. */
  programs: number;
  hasHostedParts: boolean;
};

/** Fields that differ between the events of a stream. */
const shapes = createEventShapes([
  "responseId",
  "createTime",
  "candidates.*.content.parts.*.text",
  "candidates.*.content.parts.*.functionCall.partialArgs.*.jsonPath",
  "candidates.*.content.parts.*.functionCall.partialArgs.*.stringValue",
  "usageMetadata.promptTokenCount",
  "usageMetadata.candidatesTokenCount",
  "usageMetadata.thoughtsTokenCount",
  "usageMetadata.totalTokenCount",
  "usageMetadata.promptTokensDetails.*.tokenCount",
  "usageMetadata.trafficType",
]);

export function createGeminiReader(): WireReader {
  const state = createGeminiState();
  return {
    read({ data }) {
      if (data === "[DONE]") return []; // sent by some proxies, never by Gemini
      let answer: unknown;
      try {
        answer = JSON.parse(data);
      } catch (cause) {
        throw new AgentError("bad_chunk", "A Gemini stream event is not JSON.", { cause });
      }
      return readAnswer(state, answer, []);
    },
    repeated: {
      shapes,
      read(value, _event, chunks) {
        readAnswer(state, value, chunks);
      },
    },
  };
}

/** Accepts one response, or the list of responses that is streamed without `alt=sse`. */
export function fromGeminiJson(body: unknown): readonly Chunk[] {
  const state = createGeminiState();
  return (Array.isArray(body) ? body : [body]).flatMap((answer) => readAnswer(state, answer, []));
}

function createGeminiState(): GeminiReaderState {
  return {
    identity: createStreamIdentity({ isStrict: true }),
    calls: 0,
    openCall: undefined,
    audio: undefined,
    isBroken: false,
    reason: undefined,
    emittedFinish: undefined,
    counts: {},
    programs: 0,
    hasHostedParts: false,
  };
}

function readAnswer(state: GeminiReaderState, answer: unknown, chunks: Chunk[]): Chunk[] {
  if (!isRecord(answer)) throw new AgentError("bad_chunk", "A Gemini stream event is not an object.");
  if (answer.error) throw toGeminiError(answer.error);
  const { length: countBefore } = chunks;
  const candidate = findFirstCandidate(answer.candidates);
  const parts = isRecord(candidate?.content) ? candidate.content.parts : undefined;
  if (Array.isArray(parts)) for (const part of parts) readGeminiPart(state, part, chunks);
  chunks.push(...readGeminiLogprobs(candidate?.logprobsResult));
  if (candidate?.groundingMetadata || candidate?.urlContextMetadata)
    chunks.push(...readGrounding(candidate, state.hasHostedParts));
  state.identity.check(answer.responseId, chunks.length > countBefore);
  const reason = findFinishReason(answer, candidate);
  if (reason !== undefined) state.reason = reason;
  if (isRecord(answer.usageMetadata)) readUsage(state, answer.usageMetadata, chunks);
  if (state.reason !== undefined) readEnd(state, state.reason, chunks);
  return chunks;
}

function findFirstCandidate(candidates: unknown): Record<string, unknown> | undefined {
  if (!Array.isArray(candidates)) return undefined;
  return candidates.find((candidate) => isRecord(candidate) && (candidate.index ?? 0) === 0);
}

function findFinishReason(answer: Record<string, unknown>, candidate: Record<string, unknown> | undefined) {
  const blocked = isRecord(answer.promptFeedback) ? answer.promptFeedback.blockReason : undefined;
  if (typeof blocked === "string" && blocked !== "BLOCK_REASON_UNSPECIFIED") return "SAFETY";
  const reason = candidate?.finishReason;
  return typeof reason === "string" && reason !== "FINISH_REASON_UNSPECIFIED" ? reason : undefined;
}

function readGeminiPart(state: GeminiReaderState, part: unknown, chunks: Chunk[]): void {
  if (!isRecord(part)) return;
  const { text, thought, thoughtSignature, functionCall } = part;
  const signature = typeof thoughtSignature === "string" ? { thoughtSignature } : undefined;
  if (isRecord(functionCall)) readCall(state, { ...functionCall, signature }, chunks);
  else if (typeof text === "string") {
    if (text === "" && !signature) return;
    const opaque = signature && { opaque: tagData("gemini", signature) };
    chunks.push({ type: thought === true ? "reasoning" : "text", text, ...opaque });
  } else if (hasInlineData(part)) readMedia(state, part, chunks);
  else if (Object.keys(part).length > 0) {
    chunks.push({ type: "opaque", data: tagData("gemini", part as Json) });
    if (part.executableCode) state.programs += 1;
    if (part.toolCall) state.hasHostedParts = true;
    chunks.push(...readHostedPart(part, `code_${state.programs}`));
  }
}

type MediaFields = Record<string, unknown> & { readonly inlineData: { data: string; mimeType?: unknown } };

function hasInlineData(part: Record<string, unknown>): part is MediaFields {
  return isRecord(part.inlineData) && typeof part.inlineData.data === "string";
}

/** Drafts of an image are thoughts, which are not sent back. Audio arrives in pieces and is emitted at the end. */
function readMedia(state: GeminiReaderState, part: MediaFields, chunks: Chunk[]): void {
  const { inlineData, thought, thoughtSignature } = part;
  const { data } = inlineData;
  const mediaType = String(inlineData.mimeType ?? "application/octet-stream");
  if (thought === true) return;
  if (!mediaType.startsWith("audio/")) {
    const signature = typeof thoughtSignature === "string" ? { thoughtSignature } : {};
    const media = createMediaChunk(mediaType, data, tagData("gemini", signature));
    chunks.push(media ?? { type: "opaque", data: tagData("gemini", part as Json) });
  } else if (state.audio?.mediaType === mediaType) state.audio.pieces.push(data);
  else {
    closeAudio(state, chunks);
    state.audio = { mediaType, pieces: [data] };
  }
}

function closeAudio(state: GeminiReaderState, chunks: Chunk[]): void {
  if (state.audio) chunks.push(createAudioChunk(state.audio));
  state.audio = undefined;
}

/**
 * A call arrives complete or, with streamed arguments, as a start with the name, pieces, and a last part without
 * `willContinue`. The arguments are emitted once the call is complete.
 */
function readCall(state: GeminiReaderState, call: Record<string, unknown>, chunks: Chunk[]): void {
  if (typeof call.name === "string" && call.name !== "") startFunctionCall(state, call, chunks);
  const { openCall } = state;
  if (!openCall) return;
  if (Array.isArray(call.partialArgs))
    for (const piece of call.partialArgs) addArgumentPiece(openCall.input, piece);
  if (call.willContinue !== true) closeCall(state, chunks);
}

function startFunctionCall(state: GeminiReaderState, call: Record<string, unknown>, chunks: Chunk[]): void {
  closeCall(state, chunks);
  const index = state.calls++;
  const id = typeof call.id === "string" && call.id !== "" ? { id: call.id } : {};
  const own = { ...id, ...(isRecord(call.signature) && call.signature) };
  const opaque = Object.keys(own).length > 0 ? { opaque: tagData("gemini", own as Json) } : {};
  chunks.push({
    type: "call_start",
    index,
    name: geminiToolNames.decodeName(String(call.name)),
    ...id,
    ...opaque,
  });
  if (call.willContinue === true || call.partialArgs) {
    state.openCall = { index, input: createPartialArguments(call.args) };
  } else chunks.push({ type: "call_delta", index, text: JSON.stringify(call.args ?? {}) });
}

/** Incomplete arguments lose their closing brace, so that they cannot be parsed as complete. */
function closeCall(state: GeminiReaderState, chunks: Chunk[]): void {
  const { openCall } = state;
  if (!openCall) return;
  const isComplete = openCall.input.unfinished.size === 0;
  const text = JSON.stringify(openCall.input.root);
  chunks.push({ type: "call_delta", index: openCall.index, text: isComplete ? text : text.slice(0, -1) });
  state.openCall = undefined;
  state.isBroken ||= !isComplete;
}

/** Counts are cumulative, and not every event has all of them. */
function readUsage(state: GeminiReaderState, usage: Record<string, unknown>, chunks: Chunk[]): void {
  const counts = Object.assign(state.counts, usage);
  const getCount = (name: string): number => (typeof counts[name] === "number" ? counts[name] : 0);
  if (typeof counts.promptTokenCount !== "number" && typeof counts.candidatesTokenCount !== "number") return;
  const cachedTokens = getCount("cachedContentTokenCount");
  const reasoningTokens = getCount("thoughtsTokenCount");
  chunks.push({
    type: "usage",
    usage: {
      inputTokens: getCount("promptTokenCount") + getCount("toolUsePromptTokenCount"),
      outputTokens: getCount("candidatesTokenCount") + reasoningTokens,
      ...(cachedTokens > 0 && { cachedTokens }),
      ...(reasoningTokens > 0 && { reasoningTokens }),
    },
  });
}

/** Reasons that are not listed map to `other`, like the listed reasons for an unusable answer. */
const stopReasons: ReadonlyMap<string, StopReason> = new Map<string, StopReason>([
  ["STOP", "end"],
  ["MAX_TOKENS", "length"],
  ["SAFETY", "content_filter"],
  ["RECITATION", "content_filter"],
  ["PROHIBITED_CONTENT", "content_filter"],
  ["BLOCKLIST", "content_filter"],
  ["SPII", "content_filter"],
  ["MODEL_ARMOR", "content_filter"],
  ["IMAGE_SAFETY", "content_filter"],
  ["IMAGE_PROHIBITED_CONTENT", "content_filter"],
  ["IMAGE_RECITATION", "content_filter"],
  ...(
    ["LANGUAGE", "OTHER", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"] as const
  ).map((reason): [string, StopReason] => [reason, "other"]),
  ...(["MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE", "NO_IMAGE", "IMAGE_OTHER"] as const).map(
    (reason): [string, StopReason] => [reason, "other"],
  ),
]);

/** Older models repeat the reason in every event; it is emitted again only if it changes. */
function readEnd(state: GeminiReaderState, reason: string, chunks: Chunk[]): void {
  closeCall(state, chunks);
  closeAudio(state, chunks);
  const mapped = stopReasons.get(reason) ?? "other";
  if (mapped === "end" && state.isBroken) return;
  const stopReason = mapped === "end" && state.calls > 0 ? "tool_calls" : mapped;
  if (stopReason !== state.emittedFinish) chunks.push(createFinish(stopReason, reason));
  state.emittedFinish = stopReason;
}
