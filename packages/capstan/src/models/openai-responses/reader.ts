import { AgentError } from "../../errors.ts";
import { isRecord, type Json } from "../../json.ts";
import type { Chunk, Finish, Usage } from "../../model.ts";
import { tagged, type WireEvent, type WireReader } from "../wire.ts";
import { responsesFailure } from "./failure.ts";
import { responsesToolNames } from "./tools.ts";

export const responsesName = "openai-responses";

type Item = { readonly [field: string]: unknown };

/** One item of the output. Kept by its place, never by its id: some gateways give an item another id in every event. */
type Slot = {
  readonly index: number;
  isOpen: boolean;
  /** Something of it was told, so its end does not tell it again. */
  said: boolean;
  /** The paragraph of reasoning that is being told. */
  paragraph: string;
};

type Reading = {
  readonly slots: Map<unknown, Slot>;
  hasCalls: boolean;
  /** A call that the provider itself calls unfinished. */
  hasCutCall: boolean;
  isRefused: boolean;
  isOver: boolean;
};

const newReading = (): Reading => ({
  slots: new Map(),
  hasCalls: false,
  hasCutCall: false,
  isRefused: false,
  isOver: false,
});

export function responsesReader(): WireReader {
  const reading = newReading();
  return {
    read({ event, data }: WireEvent): readonly Chunk[] {
      if (reading.isOver || data.trim() === "[DONE]") return [];
      const parsed = parse(data);
      const type = typeof parsed.type === "string" ? parsed.type : event;
      return readEvent(reading, type, parsed);
    },
  };
}

export function responsesFromJson(body: unknown): readonly Chunk[] {
  if (!isRecord(body)) throw new AgentError("bad_chunk", "The model's answer is not a JSON object.");
  if (isRecord(body.error)) throw responsesFailure(body.error);
  return ended(newReading(), body, undefined);
}

function parse(data: string): Item {
  try {
    const parsed: unknown = JSON.parse(data);
    if (isRecord(parsed)) return parsed;
  } catch (cause) {
    throw new AgentError("bad_chunk", "An event of the model's stream is not JSON.", { cause });
  }
  throw new AgentError("bad_chunk", "An event of the model's stream is not a JSON object.");
}

function readEvent(reading: Reading, type: string | undefined, event: Item): readonly Chunk[] {
  switch (type) {
    case "response.output_text.delta":
      slotOf(reading, event).said = true;
      return [{ type: "text", text: deltaOf(event) }];
    case "response.function_call_arguments.delta": {
      const slot = slotOf(reading, event);
      const text = deltaOf(event);
      if (text) slot.said = true;
      return [{ type: "call_delta", index: slot.index, text }];
    }
    case "response.function_call_arguments.done":
      return argumentsOnce(slotOf(reading, event), event.arguments);
    case "response.reasoning_summary_text.delta":
      return reasoned(slotOf(reading, event), `summary ${event.summary_index}`, deltaOf(event));
    case "response.reasoning_text.delta":
      return reasoned(slotOf(reading, event), `content ${event.content_index}`, deltaOf(event));
    case "response.refusal.delta":
      reading.isRefused = true;
      slotOf(reading, event).said = true;
      return [{ type: "text", text: deltaOf(event) }];
    case "response.output_item.added":
      return begun(reading, slotOf(reading, event), event.item);
    case "response.output_item.done":
      return closed(reading, slotOf(reading, event), event.item);
    case "response.completed":
    case "response.incomplete":
    case "response.failed":
      return ended(reading, event.response, type.slice("response.".length));
    case "error":
      throw responsesFailure(isRecord(event.error) ? event.error : event);
    default: // what is new on this wire belongs to an item, and the end of the item has it whole
      if (type === undefined && isRecord(event.error)) throw responsesFailure(event.error);
      return [];
  }
}

function slotOf({ slots }: Reading, { output_index, item_id, item }: Item): Slot {
  const key = output_index ?? item_id ?? (isRecord(item) ? item.id : undefined);
  const known = slots.get(key);
  if (known) return known;
  const slot: Slot = { index: slots.size, isOpen: true, said: false, paragraph: "" };
  slots.set(key, slot);
  return slot;
}

function deltaOf({ delta }: Item): string {
  if (typeof delta === "string") return delta;
  throw new AgentError("bad_chunk", "A piece of the model's answer has no text.");
}

function argumentsOnce(slot: Slot, text: unknown): readonly Chunk[] {
  if (slot.said || typeof text !== "string" || text === "") return [];
  slot.said = true;
  return [{ type: "call_delta", index: slot.index, text }];
}

/** Paragraphs of a summary are told apart by an empty line. */
function reasoned(slot: Slot, paragraph: string, text: string): readonly Chunk[] {
  const isNext = slot.said && slot.paragraph !== paragraph;
  slot.paragraph = paragraph;
  if (text) slot.said = true;
  return [{ type: "reasoning", text: isNext ? `\n\n${text}` : text }];
}

function begun(reading: Reading, slot: Slot, item: unknown): readonly Chunk[] {
  return isRecord(item) && item.type === "function_call" ? [callHead(reading, slot, item)] : [];
}

