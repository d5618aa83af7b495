import { AgentError } from "../../errors.ts";
import { isRecord, type Json } from "../../json.ts";
import type { Chunk, Finish } from "../../model.ts";
import { tagged, type WireReader } from "../wire.ts";
import { addPiece, type PartialArguments, partialArguments } from "./arguments.ts";
import { failureIn } from "./failure.ts";
import { geminiToolNames } from "./names.ts";

/** A call whose arguments are still coming. */
type OpenCall = { readonly index: number; readonly input: PartialArguments };

type Reading = {
  calls: number;
  open: OpenCall | undefined;
  /** A call was left in the middle of a text: whatever end is said, this answer has none. */
  broken: boolean;
  reason: string | undefined;
  told: Finish | undefined;
  counts: Record<string, unknown>;
};

export function geminiReader(): WireReader {
  const reading = newReading();
  return {
    read({ data }) {
      if (data === "[DONE]") return []; // said by some proxies, never by Gemini
      let answer: unknown;
      try {
        answer = JSON.parse(data);
      } catch (cause) {
        throw new AgentError("bad_chunk", "An event of the Gemini stream is not JSON.", { cause });
      }
      return chunksOf(reading, answer);
    },
  };
}

/** One answer, or the list of them that the stream is without `alt=sse`. */
export function fromGeminiJson(body: unknown): readonly Chunk[] {
  const reading = newReading();
  return (Array.isArray(body) ? body : [body]).flatMap((answer) => chunksOf(reading, answer));
}

function newReading(): Reading {
  return { calls: 0, open: undefined, broken: false, reason: undefined, told: undefined, counts: {} };
}

function chunksOf(reading: Reading, answer: unknown): Chunk[] {
  if (!isRecord(answer)) throw new AgentError("bad_chunk", "An event of the Gemini stream is not an object.");
  if (answer.error) throw failureIn(answer.error);
  const chunks: Chunk[] = [];
  const candidate = firstOf(answer.candidates);
  const parts = isRecord(candidate?.content) ? candidate.content.parts : undefined;
  if (Array.isArray(parts)) for (const part of parts) readPart(reading, part, chunks);
  const reason = reasonIn(answer, candidate);
  if (reason !== undefined) reading.reason = reason;
  if (isRecord(answer.usageMetadata)) readUsage(reading, answer.usageMetadata, chunks);
  if (reading.reason !== undefined) readEnd(reading, reading.reason, chunks);
  return chunks;
}

function firstOf(candidates: unknown): Record<string, unknown> | undefined {
  if (!Array.isArray(candidates)) return undefined;
  return candidates.find((candidate) => isRecord(candidate) && (candidate.index ?? 0) === 0);
}

function reasonIn(answer: Record<string, unknown>, candidate: Record<string, unknown> | undefined) {
  const blocked = isRecord(answer.promptFeedback) ? answer.promptFeedback.blockReason : undefined;
  if (typeof blocked === "string" && blocked !== "BLOCK_REASON_UNSPECIFIED") return "SAFETY";
  const reason = candidate?.finishReason;
  return typeof reason === "string" && reason !== "FINISH_REASON_UNSPECIFIED" ? reason : undefined;
}

function readPart(reading: Reading, part: unknown, chunks: Chunk[]): void {
  if (!isRecord(part)) return;
  const { text, thought, thoughtSignature, functionCall } = part;
  const signature = typeof thoughtSignature === "string" ? { thoughtSignature } : undefined;
  if (isRecord(functionCall)) readCall(reading, { ...functionCall, signature }, chunks);
  else if (typeof text === "string") {
    if (text === "" && !signature) return;
    const opaque = signature && { opaque: tagged("gemini", signature) };
    chunks.push({ type: thought === true ? "reasoning" : "text", text, ...opaque });
  } else if (Object.keys(part).length > 0)
    chunks.push({ type: "opaque", data: tagged("gemini", part as Json) });
}

/**
 * A call comes whole; or, where arguments are streamed, as a head with the name, pieces, and a last part that does
 * not say `willContinue`. Pieces are told when the call is whole: half of one is never arguments.
 */
function readCall(reading: Reading, call: Record<string, unknown>, chunks: Chunk[]): void {
  if (typeof call.name === "string" && call.name !== "") startCall(reading, call, chunks);
  const { open } = reading;
  if (!open) return;
  if (Array.isArray(call.partialArgs)) for (const piece of call.partialArgs) addPiece(open.input, piece);
  if (call.willContinue !== true) closeCall(reading, chunks);
}

function startCall(reading: Reading, call: Record<string, unknown>, chunks: Chunk[]): void {
  closeCall(reading, chunks);
  const index = reading.calls++;
  const id = typeof call.id === "string" && call.id !== "" ? { id: call.id } : {};
  const own = { ...id, ...(isRecord(call.signature) && call.signature) };
  const opaque = Object.keys(own).length > 0 ? { opaque: tagged("gemini", own as Json) } : {};
  chunks.push({
    type: "call_start",
    index,
    name: geminiToolNames.original(String(call.name)),
    ...id,
    ...opaque,
  });
  if (call.willContinue === true || call.partialArgs) {
    reading.open = { index, input: partialArguments(call.args) };
  } else chunks.push({ type: "call_delta", index, text: JSON.stringify(call.args ?? {}) });
}

/** Arguments with an unfinished text lose their last brace, so that nobody can take them for whole. */
function closeCall(reading: Reading, chunks: Chunk[]): void {
  const { open } = reading;
  if (!open) return;
  const isWhole = open.input.unfinished.size === 0;
  const text = JSON.stringify(open.input.root);
  chunks.push({ type: "call_delta", index: open.index, text: isWhole ? text : text.slice(0, -1) });
  reading.open = undefined;
  reading.broken ||= !isWhole;
}

/** Counts grow from event to event, and not every event has all of them. */
function readUsage(reading: Reading, usage: Record<string, unknown>, chunks: Chunk[]): void {
  const counts = Object.assign(reading.counts, usage);
  const count = (name: string): number => (typeof counts[name] === "number" ? counts[name] : 0);
  if (typeof counts.promptTokenCount !== "number" && typeof counts.candidatesTokenCount !== "number") return;
  const cachedTokens = count("cachedContentTokenCount");
  const reasoningTokens = count("thoughtsTokenCount");
  chunks.push({
    type: "usage",
    usage: {
      inputTokens: count("promptTokenCount") + count("toolUsePromptTokenCount"),
      outputTokens: count("candidatesTokenCount") + reasoningTokens,
      ...(cachedTokens > 0 && { cachedTokens }),
      ...(reasoningTokens > 0 && { reasoningTokens }),
    },
  });
}

const finishes: ReadonlyMap<string, Finish> = new Map([
  ["STOP", "stop"],
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
]);

/** Older models say the reason with every event, so it is told again only when what follows changes it. */
function readEnd(reading: Reading, reason: string, chunks: Chunk[]): void {
  closeCall(reading, chunks);
  const finish = finishes.get(reason) ?? "other";
  if (finish === "stop" && reading.broken) return;
  const told = finish === "stop" && reading.calls > 0 ? "tool_calls" : finish;
  if (told !== reading.told) chunks.push({ type: "finish", reason: told });
  reading.told = told;
}
