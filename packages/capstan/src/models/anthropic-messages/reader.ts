import { AgentError } from "../../base/errors.ts";
import { isRecord, type Json } from "../../base/json.ts";
import type { Chunk, StopReason, Usage } from "../../kernel/model.ts";
import { createEventShapes } from "../event-shapes.ts";
import { createInconsistencyError } from "../stream-identity.ts";
import { createFinish, tagData, toList, type WireEvent, type WireReader } from "../wire.ts";
import { anthropicName, anthropicToolNames, sanitizeId } from "./content.ts";
import { createBadChunkError, toStreamError } from "./failure.ts";
import { toClaudeCitations, toHostedChunks } from "./hosted.ts";

type Fields = { readonly [field: string]: unknown };

/** A started block. `hasDelta` tells whether a delta followed its start event. */
type Block = {
  readonly head: Fields;
  readonly index: number;
  fields: Fields;
  json: string;
  hasDelta: boolean;
};

type Answer = {
  readonly open: Map<number, Block>;
  chunks: Chunk[];
  /** Type of the last part if it is still open: the next block of that type must not be merged into it. */
  openPart: "text" | "reasoning" | undefined;
  /** Indexes of the blocks that have started. */
  readonly started: Set<unknown>;
  isEnded: boolean;
  usage: Fields;
  stopReason: unknown;
  container: unknown;
};

const stopReasons: ReadonlyMap<unknown, StopReason> = new Map<unknown, StopReason>([
  ["end_turn", "end"],
  ["stop_sequence", "end"],
  ["tool_use", "tool_calls"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "refusal"],
  // A server tool needs another request, or the server has compacted its input.
  ["pause_turn", "pause"],
  ["compaction", "pause"],
]);

/** Fields that differ between the events of a stream. */
const shapes = createEventShapes(["index", "delta.text", "delta.thinking", "delta.partial_json"]);

export function createAnthropicReader(): WireReader {
  const answer = createAnswer();
  return {
    read(event) {
      if (answer.isEnded || event.event === "ping") return [];
      answer.chunks = [];
      readAnthropicEvent(answer, parseAnthropicEvent(event));
      return answer.chunks;
    },
    repeated: {
      shapes,
      read(value, event, chunks) {
        if (answer.isEnded || event === "ping") return;
        answer.chunks = chunks;
        readAnthropicEvent(answer, assertNoError(value));
      },
    },
  };
}

export function parseAnthropicAnswer(body: unknown): readonly Chunk[] {
  if (!isRecord(body)) throw createBadChunkError("is not an object");
  if (body.type === "error") throw toStreamError(body);
  if (!Array.isArray(body.content)) throw createBadChunkError("has no content");
  const answer = createAnswer();
  addMessage(answer, body);
  finishAnswer(answer);
  return answer.chunks;
}

/** Adds a whole message or the start of one: calls made by running code arrive complete with it. */
function addMessage(answer: Answer, message: Fields): void {
  for (const [index, block] of toList(message.content).entries()) {
    answer.started.add(`content ${index}`);
    startBlock(answer, index, block);
    stopBlock(answer, index);
  }
  addEnd(answer, message, message.usage);
}

function createAnswer(): Answer {
  return {
    open: new Map(),
    chunks: [],
    openPart: undefined,
    started: new Set(),
    isEnded: false,
    usage: {},
    stopReason: undefined,
    container: undefined,
  };
}

function parseAnthropicEvent({ event, data }: WireEvent): Fields {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch (cause) {
    throw new AgentError("bad_chunk", "A stream event is not JSON.", { cause });
  }
  if (!isRecord(value)) throw createBadChunkError("is not an object");
  if (event === "error") throw toStreamError(value);
  return assertNoError(value);
}

function assertNoError(value: Fields): Fields {
  if (value.type === "error") throw toStreamError(value);
  return value;
}

