import { AgentError } from "../../errors.ts";
import { isRecord } from "../../json.ts";
import type { Chunk, Finish } from "../../model.ts";
import { tagged, type WireEvent, type WireReader } from "../wire.ts";
import { addPieces, type ChatCalls, chatCalls, isWhole } from "./calls.ts";
import { chatFailure } from "./failure.ts";
import type { ChatQuirks } from "./quirks.ts";
import { addDetails, type OpenReasoning, reasoningData, reasoningIn } from "./reasoning.ts";
import { chatUsage } from "./usage.ts";

type Fields = Record<string, unknown>;

type Reading = {
  readonly name: string;
  readonly quirks: ChatQuirks;
  readonly calls: ChatCalls;
  reasoning: OpenReasoning | undefined;
  /** The last finish reason that was one. */
  reason: string | undefined;
  isRefused: boolean;
  hasText: boolean;
  told: Finish | undefined;
  isEnded: boolean;
};

/** In lower case, as some servers shout them. What is not here is `other`. */
const finishes: Readonly<Record<string, Finish>> = {
  ...{ stop: "stop", eos: "stop", eos_token: "stop", stop_sequence: "stop", end_turn: "stop" },
  ...{
    tool_calls: "tool_calls",
    tool_call: "tool_calls",
    tool_use: "tool_calls",
    function_call: "tool_calls",
  },
  ...{ length: "length", max_tokens: "length", model_length: "length" },
  ...{ content_filter: "content_filter", safety: "content_filter", refusal: "content_filter" },
  sensitive: "content_filter",
};

/** Reasons that are failures: the answer is not whole. */
const failures = ["error", "network_error", "insufficient_system_resource"];

export function chatReader(name: string, quirks: ChatQuirks): WireReader {
  const reading = newReading(name, quirks);
  return { read: (event) => readEvent(reading, event) };
}

/** The chunks of an answer that came whole. */
export function chatAnswer(body: unknown, name: string, quirks: ChatQuirks): Chunk[] {
  if (!isRecord(body)) throw new AgentError("bad_chunk", "The model's answer is not a JSON object.");
  const reading = newReading(name, quirks);
  const [first] = Array.isArray(body.choices) ? body.choices : [];
  const choice = isRecord(first) ? first : {};
  const message = isRecord(choice.message) ? choice.message : {};
  const given = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  // Here each is a whole call, whatever its id.
  const tool_calls = given.filter(isRecord).map((call, index) => ({ ...call, index }));
  const whole = { ...choice, index: 0, delta: { ...message, tool_calls } };
  const chunks = readChunk(reading, { ...body, choices: isRecord(first) ? [whole] : [] });
  return [...chunks, ...end(reading)];
}

function newReading(name: string, quirks: ChatQuirks): Reading {
  return {
    name,
    quirks,
    calls: chatCalls(),
    reasoning: undefined,
    reason: undefined,
    isRefused: false,
    hasText: false,
    told: undefined,
    isEnded: false,
  };
}

function readEvent(reading: Reading, { event, data }: WireEvent): Chunk[] {
  const text = data.trim();
  if (text === "" || reading.isEnded) return [];
  if (text === "[DONE]") return end(reading);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    if (event === "error") throw chatFailure(text);
    throw new AgentError("bad_chunk", "A piece of the model's stream is not JSON.", { cause });
  }
  if (event === "error") throw chatFailure(isRecord(parsed) ? (parsed.error ?? parsed) : parsed);
  if (!isRecord(parsed)) throw new AgentError("bad_chunk", "A piece of the model's stream is not an object.");
  return readChunk(reading, parsed);
}

function readChunk(reading: Reading, chunk: Fields): Chunk[] {
  const { choices } = chunk;
  if (chunk.error !== undefined && chunk.error !== null) throw chatFailure(chunk.error);
  if (chunk.object === "error" || chunk.type === "error") throw chatFailure(chunk);
  const chunks: Chunk[] = [];
  let first: Fields | undefined;
  for (const choice of Array.isArray(choices) ? choices : []) {
    // Other choices are other answers.
    if (!isRecord(choice) || (typeof choice.index === "number" && choice.index !== 0)) continue;
    first = choice;
    if (isRecord(choice.delta)) readDelta(reading, choice.delta, chunks);
    readReason(reading, choice.finish_reason);
  }
  const usage = chatUsage(chunk, first);
  if (usage) chunks.push({ type: "usage", usage });
  if (reading.reason !== undefined && !reading.quirks.needsDone) tell(reading, chunks);
  return chunks;
}

