import { AgentError } from "../../base/errors.ts";
import { isRecord, type Json } from "../../base/json.ts";
import type { HostedToolSpec } from "../../kernel/hosted-tool.ts";
import type { Chunk, StopReason } from "../../kernel/model.ts";
import { createEventShapes } from "../event-shapes.ts";
import { createInconsistencyError } from "../stream-identity.ts";
import { createFinish, tagData, toList, type WireEvent, type WireReader } from "../wire.ts";
import { findClientCall } from "./client-calls.ts";
import { createSequence, findRest, type Sequence } from "./completeness.ts";
import { toResponsesError } from "./failure.ts";
import { toCitationChunks, toHostedChunks } from "./hosted.ts";
import { readGeneratedImage } from "./media.ts";
import {
  assertAllConfirmed,
  completeArguments,
  emitArguments,
  emitLogprobs,
  emitReasoning,
  emitText,
  findSlot,
  getSlot,
  type OutputSlot,
  type OutputSlots,
  setType,
} from "./slots.ts";
import { responsesToolNames, toWireId } from "./tools.ts";
import { toUsageChunks } from "./usage.ts";

export const responsesName = "openai-responses";

type Item = { readonly [field: string]: unknown };

type ResponsesReaderState = {
  readonly slots: OutputSlots;
  readonly sequence: Sequence;
  /** Of the request. */
  readonly hosted: HostedTools;
  hasCalls: boolean;
  /** The provider reported a call as incomplete. */
  hasIncompleteCall: boolean;
  isRefused: boolean;
  isEnded: boolean;
};

type HostedTools = readonly HostedToolSpec[];

const createResponsesState = (hosted: HostedTools): ResponsesReaderState => ({
  slots: new Map(),
  sequence: createSequence(),
  hosted,
  hasCalls: false,
  hasIncompleteCall: false,
  isRefused: false,
  isEnded: false,
});

/** Fields that differ between the events of a stream. */
const shapes = createEventShapes([
  "sequence_number",
  "item_id",
  "output_index",
  "content_index",
  "summary_index",
  "delta",
  "obfuscation",
]);

export function createResponsesReader(hosted: HostedTools = []): WireReader {
  const state = createResponsesState(hosted);
  return {
    read({ event, data }: WireEvent): readonly Chunk[] {
      if (state.isEnded || data.trim() === "[DONE]") return [];
      return readNumberedEvent(state, event, parseResponsesEvent(data));
    },
    repeated: {
      shapes,
      read(value, event, chunks) {
        if (state.isEnded) return;
        for (const chunk of readNumberedEvent(state, event, value)) chunks.push(chunk);
      },
    },
  };
}

function readNumberedEvent(
  state: ResponsesReaderState,
  event: string | undefined,
  parsed: Item,
): readonly Chunk[] {
  const type = typeof parsed.type === "string" ? parsed.type : event;
  state.sequence.check(parsed.sequence_number);
  return readResponsesEvent(state, type, parsed);
}

export function parseResponse(body: unknown, hosted: HostedTools = []): readonly Chunk[] {
  if (!isRecord(body)) throw new AgentError("bad_chunk", "The model's response is not a JSON object.");
  if (isRecord(body.error)) throw toResponsesError(body.error);
  return finishResponse(createResponsesState(hosted), body, undefined);
}

