export type Container = Record<string | number, unknown>;
/** A part of a text that varies, and where its value belongs. */
export type Field = {
  readonly container: Container;
  readonly key: string | number;
  /** `space` is the padding by which a provider hides the length of a text. */
  readonly type: "text" | "number" | "space";
};
export type LocatedField = Field & { readonly start: number; readonly end: number };

/** Constant text around fields. */
export type Pattern = {
  /** The text before the first field. */
  readonly head: string;
  /** The fields in the order of the text, and the text after each of them. */
  readonly fields: readonly Field[];
  readonly tails: readonly string[];
  /** Where the fields ended in the text that was read last. */
  readonly ends: number[];
};

/** A part of a text. */
export type Passage = { readonly text: string; readonly start: number; readonly end: number };

export function createPattern(located: readonly LocatedField[], { text, start, end }: Passage): Pattern {
  return {
    head: copyText(text, start, located[0]?.start ?? end),
    fields: located.map(({ container, key, type }) => ({ container, key, type })),
    tails: located.map((field, index) => copyText(text, field.end, located[index + 1]?.start ?? end)),
    ends: [],
  };
}

/** Sets the fields of a text at `position`. Returns the end of the pattern in it, or -1 if the text does not match. */
export function readFields({ head, fields, tails, ends }: Pattern, text: string, position: number): number {
  if (!hasAt(text, head, position)) return -1;
  let at = position + head.length;
  for (let index = 0; index < fields.length; index++) {
    const { type, container, key } = fields[index] as Field;
    const end = findFieldEnd(type, text, at);
    const tail = tails[index] as string;
    if (end < 0 || !hasAt(text, tail, end)) return -1;
    if (type !== "space") {
      const value = type === "text" ? parseText(text, at, end) : parseNumber(text, at, end);
      if (value === undefined) return -1;
      container[key] = value;
    }
    ends[index] = end;
    at = end + tail.length;
  }
  return at;
}

function findFieldEnd(type: Field["type"], text: string, start: number): number {
  if (type === "text") return findTextEnd(text, start);
  return type === "number" ? findNumberEnd(text, start) : findSpaceEnd(text, start);
}

/** Like `startsWith`, at a fourth of its cost for long constants. */
function hasAt(text: string, constant: string, position: number): boolean {
  return text.slice(position, position + constant.length) === constant;
}

/** Engines copy shorter parts of a text themselves. */
const maxCopiedLength = 12;

/** Copies a part of a text. `slice` would return a reference, which is slow to compare and keeps the whole text alive. */
function copyText(text: string, start: number, end: number): string {
  if (end - start <= maxCopiedLength) return text.slice(start, end);
  return [text.slice(start, start + 1), text.slice(start + 1, end)].join("");
}

const quote = 0x22;
const backslash = 0x5c;
const firstAllowed = 0x20;
const space = 0x20;
const zero = 0x30;
const nine = 0x39;

/** Returns the position of the quote that ends a string, or -1 if JSON does not allow the string. */
export function findTextEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code < firstAllowed) return -1;
    if (code === backslash) at += 1;
  }
  return -1;
}

function hasEscape(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (text.charCodeAt(at) === backslash) return true;
  return false;
}

/** Returns undefined for an escape sequence that JSON does not allow. */
function parseText(text: string, start: number, end: number): string | undefined {
  if (!hasEscape(text, start, end)) return copyText(text, start, end);
  try {
    return JSON.parse(text.slice(start - 1, end + 1));
  } catch {
    return undefined;
  }
}

/** Integers of more digits are not exact. */
const maxDigits = 15;

/** Returns the end of a non-negative integer, or -1. */
export function findNumberEnd(text: string, start: number): number {
  let at = start;
  for (let code = text.charCodeAt(at); code >= zero && code <= nine; code = text.charCodeAt(at)) at += 1;
  const hasLeadingZero = at > start + 1 && text.charCodeAt(start) === zero;
  return at === start || at > start + maxDigits || hasLeadingZero ? -1 : at;
}

function findSpaceEnd(text: string, start: number): number {
  let at = start;
  while (text.charCodeAt(at) === space) at += 1;
  return at;
}

function parseNumber(text: string, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) value = value * 10 + text.charCodeAt(at) - zero;
  return value;
}