function readAnthropicEvent(answer: Answer, event: Fields): void {
  switch (event.type) {
    case "content_block_delta":
      addDelta(answer, event.index, event.delta);
      return;
    case "content_block_start":
      if (answer.started.has(event.index))
        throw createInconsistencyError(`block ${String(event.index)} started twice`);
      answer.started.add(event.index);
      startBlock(answer, event.index, event.content_block);
      return;
    case "content_block_stop":
      stopBlock(answer, event.index);
      return;
    case "message_start":
      // Some proxies repeat the first event; some restart after their upstream failed.
      if (answer.started.size > 0) throw createInconsistencyError("a second message started in it");
      if (isRecord(event.message)) addMessage(answer, event.message);
      return;
    case "message_delta":
      addEnd(answer, event.delta, event.usage);
      return;
    case "message_stop":
      finishAnswer(answer);
  }
}

function startBlock(answer: Answer, index: unknown, head: unknown): void {
  if (typeof index !== "number" || !isRecord(head) || typeof head.type !== "string")
    throw createBadChunkError("starts a block without an index or a type");
  const block: Block = { head, index, fields: head, json: "", hasDelta: false };
  answer.open.set(index, block);
  if (head.type === "text") {
    separateParts(answer, "text");
    pushText(answer, "text", head.text ?? "");
  } else if (head.type === "thinking") {
    separateParts(answer, "reasoning");
    pushText(answer, "reasoning", head.thinking ?? "");
  } else if (head.type === "tool_use") {
    answer.openPart = undefined;
    startToolUse(answer, index, head);
  } else answer.chunks.push(...toHostedChunks(head, false));
}

function startToolUse({ chunks }: Answer, index: number, head: Fields): void {
  const { type: _type, id, name, input: _input, ...rest } = head;
  const isUnusual = typeof id === "string" && sanitizeId(id) !== id && id !== "";
  const data = isUnusual ? { ...rest, id } : rest;
  if (typeof name !== "string") throw createBadChunkError("starts a call without a name");
  chunks.push({
    type: "call_start",
    index,
    name: anthropicToolNames.decodeName(name),
    ...(typeof id === "string" && id !== "" && { id }),
    ...(Object.keys(data).length > 0 && { opaque: tagData(anthropicName, data as Json) }),
  });
}

function addDelta(answer: Answer, index: unknown, delta: unknown): void {
  const block = answer.open.get(index as number);
  if (!block || !isRecord(delta)) throw createBadChunkError("continues a block that was not started");
  switch (`${block.head.type} ${delta.type}`) {
    case "text text_delta":
      pushText(answer, "text", delta.text);
      return;
    case "thinking thinking_delta":
      pushText(answer, "reasoning", delta.thinking);
      return;
    case "thinking signature_delta":
      block.fields = { ...block.fields, signature: delta.signature };
      return;
    case "text citations_delta":
      block.fields = { ...block.fields, citations: [...toList(block.fields.citations), delta.citation] };
      return;
    case "tool_use input_json_delta": {
      const text = assertText(delta.partial_json);
      block.hasDelta ||= text !== "";
      if (text) answer.chunks.push({ type: "call_delta", index: block.index, text });
      return;
    }
  }
  if (delta.type === "input_json_delta") block.json += assertText(delta.partial_json);
  else if (isOpaque(block)) block.fields = mergeDelta(block.fields, delta);
}

/** Merges a delta of an unknown type: texts and lists are appended, other values replaced. */
function mergeDelta(fields: Fields, { type: _type, ...delta }: Fields): Fields {
  const grown = Object.entries(delta).map(([key, value]): [string, unknown] => {
    const known = fields[key];
    if (typeof known === "string" && typeof value === "string") return [key, known + value];
    if (Array.isArray(known) && Array.isArray(value)) return [key, [...known, ...value]];
    return [key, value];
  });
  return { ...fields, ...Object.fromEntries(grown) };
}