function parseResponsesEvent(data: string): Item {
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
    case "response.created":
      // Some proxies repeat the first event; some start over after their upstream failed.
      if (state.slots.size > 0) throw createInconsistencyError("a second response started in it");
      return [];
    case "response.output_text.delta": {
      const slot = getSlot(state.slots, event);
      const chunks = emitText(slot, getDelta(event));
      const logprobs = toList(event.logprobs);
      return logprobs.length === 0 ? chunks : [...chunks, ...emitLogprobs(slot, logprobs)];
    }
    case "response.function_call_arguments.delta":
      return emitArguments(getSlot(state.slots, event), getDelta(event));
    case "response.function_call_arguments.done":
      return completeArguments(getSlot(state.slots, event), event.arguments);
    case "response.reasoning_summary_text.delta":
      return emitReasoning(getSlot(state.slots, event), `summary ${event.summary_index}`, getDelta(event));
    case "response.reasoning_text.delta":
      return emitReasoning(getSlot(state.slots, event), `content ${event.content_index}`, getDelta(event));
    case "response.refusal.delta":
      state.isRefused = true;
      return emitText(getSlot(state.slots, event), getDelta(event));
    case "response.output_item.added":
      return startItem(state, getSlot(state.slots, event), event.item);
    case "response.output_item.done":
      return closeItem(state, getSlot(state.slots, event), event.item);
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

function getDelta({ delta }: Item): string {
  if (typeof delta === "string") return delta;
  throw new AgentError("bad_chunk", "A stream delta has no text.");
}

function startItem(state: ResponsesReaderState, slot: OutputSlot, item: unknown): readonly Chunk[] {
  if (!isRecord(item)) return [];
  slot.itemId = item.id;
  setType(slot, item.type);
  if (item.type === "message" || item.type === "reasoning") return [];
  return item.type === "function_call" ? [toCallStart(state, slot, item)] : toHostedChunks(item, false);
}

function toCallStart(
  state: ResponsesReaderState,
  slot: OutputSlot,
  item: Item,
): Extract<Chunk, { type: "call_start" }> {
  state.hasCalls = true;
  const { index } = slot;
  const name = responsesToolNames.decodeName(typeof item.name === "string" ? item.name : "");
  slot.name ||= name;
  if (name !== slot.name) throw createInconsistencyError(`a call of "${slot.name}" became one of "${name}"`);
  const id = typeof item.call_id === "string" && item.call_id ? item.call_id : undefined;
  return { type: "call_start", index, name, ...(id !== undefined && { id }) };
}

/** Emits content that no delta carried, and the provider's own data. Throws if it differs from what was streamed. */
function closeItem(state: ResponsesReaderState, slot: OutputSlot, item: unknown): readonly Chunk[] {
  if (!isRecord(item)) return [];
  slot.itemId = item.id;
  setType(slot, item.type);
  if (!slot.isOpen) return compareItem(slot, item);
  slot.isOpen = false;
  switch (item.type) {
    case "message":
      return closeMessage(state, slot, item);
    case "reasoning":
      return closeReasoning(slot, item);
    case "function_call":
      return closeCall(state, slot, item);
    case "image_generation_call":
      return [readGeneratedImage(item, tagItem), ...toHostedChunks(item, true)];
    default:
      return closeOther(state, slot, item);
  }
}

function closeOther(state: ResponsesReaderState, slot: OutputSlot, item: Item): readonly Chunk[] {
  const opaque = tagItem(item);
  const call = findClientCall(item, state.hosted);
  if (!call) return [{ type: "opaque", data: opaque }, ...toHostedChunks(item, true)];
  state.hasCalls = true;
  const { index } = slot;
  return [
    { type: "call_start", index, id: call.id, name: call.name, opaque },
    { type: "call_delta", index, text: JSON.stringify(call.input) },
  ];
}

function closeMessage(state: ResponsesReaderState, slot: OutputSlot, item: Item): readonly Chunk[] {
  const { content, role: _role, type: _type, status: _status, ...head } = item;
  const parts = Array.isArray(content) ? content.filter(isRecord) : [];
  if (parts.some((part) => part.type === "refusal")) state.isRefused = true;
  const text = findRest(slot.text, joinTextParts(parts), "text");
  slot.text += text;
  if (slot.text === "") return [];
  // A plain message is rebuilt from its text; one with citations, refusals or several parts is kept unchanged.
  const isPlain = parts.length <= 1 && parts.every(isPlainText);
  const opaque = isPlain ? tagItem(head) : tagItem({ ...head, content: parts.map(omitLogprobs) });
  const logprobs = parts.flatMap((part) => toList(part.logprobs)).slice(slot.logprobs);
  const citations = isPlain ? [] : toCitationChunks(parts);
  return [{ type: "text", text, opaque }, ...citations, ...emitLogprobs(slot, logprobs)];
}

function joinTextParts(parts: readonly Item[]): string {
  return parts.map((part) => String(part.text ?? part.refusal ?? "")).join("");
}

/** Compares an item that has already ended with its copy at the end of the response. */
function compareItem(slot: OutputSlot, item: Item): readonly Chunk[] {
  if (item.type === "function_call") return completeArguments(slot, item.arguments);
  if (item.type !== "message" || !Array.isArray(item.content)) return [];
  return emitText(slot, findRest(slot.text, joinTextParts(item.content.filter(isRecord)), "text"));
}

function isPlainText({ type, annotations }: Item): boolean {
  return type === "output_text" && !(Array.isArray(annotations) && annotations.length > 0);
}

function omitLogprobs({ logprobs: _logprobs, ...part }: Item): Item {
  return part;
}

function closeReasoning(slot: OutputSlot, item: Item): readonly Chunk[] {
  const text = slot.hasReasoning
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
  return [{ ...toCallStart(state, slot, item), opaque }, ...completeArguments(slot, text)];
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
  const items = Array.isArray(output) ? output : [];
  for (const [index, item] of items.entries()) {
    const slot = findSlot(state.slots, item) ?? getSlot(state.slots, { output_index: index });
    slot.isConfirmed = true;
    chunks.push(...closeItem(state, slot, item));
  }
  // Some servers leave the output of the complete response empty.
  if (items.length > 0) assertAllConfirmed(state.slots);
  else if (state.sequence.hasGap()) throw createInconsistencyError("events are missing");
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