function readDelta(reading: Reading, delta: Fields, chunks: Chunk[]): void {
  const { content, refusal, tool_calls: pieces, function_call: only } = delta;
  readReasoning(reading, delta, chunks);
  if (typeof content === "string") say(reading, content, chunks);
  else if (Array.isArray(content)) readContent(reading, content, chunks);
  if (typeof refusal === "string" && refusal !== "") {
    reading.isRefused = true;
    say(reading, refusal, chunks);
  }
  if (Array.isArray(pieces) && pieces.length > 0) addCalls(reading, pieces, chunks);
  // The form that `tool_calls` replaced.
  if (isRecord(only)) addCalls(reading, [{ index: 0, function: only }], chunks);
}

function readReasoning(reading: Reading, delta: Fields, chunks: Chunk[]): void {
  const said = reasoningIn(delta);
  const { reasoning_details: details } = delta;
  if (said) think(reading, said, chunks);
  if (!Array.isArray(details) || details.length === 0) return;
  reading.reasoning ??= { field: undefined, details: [] };
  addDetails(reading.reasoning.details, details);
}

function think(reading: Reading, { field, text }: { field: string; text: string }, chunks: Chunk[]): void {
  reading.reasoning ??= { field: undefined, details: [] };
  reading.reasoning.field ??= field || undefined;
  chunks.push({ type: "reasoning", text });
}

/** Mistral's form: a list of texts and thoughts. */
function readContent(reading: Reading, content: readonly unknown[], chunks: Chunk[]): void {
  for (const part of content) {
    if (typeof part === "string") say(reading, part, chunks);
    if (!isRecord(part)) continue;
    if (part.type === "text" && typeof part.text === "string") say(reading, part.text, chunks);
    const text = part.type === "thinking" ? reasoningIn({ reasoning: part.thinking })?.text : undefined;
    if (text) think(reading, { field: "thinking", text }, chunks);
  }
}

function say(reading: Reading, text: string, chunks: Chunk[]): void {
  if (text === "") return;
  closeReasoning(reading, chunks);
  reading.hasText = true;
  chunks.push({ type: "text", text });
}

function addCalls(reading: Reading, pieces: readonly unknown[], chunks: Chunk[]): void {
  closeReasoning(reading, chunks);
  for (const chunk of addPieces(reading.calls, pieces, reading.name)) chunks.push(chunk);
}

function closeReasoning(reading: Reading, chunks: Chunk[]): void {
  if (!reading.reasoning) return;
  const data = reasoningData(reading.reasoning);
  chunks.push({ type: "reasoning", text: "", opaque: tagged(reading.name, data) });
  reading.reasoning = undefined;
}

function readReason(reading: Reading, reason: unknown): void {
  if (typeof reason !== "string" || reason === "") return;
  if (failures.includes(reason))
    throw chatFailure({ code: reason, message: `The answer ended with "${reason}".` });
  reading.reason = reason.toLowerCase();
}

/** `[DONE]`, or all of an answer that came whole. */
function end(reading: Reading): Chunk[] {
  const chunks: Chunk[] = [];
  reading.isEnded = true;
  tell(reading, chunks);
  return chunks;
}

function tell(reading: Reading, chunks: Chunk[]): void {
  closeReasoning(reading, chunks);
  const reason = finishOf(reading);
  if (reason === undefined || reason === reading.told) return;
  reading.told = reason;
  chunks.push({ type: "finish", reason });
}

function finishOf({ reason, quirks, calls, isRefused, hasText }: Reading): Finish | undefined {
  const hasCalls = calls.all.length > 0;
  if (reason === undefined) {
    if (quirks.needsFinish) return undefined;
    // A call that is not whole was cut off, whatever the server says.
    if (hasCalls && !calls.all.every(({ text }) => isWhole(text))) return undefined;
    if (!hasCalls && !hasText) return undefined;
  }
  const finish = Object.hasOwn(finishes, reason ?? "stop") ? finishes[reason ?? "stop"] : "other";
  if (finish !== "stop" && finish !== "tool_calls") return finish;
  if (isRefused) return "content_filter";
  // Servers say `stop` with calls, and the other way round: what is there decides.
  return hasCalls ? "tool_calls" : "stop";
}