function stopBlock(answer: Answer, index: unknown): void {
  const block = answer.open.get(index as number);
  if (!block) return;
  answer.open.delete(block.index);
  const { head, fields } = block;
  if (head.type === "text") {
    const citations = toList(fields.citations);
    if (citations.length > 0) {
      closePart(answer, "text", { citations } as Json);
      answer.chunks.push(...toClaudeCitations(citations));
    }
  } else if (head.type === "thinking") {
    if (typeof fields.signature === "string" && fields.signature !== "")
      closePart(answer, "reasoning", { signature: fields.signature });
  } else if (head.type === "tool_use") {
    // Arguments that arrived complete with the start of the call.
    if (!block.hasDelta && isRecord(head.input) && Object.keys(head.input).length > 0)
      answer.chunks.push({ type: "call_delta", index: block.index, text: JSON.stringify(head.input) });
  } else {
    answer.openPart = undefined;
    const whole = parseBlockInput(block);
    answer.chunks.push({ type: "opaque", data: tagData(anthropicName, whole) });
    if (isRecord(whole)) answer.chunks.push(...toHostedChunks(whole, true));
  }
}

function parseBlockInput({ fields, json }: Block): Json {
  if (json === "") return fields as Json;
  try {
    return { ...fields, input: JSON.parse(json) } as Json;
  } catch (cause) {
    throw new AgentError("bad_chunk", "The arguments of a server tool are not valid JSON.", { cause });
  }
}

function isOpaque({ head: { type } }: Block): boolean {
  return type !== "text" && type !== "thinking" && type !== "tool_use";
}

function pushText(answer: Answer, type: "text" | "reasoning", said: unknown): void {
  const text = assertText(said);
  if (text === "") return;
  answer.chunks.push({ type, text });
  answer.openPart = type;
}

function closePart(answer: Answer, type: "text" | "reasoning", data: Json): void {
  answer.chunks.push({ type, text: "", opaque: tagData(anthropicName, data) });
  answer.openPart = undefined;
}

/** Keeps two blocks separate: citations and signatures belong to one of them. */
function separateParts(answer: Answer, type: "text" | "reasoning"): void {
  if (answer.openPart === type) closePart(answer, type, {});
}

function addEnd(answer: Answer, delta: unknown, usage: unknown): void {
  if (isRecord(delta)) {
    answer.stopReason = delta.stop_reason ?? answer.stopReason;
    answer.container = delta.container ?? answer.container;
  }
  addUsage(answer, usage);
}

function finishAnswer(answer: Answer): void {
  for (const index of answer.open.keys()) stopBlock(answer, index);
  const { chunks, container, stopReason } = answer;
  // Requests of the same turn must name the container in which code ran.
  if (isRecord(container))
    chunks.push({ type: "opaque", data: tagData(anthropicName, { container } as Json) });
  const usage = toUsage(answer.usage);
  if (usage) chunks.push({ type: "usage", usage });
  chunks.push(createFinish(stopReasons.get(stopReason) ?? "other", stopReason));
  answer.isEnded = true;
}

/** The figures are totals: later ones replace earlier ones. */
function addUsage(answer: Answer, usage: unknown): void {
  if (!isRecord(usage)) return;
  const told = Object.entries(usage).filter(([, figure]) => figure !== null && figure !== undefined);
  answer.usage = { ...answer.usage, ...Object.fromEntries(told) };
}

function toUsage(usage: Fields): Usage | undefined {
  if (typeof usage.input_tokens !== "number" && typeof usage.output_tokens !== "number") return undefined;
  const cached = toNumber(usage.cache_read_input_tokens);
  const written = toNumber(usage.cache_creation_input_tokens);
  const creation = isRecord(usage.cache_creation) ? usage.cache_creation : {};
  const writtenLong = toNumber(creation.ephemeral_1h_input_tokens);
  const details = usage.output_tokens_details;
  const thinking = isRecord(details) ? details.thinking_tokens : undefined;
  return {
    // Anthropic reports cache reads and writes separately from input tokens.
    inputTokens: toNumber(usage.input_tokens) + cached + written,
    outputTokens: toNumber(usage.output_tokens),
    ...(typeof usage.cache_read_input_tokens === "number" && { cachedTokens: cached }),
    ...(written > 0 && { cacheWriteTokens: written }),
    ...(writtenLong > 0 && { longCacheWriteTokens: writtenLong }),
    ...(typeof thinking === "number" && { reasoningTokens: thinking }),
  };
}

function toNumber(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function assertText(value: unknown): string {
  if (typeof value !== "string") throw createBadChunkError("lacks a text field");
  return value;
}
