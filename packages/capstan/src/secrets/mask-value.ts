import { isRecord } from "../base/json.ts";
import type { MaskText } from "./json-text.ts";

/** Masks for the strings and numbers of a value. */
export type ValueMasks = {
  readonly text: MaskText;
  /** Missing if no secret can be a number. */
  readonly number?: ((number: number) => number | string) | undefined;
};

/** Deeper values could overflow the stack. */
const maxDepth = 500;

/** Masks every string, key and number of a value. A value that is not plain JSON is converted as it would be stored. */
export function maskValue(value: unknown, masks: ValueMasks, depth = 0): unknown {
  if (typeof value === "string") return masks.text(value);
  if (typeof value === "number") return masks.number ? masks.number(value) : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value) && depth < maxDepth)
    return mapItems(value, (item) => maskValue(item, masks, depth + 1));
  if (!isPlain(value) || depth >= maxDepth) return maskAsJson(value, masks, depth);
  const masked = mapMembers(value, (_, member) => maskValue(member, masks, depth + 1));
  return Object.keys(masked).every((key) => masks.text(key) === key)
    ? masked
    : Object.fromEntries(Object.entries(masked).map(([key, member]) => [masks.text(key), member]));
}

/** Returns the same array if no item changes. */
export function mapItems(items: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (const [index, item] of items.entries()) {
    const next = change(item);
    if (next === item) continue;
    changed ??= [...items];
    changed[index] = next;
  }
  return changed ?? items;
}

/** Returns the same object if no member changes. */
export function mapMembers<Members extends object>(
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
  // Not by assignment, because a key may be "__proto__".
  return changed ? (Object.fromEntries(changed) as Members) : members;
}

function isPlain(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return isRecord(value) && (prototype === Object.prototype || prototype === null);
}

/** Handles class instances, circular values and values that are too deep. */
function maskAsJson(value: object, masks: ValueMasks, depth: number): unknown {
  try {
    const text = JSON.stringify(value);
    return depth >= maxDepth ? masks.text(text) : maskValue(JSON.parse(text), masks, depth + 1);
  } catch {
    return "[not JSON]";
  }
}
