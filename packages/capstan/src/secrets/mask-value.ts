import { isRecord } from "../json.ts";
import type { Mask } from "./json-text.ts";

/** What is asked about the texts and numbers of a value. What they leave alone stays the same object. */
export type ValueMasks = {
  readonly text: Mask;
  /** Left out where no secret can be a number. */
  readonly number?: ((number: number) => number | string) | undefined;
};

/** Deeper than any data that is meant to be read; beyond it a walk could end the call stack. */
const deepest = 500;

/** Masks every text, key and number of a value. What is not plain JSON becomes the JSON that it would be stored as. */
export function maskedValue(value: unknown, masks: ValueMasks, depth = 0): unknown {
  if (typeof value === "string") return masks.text(value);
  if (typeof value === "number") return masks.number ? masks.number(value) : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value) && depth < deepest)
    return withItems(value, (item) => maskedValue(item, masks, depth + 1));
  if (!isPlain(value) || depth >= deepest) return fromJson(value, masks, depth);
  const masked = withMembers(value, (_, member) => maskedValue(member, masks, depth + 1));
  return Object.keys(masked).every((key) => masks.text(key) === key)
    ? masked
    : Object.fromEntries(Object.entries(masked).map(([key, member]) => [masks.text(key), member]));
}

/** The same array when nothing in it changes. */
export function withItems(items: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (const [index, item] of items.entries()) {
    const next = change(item);
    if (next === item) continue;
    changed ??= [...items];
    changed[index] = next;
  }
  return changed ?? items;
}

/** The same object when nothing in it changes. */
export function withMembers<Members extends object>(
  members: Members,
  change: (key: string, member: unknown) => unknown,
): Members {
  let changed: [string, unknown][] | undefined;
  for (const [key, member] of Object.entries(members)) {
    const next = change(key, member);
    if (next === member) continue;
    changed ??= Object.entries(members);
    changed.push([key, next]);
  }
  // Not by assignment: a key may be "__proto__".
  return changed ? (Object.fromEntries(changed) as Members) : members;
}

function isPlain(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return isRecord(value) && (prototype === Object.prototype || prototype === null);
}

/** An instance, a value inside itself, or one too deep to walk. */
function fromJson(value: object, masks: ValueMasks, depth: number): unknown {
  try {
    const text = JSON.stringify(value);
    return depth >= deepest ? masks.text(text) : maskedValue(JSON.parse(text), masks, depth + 1);
  } catch {
    return "[not JSON]";
  }
}
