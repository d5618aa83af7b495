import { isRecord } from "../../base/json.ts";
import type { Chunk } from "../../kernel/model.ts";
import { readLogprobs } from "../logprobs.ts";
import { createInconsistencyError } from "../stream-identity.ts";
import { findRest } from "./completeness.ts";

type Item = { readonly [field: string]: unknown };

/** One output item, keyed by position and not by id: some gateways change the id in every event. */
export type OutputSlot = {
  readonly index: number;
  /** The provider's id of the item, as last reported. */
  itemId: unknown;
  /** Type of the item, once it is known. */
  type: unknown;
  /** Name of the function that the item calls. */
  name: string | undefined;
  isOpen: boolean;
  /** Text or arguments emitted so far. The end of the item adds what is missing. */
  text: string;
  /** Number of tokens whose probabilities were emitted. */
  logprobs: number;
  /** Reasoning was emitted, so the end of the item must not emit it again. */
  hasReasoning: boolean;
  /** The end of the response has the item too. */
  isConfirmed: boolean;
  /** Key of the current reasoning paragraph. */
  paragraph: string;
};

/** The items of one response. */
export type OutputSlots = Map<unknown, OutputSlot>;

export function getSlot(slots: OutputSlots, { output_index, item_id, item }: Item): OutputSlot {
  const key = output_index ?? item_id ?? (isRecord(item) ? item.id : undefined);
  const known = slots.get(key);
  if (known) return known;
  const slot: OutputSlot = {
    ...{ index: slots.size, itemId: undefined, type: undefined, name: undefined, isOpen: true, text: "" },
    ...{ logprobs: 0, hasReasoning: false, isConfirmed: false, paragraph: "" },
  };
  slots.set(key, slot);
  return slot;
}

/** Sets the type of an item. It never changes, except in a stream that started over. */
export function setType(slot: OutputSlot, type: unknown): void {
  slot.type ??= type;
  if (type !== slot.type)
    throw createInconsistencyError(
      `an item of the type ${String(slot.type)} became one of the type ${String(type)}`,
    );
}

export function emitText(slot: OutputSlot, text: string): readonly Chunk[] {
  setType(slot, "message");
  slot.text += text;
  return text === "" ? [] : [{ type: "text", text }];
}

export function emitLogprobs(slot: OutputSlot, list: readonly unknown[]): readonly Chunk[] {
  slot.logprobs += list.length;
  return readLogprobs(list);
}

export function emitArguments(slot: OutputSlot, text: string): readonly Chunk[] {
  setType(slot, "function_call");
  slot.text += text;
  return text === "" ? [] : [{ type: "call_delta", index: slot.index, text }];
}

export function completeArguments(slot: OutputSlot, whole: unknown): readonly Chunk[] {
  return emitArguments(slot, typeof whole === "string" ? findRest(slot.text, whole, "arguments") : "");
}

/** Separates the paragraphs of a summary by an empty line. */
export function emitReasoning(slot: OutputSlot, paragraph: string, text: string): readonly Chunk[] {
  const isNext = slot.hasReasoning && slot.paragraph !== paragraph;
  slot.paragraph = paragraph;
  if (text) slot.hasReasoning = true;
  return [{ type: "reasoning", text: isNext ? `\n\n${text}` : text }];
}

/** Positions may differ: a gateway may drop items. */
export function findSlot(slots: OutputSlots, item: unknown): OutputSlot | undefined {
  if (!isRecord(item) || item.id === undefined) return undefined;
  for (const slot of slots.values()) if (slot.itemId === item.id) return slot;
  return slots.get(item.id);
}

/** Everything that was streamed has to be in the complete response. */
export function assertAllConfirmed(slots: OutputSlots): void {
  for (const { text, name, isConfirmed } of slots.values())
    if (!isConfirmed && (text !== "" || name !== undefined))
      throw createInconsistencyError("the complete response lacks a part that was streamed");
}