function callHead(reading: Reading, { index }: Slot, item: Item): Extract<Chunk, { type: "call_start" }> {
  reading.hasCalls = true;
  const name = responsesToolNames.original(typeof item.name === "string" ? item.name : "");
  const id = typeof item.call_id === "string" && item.call_id ? item.call_id : undefined;
  return { type: "call_start", index, name, ...(id !== undefined && { id }) };
}

/** The end of an item: what no delta told, and the provider's own data. */
function closed(reading: Reading, slot: Slot, item: unknown): readonly Chunk[] {
  if (!isRecord(item) || !slot.isOpen) return [];
  slot.isOpen = false;
  switch (item.type) {
    case "message":
      return closedMessage(reading, slot, item);
    case "reasoning":
      return closedReasoning(slot, item);
    case "function_call":
      return closedCall(reading, slot, item);
    default:
      return [{ type: "opaque", data: own(item) }];
  }
}

function closedMessage(reading: Reading, slot: Slot, item: Item): readonly Chunk[] {
  const { content, role: _role, type: _type, status: _status, ...head } = item;
  const parts = Array.isArray(content) ? content.filter(isRecord) : [];
  if (parts.some((part) => part.type === "refusal")) reading.isRefused = true;
  const text = slot.said ? "" : parts.map((part) => String(part.text ?? part.refusal ?? "")).join("");
  if (!slot.said && !text) return [];
  // A plain message is written again from its text; one with citations, refusals or several parts is kept whole.
  const isPlain = parts.length <= 1 && parts.every(isPlainText);
  const opaque = isPlain ? own(head) : own({ ...head, content: parts.map(withoutLogprobs) });
  return [{ type: "text", text, opaque }];
}

function isPlainText({ type, annotations }: Item): boolean {
  return type === "output_text" && !(Array.isArray(annotations) && annotations.length > 0);
}

function withoutLogprobs({ logprobs: _logprobs, ...part }: Item): Item {
  return part;
}

function closedReasoning(slot: Slot, item: Item): readonly Chunk[] {
  const text = slot.said ? "" : [...textsIn(item.summary), ...textsIn(item.content)].join("\n\n");
  return [{ type: "reasoning", text, opaque: own(item) }];
}

function textsIn(parts: unknown): string[] {
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part) => (isRecord(part) && typeof part.text === "string" ? [part.text] : []));
}

function closedCall(reading: Reading, slot: Slot, item: Item): readonly Chunk[] {
  const { arguments: text, name: _name, call_id: _callId, type: _type, status, ...rest } = item;
  if (status === "incomplete") reading.hasCutCall = true;
  // The head again: a stream may have had no beginning of this item, and only its end has all of it.
  return [{ ...callHead(reading, slot, item), opaque: own(rest) }, ...argumentsOnce(slot, text)];
}

/** Without null fields: the API answers with them and refuses them. */
function own(item: Item): Json {
  const fields = Object.entries(item).filter(([, value]) => value !== null && value !== undefined);
  return tagged(responsesName, Object.fromEntries(fields) as { [field: string]: Json });
}

function ended(reading: Reading, response: unknown, event: string | undefined): readonly Chunk[] {
  const { status = event, output, usage, error, incomplete_details } = isRecord(response) ? response : {};
  if (event === "failed" || status === "failed" || status === "cancelled")
    throw responsesFailure(isRecord(error) ? error : { message: `The model's answer ${String(status)}.` });
  const chunks: Chunk[] = [];
  if (Array.isArray(output)) {
    for (const [place, item] of output.entries()) {
      const known = isRecord(item) ? reading.slots.get(item.id) : undefined;
      chunks.push(...closed(reading, known ?? slotOf(reading, { output_index: place }), item));
    }
  }
  if (isRecord(usage)) chunks.push(...usageOf(usage));
  const reason = finishOf(reading, status, incomplete_details);
  if (reason) chunks.push({ type: "finish", reason });
  reading.isOver = true;
  return chunks;
}

function finishOf(reading: Reading, status: unknown, details: unknown): Finish | undefined {
  if (status === "incomplete") {
    const reason = isRecord(details) ? details.reason : undefined;
    if (reason === "max_output_tokens") return "length";
    return reason === "content_filter" ? "content_filter" : "other";
  }
  // An answer that is still being made (a background response) has no end.
  if (status !== "completed") return undefined;
  if (reading.isRefused) return "content_filter";
  if (reading.hasCutCall) return "length";
  return reading.hasCalls ? "tool_calls" : "stop";
}

function usageOf(usage: Item): readonly Chunk[] {
  const inputTokens = count(usage.input_tokens);
  const outputTokens = count(usage.output_tokens);
  if (inputTokens === undefined || outputTokens === undefined) return [];
  const cachedTokens = isRecord(usage.input_tokens_details)
    ? count(usage.input_tokens_details.cached_tokens)
    : undefined;
  const reasoningTokens = isRecord(usage.output_tokens_details)
    ? count(usage.output_tokens_details.reasoning_tokens)
    : undefined;
  const told: Usage = {
    inputTokens,
    outputTokens,
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(count(usage.cost) !== undefined && { cost: usage.cost as number }),
  };
  return [{ type: "usage", usage: told }];
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
