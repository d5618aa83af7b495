import { AgentError } from "../../errors.ts";
import { isRecord, type Json } from "../../json.ts";
import type { Chunk, StopReason, Usage } from "../../model.ts";
import { createFinish, tagData, type WireEvent, type WireReader } from "../wire.ts";
import { toResponsesError } from "./failure.ts";
import { responsesToolNames, toWireId } from "./tools.ts";

export const responsesName = "openai-responses";

type Item = { readonly [field: string]: unknown };

/** One output item, keyed by position and not by id: some gateways change the id in every event. */
type OutputSlot = {
  readonly index: number;
  isOpen: boolean;
  /** Content was emitted, so the end of the item must not emit it again. */
  hasContent: boolean;
  /** Key of the current reasoning paragraph. */
  paragraph: string;
};

type ResponsesReaderState = {
  readonly slots: Map<unknown, OutputSlot>;
  hasCalls: boolean;
  /** The provider reported a call as incomplete. */
  hasIncompleteCall: boolean;
  isRefused: boolean;
  isEnded: boolean;
};

const createResponsesState = (): ResponsesReaderState => ({
  slots: new Map(),
  hasCalls: false,
  hasIncompleteCall: false,
  isRefused: false,
  isEnded: false,
});

export function createResponsesReader(): WireReader {
  const state = createResponsesState();
  return {
    read({ event, data }: WireEvent): readonly Chunk[] {
      if (state.isEnded || data.trim() === "[DONE]") return [];
      const parsed = parseEvent(data);
      const type = typeof parsed.type === "string" ? parsed.type : event;
      return readResponsesEvent(state, type, parsed);
    },
  };
}

export function parseResponse(body: unknown): readonly Chunk[] {
  if (!isRecord(body)) throw new AgentError("bad_chunk", "The model's response is not a JSON object.");
  if (isRecord(body.error)) throw toResponsesError(body.error);
  return finishResponse(createResponsesState(), body, undefined);
}

function parseEvent(data: string): Item {
  try {
    const parsed: unknown = JSON.parse(data);
    if (isRecord(parsed)) return parsed;
  } catch (cause) {
    throw new AgentError("bad_chunk", "A stream event is not JSON.", { cause });
  }
  throw new AgentError("bad_chunk", "A stream event is not a JSON object.");
}

function readResponsesEvent(
  state: ResponsesReaderState,
  type: string | undefined,
  event: Item,
): readonly Chunk[] {
  switch (type) {
    case "response.output_text.delta":
      getSlot(state, event).hasContent = true;
      return [{ type: "text", text: getDelta(event) }];
    case "response.function_call_arguments.delta": {
      const slot = getSlot(state, event);
      const text = getDelta(event);
      if (text) slot.hasContent = true;
      return [{ type: "call_delta", index: slot.index, text }];
    }
    case "response.function_call_arguments.done":
      return emitArgumentsOnce(getSlot(state, event), event.arguments);
    case "response.reasoning_summary_text.delta":
      return emitReasoning(getSlot(state, event), `summary ${event.summary_index}`, getDelta(event));
    case "response.reasoning_text.delta":
      return emitReasoning(getSlot(state, event), `content ${event.content_index}`, getDelta(event));
    case "response.refusal.delta":
      state.isRefused = true;
      getSlot(state, event).hasContent = true;
      return [{ type: "text", text: getDelta(event) }];
    case "response.output_item.added":
      return startItem(state, getSlot(state, event), event.item);
    case "response.output_item.done":
      return closeItem(state, getSlot(state, event), event.item);
    case "response.completed":
    case "response.incomplete":
    case "response.failed":
      return finishResponse(state, event.response, type.slice("response.".length));
    case "error":
      throw toResponsesError(isRecord(event.error) ? event.error : event);
    default: // unknown deltas belong to an item, which arrives complete at its end
      if (type === undefined && isRecord(event.error)) throw toResponsesError(event.error);
      return [];
  }
}

function getSlot({ slots }: ResponsesReaderState, { output_index, item_id, item }: Item): OutputSlot {
  const key = output_index ?? item_id ?? (isRecord(item) ? item.id : undefined);
  const known = slots.get(key);
  if (known) return known;
  const slot: OutputSlot = { index: slots.size, isOpen: true, hasContent: false, paragraph: "" };
  slots.set(key, slot);
  return slot;
}

function getDelta({ delta }: Item): string {
  if (typeof delta === "string") return delta;
  throw new AgentError("bad_chunk", "A stream delta has no text.");
}

function emitArgumentsOnce(slot: OutputSlot, text: unknown): readonly Chunk[] {
  if (slot.hasContent || typeof text !== "string" || text === "") return [];
  slot.hasContent = true;
  return [{ type: "call_delta", index: slot.index, text }];
}

/** Separates the paragraphs of a summary by an empty line. */
function emitReasoning(slot: OutputSlot, paragraph: string, text: string): readonly Chunk[] {
  const isNext = slot.hasContent && slot.paragraph !== paragraph;
  slot.paragraph = paragraph;
  if (text) slot.hasContent = true;
  return [{ type: "reasoning", text: isNext ? `\n\n${text}` : text }];
}

function startItem(state: ResponsesReaderState, slot: OutputSlot, item: unknown): readonly Chunk[] {
  return isRecord(item) && item.type === "function_call" ? [toCallStart(state, slot, item)] : [];
}

function toCallStart(
  state: ResponsesReaderState,
  { index }: OutputSlot,
  item: Item,
): Extract<Chunk, { type: "call_start" }> {
  state.hasCalls = true;
  const name = responsesToolNames.decodeName(typeof item.name === "string" ? item.name : "");
  const id = typeof item.call_id === "string" && item.call_id ? item.call_id : undefined;
  return { type: "call_start", index, name, ...(id !== undefined && { id }) };
}

