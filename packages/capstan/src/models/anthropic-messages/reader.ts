import { AgentError } from "../../errors.ts";
import { isRecord, type Json } from "../../json.ts";
import type { Chunk, Finish, Usage } from "../../model.ts";
import { tagged, type WireEvent, type WireReader } from "../wire.ts";
import { badChunk, errorOf } from "./failure.ts";
import { anthropicName, anthropicToolNames } from "./names.ts";

type Fields = { readonly [field: string]: unknown };

/** A block that has begun. `said` is whether a piece of it came after its head. */
type Block = { readonly head: Fields; readonly index: number; fields: Fields; json: string; said: boolean };

type Answer = {
  readonly open: Map<number, Block>;
  chunks: Chunk[];
  /** The type of the last part when nothing closed it: the next block of that type must not run into it. */
  unclosed: "text" | "reasoning" | undefined;
  begun: boolean;
  ended: boolean;
  usage: Fields;
  stopReason: unknown;
  container: unknown;
};

const finishes: ReadonlyMap<unknown, Finish> = new Map<unknown, Finish>([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool_use", "tool_calls"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "content_filter"],
]);

export function anthropicReader(): WireReader {
  const answer = newAnswer();
  return {
    read(event) {
      if (answer.ended || event.event === "ping") return [];
      answer.chunks = [];
      readEvent(answer, parsed(event));
      return answer.chunks;
    },
  };
}

export function anthropicAnswer(body: unknown): readonly Chunk[] {
  if (!isRecord(body)) throw badChunk("is not an object");
  if (body.type === "error") throw errorOf(body);
  if (!Array.isArray(body.content)) throw badChunk("has no content");
  const answer = newAnswer();
  addMessage(answer, body);
  finish(answer);
  return answer.chunks;
}

/** A message, or the beginning of one: calls that running code makes come whole with it. */
function addMessage(answer: Answer, message: Fields): void {
  for (const [index, block] of listOf(message.content).entries()) {
    startBlock(answer, index, block);
    stopBlock(answer, index);
  }
  addEnd(answer, message, message.usage);
}

function newAnswer(): Answer {
  return {
    open: new Map(),
    chunks: [],
    unclosed: undefined,
    begun: false,
    ended: false,
    usage: {},
    stopReason: undefined,
    container: undefined,
  };
}

function parsed({ event, data }: WireEvent): Fields {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch (cause) {
    throw new AgentError("bad_chunk", "An event of the stream is not JSON.", { cause });
  }
  if (!isRecord(value)) throw badChunk("is not an object");
  if (event === "error" || value.type === "error") throw errorOf(value);
  return value;
}

function readEvent(answer: Answer, event: Fields): void {
  switch (event.type) {
    case "content_block_delta":
      addDelta(answer, event.index, event.delta);
      return;
    case "content_block_start":
      startBlock(answer, event.index, event.content_block);
      return;
    case "content_block_stop":
      stopBlock(answer, event.index);
      return;
    case "message_start":
      // Some proxies repeat the first event; some begin again after their own source broke off.
      if (answer.begun)
        throw new AgentError("stream_truncated", "The answer broke off and another began in its stream.");
      if (isRecord(event.message)) addMessage(answer, event.message);
      return;
    case "message_delta":
      addEnd(answer, event.delta, event.usage);
      return;
    case "message_stop":
      finish(answer);
  }
}

function startBlock(answer: Answer, index: unknown, head: unknown): void {
  if (typeof index !== "number" || !isRecord(head) || typeof head.type !== "string")
    throw badChunk("begins a block without index or type");
  answer.begun = true;
  const block: Block = { head, index, fields: head, json: "", said: false };
  answer.open.set(index, block);
  if (head.type === "text") {
    separate(answer, "text");
    say(answer, "text", head.text ?? "");
  } else if (head.type === "thinking") {
    separate(answer, "reasoning");
    say(answer, "reasoning", head.thinking ?? "");
  } else if (head.type === "tool_use") {
    answer.unclosed = undefined;
    startCall(answer, index, head);
  }
}

function startCall({ chunks }: Answer, index: number, head: Fields): void {
  const { type: _type, id, name, input: _input, ...rest } = head;
  if (typeof name !== "string") throw badChunk("begins a call without a name");
  chunks.push({
    type: "call_start",
    index,
    name: anthropicToolNames.original(name),
    ...(typeof id === "string" && id !== "" && { id }),
    ...(Object.keys(rest).length > 0 && { opaque: tagged(anthropicName, rest as Json) }),
  });
}

function addDelta(answer: Answer, index: unknown, delta: unknown): void {
  const block = answer.open.get(index as number);
  if (!block || !isRecord(delta)) throw badChunk("continues a block that has not begun");
  switch (`${block.head.type} ${delta.type}`) {
    case "text text_delta":
      say(answer, "text", delta.text);
      return;
    case "thinking thinking_delta":
      say(answer, "reasoning", delta.thinking);
      return;
    case "thinking signature_delta":
      block.fields = { ...block.fields, signature: delta.signature };
      return;
    case "text citations_delta":
      block.fields = { ...block.fields, citations: [...listOf(block.fields.citations), delta.citation] };
      return;
    case "tool_use input_json_delta": {
      const text = textOf(delta.partial_json);
      block.said ||= text !== "";
      if (text) answer.chunks.push({ type: "call_delta", index: block.index, text });
      return;
    }
  }
  if (delta.type === "input_json_delta") block.json += textOf(delta.partial_json);
  else if (isOpaque(block)) block.fields = extended(block.fields, delta);
}

/** A delta of an unknown kind: texts grow, lists grow, the rest is replaced. */
function extended(fields: Fields, { type: _type, ...delta }: Fields): Fields {
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
    const citations = listOf(fields.citations);
    if (citations.length > 0) close(answer, "text", { citations } as Json);
  } else if (head.type === "thinking") {
    if (typeof fields.signature === "string" && fields.signature !== "")
      close(answer, "reasoning", { signature: fields.signature });
  } else if (head.type === "tool_use") {
    // Arguments that came whole, with the head of the call.
    if (!block.said && isRecord(head.input) && Object.keys(head.input).length > 0)
      answer.chunks.push({ type: "call_delta", index: block.index, text: JSON.stringify(head.input) });
  } else {
    answer.unclosed = undefined;
    answer.chunks.push({ type: "opaque", data: tagged(anthropicName, withInput(block)) });
  }
}

function withInput({ fields, json }: Block): Json {
  if (json === "") return fields as Json;
  try {
    return { ...fields, input: JSON.parse(json) } as Json;
  } catch (cause) {
    throw new AgentError("bad_chunk", "The arguments of a server tool are not JSON.", { cause });
  }
}

function isOpaque({ head: { type } }: Block): boolean {
  return type !== "text" && type !== "thinking" && type !== "tool_use";
}

function say(answer: Answer, type: "text" | "reasoning", said: unknown): void {
  const text = textOf(said);
  if (text === "") return;
  answer.chunks.push({ type, text });
  answer.unclosed = type;
}

function close(answer: Answer, type: "text" | "reasoning", data: Json): void {
  answer.chunks.push({ type, text: "", opaque: tagged(anthropicName, data) });
  answer.unclosed = undefined;
}

/** Two blocks stay two: citations and signatures belong to one of them. */
function separate(answer: Answer, type: "text" | "reasoning"): void {
  if (answer.unclosed === type) close(answer, type, {});
}

function addEnd(answer: Answer, delta: unknown, usage: unknown): void {
  if (isRecord(delta)) {
    answer.stopReason = delta.stop_reason ?? answer.stopReason;
    answer.container = delta.container ?? answer.container;
  }
  addUsage(answer, usage);
}

function finish(answer: Answer): void {
  for (const index of answer.open.keys()) stopBlock(answer, index);
  const { chunks, container, stopReason } = answer;
  // The container in which code ran has to be named in the requests of the same turn.
  if (isRecord(container))
    chunks.push({ type: "opaque", data: tagged(anthropicName, { container } as Json) });
  const usage = usageOf(answer.usage);
  if (usage) chunks.push({ type: "usage", usage });
  chunks.push({ type: "finish", reason: finishes.get(stopReason) ?? "other" });
  answer.ended = true;
}

/** The figures are totals: a later one takes the place of an earlier one. */
function addUsage(answer: Answer, usage: unknown): void {
  if (!isRecord(usage)) return;
  const told = Object.entries(usage).filter(([, figure]) => figure !== null && figure !== undefined);
  answer.usage = { ...answer.usage, ...Object.fromEntries(told) };
}

function usageOf(usage: Fields): Usage | undefined {
  if (typeof usage.input_tokens !== "number" && typeof usage.output_tokens !== "number") return undefined;
  const cached = figure(usage.cache_read_input_tokens);
  const details = usage.output_tokens_details;
  const thinking = isRecord(details) ? details.thinking_tokens : undefined;
  return {
    // Anthropic counts apart what was read from the cache and what was written to it.
    inputTokens: figure(usage.input_tokens) + cached + figure(usage.cache_creation_input_tokens),
    outputTokens: figure(usage.output_tokens),
    ...(typeof usage.cache_read_input_tokens === "number" && { cachedTokens: cached }),
    ...(typeof thinking === "number" && { reasoningTokens: thinking }),
  };
}

function figure(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  if (typeof value !== "string") throw badChunk("has no text where it must have some");
  return value;
}