/** Emits content that no delta carried, and the provider's own data. */
function closeItem(state: ResponsesReaderState, slot: OutputSlot, item: unknown): readonly Chunk[] {
  if (!isRecord(item) || !slot.isOpen) return [];
  slot.isOpen = false;
  switch (item.type) {
    case "message":
      return closeMessage(state, slot, item);
    case "reasoning":
      return closeReasoning(slot, item);
    case "function_call":
      return closeCall(state, slot, item);
    default:
      return [{ type: "opaque", data: tagItem(item) }];
  }
}

function closeMessage(state: ResponsesReaderState, slot: OutputSlot, item: Item): readonly Chunk[] {
  const { content, role: _role, type: _type, status: _status, ...head } = item;
  const parts = Array.isArray(content) ? content.filter(isRecord) : [];
  if (parts.some((part) => part.type === "refusal")) state.isRefused = true;
  const text = slot.hasContent ? "" : parts.map((part) => String(part.text ?? part.refusal ?? "")).join("");
  if (!slot.hasContent && !text) return [];
  // A plain message is rebuilt from its text; one with citations, refusals or several parts is kept unchanged.
  const isPlain = parts.length <= 1 && parts.every(isPlainText);
  const opaque = isPlain ? tagItem(head) : tagItem({ ...head, content: parts.map(omitLogprobs) });
  return [{ type: "text", text, opaque }];
}

function isPlainText({ type, annotations }: Item): boolean {
  return type === "output_text" && !(Array.isArray(annotations) && annotations.length > 0);
}

function omitLogprobs({ logprobs: _logprobs, ...part }: Item): Item {
  return part;
}

function closeReasoning(slot: OutputSlot, item: Item): readonly Chunk[] {
  const text = slot.hasContent
    ? ""
    : [...collectTexts(item.summary), ...collectTexts(item.content)].join("\n\n");
  return [{ type: "reasoning", text, opaque: tagItem(item) }];
}

function collectTexts(parts: unknown): string[] {
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part) => (isRecord(part) && typeof part.text === "string" ? [part.text] : []));
}

function closeCall(state: ResponsesReaderState, slot: OutputSlot, item: Item): readonly Chunk[] {
  const { arguments: text, name: _name, call_id: callId, type: _type, status, ...rest } = item;
  if (status === "incomplete") state.hasIncompleteCall = true;
  // Emits the start again: the stream may have lacked the start of this item, and only its end is complete.
  const isLong = typeof callId === "string" && toWireId(callId) !== callId;
  const opaque = tagItem(isLong ? { ...rest, call_id: callId } : rest);
  return [{ ...toCallStart(state, slot, item), opaque }, ...emitArgumentsOnce(slot, text)];
}

/** Drops null fields: the API returns them but does not accept them. */
function tagItem(item: Item): Json {
  const fields = Object.entries(item).filter(([, value]) => value !== null && value !== undefined);
  return tagData(responsesName, Object.fromEntries(fields) as { [field: string]: Json });
}

function finishResponse(
  state: ResponsesReaderState,
  response: unknown,
  event: string | undefined,
): readonly Chunk[] {
  const { status = event, output, usage, error, incomplete_details } = isRecord(response) ? response : {};
  if (event === "failed" || status === "failed" || status === "cancelled")
    throw toResponsesError(isRecord(error) ? error : { message: `The model's response ${String(status)}.` });
  const chunks: Chunk[] = [];
  if (Array.isArray(output)) {
    for (const [index, item] of output.entries()) {
      const known = isRecord(item) ? state.slots.get(item.id) : undefined;
      chunks.push(...closeItem(state, known ?? getSlot(state, { output_index: index }), item));
    }
  }
  if (isRecord(usage)) chunks.push(...toUsageChunks(usage));
  const detail = isRecord(incomplete_details) ? incomplete_details.reason : undefined;
  const reason = resolveStopReason(state, status, detail);
  if (reason) chunks.push(createFinish(reason, detail));
  state.isEnded = true;
  return chunks;
}

/** Why an incomplete response ended. `max_tool_calls` limits built-in tools. */
const incompleteReasons: ReadonlyMap<unknown, StopReason> = new Map<unknown, StopReason>([
  ["max_output_tokens", "length"],
  ["max_tokens", "length"],
  ["content_filter", "content_filter"],
  ["max_tool_calls", "other"],
]);

function resolveStopReason(
  state: ResponsesReaderState,
  status: unknown,
  detail: unknown,
): StopReason | undefined {
  if (status === "incomplete") return incompleteReasons.get(detail) ?? "other";
  // A response still in progress (background mode) has no finish reason.
  if (status !== "completed") return undefined;
  if (state.isRefused) return "refusal";
  if (state.hasIncompleteCall) return "length";
  return state.hasCalls ? "tool_calls" : "end";
}

function toUsageChunks(usage: Item): readonly Chunk[] {
  const inputTokens = toCount(usage.input_tokens);
  const outputTokens = toCount(usage.output_tokens);
  if (inputTokens === undefined || outputTokens === undefined) return [];
  const cachedTokens = isRecord(usage.input_tokens_details)
    ? toCount(usage.input_tokens_details.cached_tokens)
    : undefined;
  const reasoningTokens = isRecord(usage.output_tokens_details)
    ? toCount(usage.output_tokens_details.reasoning_tokens)
    : undefined;
  const tokenUsage: Usage = {
    inputTokens,
    outputTokens,
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(toCount(usage.cost) !== undefined && { cost: usage.cost as number }),
  };
  return [{ type: "usage", usage: tokenUsage }];
}

function toCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
