import { isRecord } from "../json.ts";

/** A server-sent event that was read by its shape. The next one of this shape overwrites it. */
export type ShapedEvent = {
  /** The name of the event. */
  readonly event: string | undefined;
  /** Equal to what `JSON.parse` returns for its data. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Where the next event starts. */
  readonly end: number;
};

/** The shapes of the events that a provider repeats: the constant text around a few fields. */
export type EventShapes = {
  /** Remembers the shape of one complete event, with its separator, unless its reader might keep a part of it. */
  learn(text: string): void;
  /** Reads the event at `position` if its shape is known. */
  read(text: string, position: number): ShapedEvent | undefined;
};

type Container = Record<string | number, unknown>;
type Field = {
  readonly container: Container;
  readonly key: string | number;
  /** `space` is the padding by which a provider hides the length of a text. */
  readonly type: "text" | "number" | "space";
};
type LocatedField = Field & { readonly start: number; readonly end: number };

/** Constant text around fields. */
type Pattern = {
  /** The text before the first field. */
  readonly head: string;
  /** The fields in the order of the text, and the text after each of them. */
  readonly fields: readonly Field[];
  readonly tails: readonly string[];
  /** Where the fields ended in the text that was read last. */
  readonly ends: number[];
};

type Shape = {
  readonly event: string | undefined;
  /** The fields of the event that was read last are set in it. */
  readonly value: Record<string, unknown>;
  readonly pattern: Pattern;
  /** The same with the current values of those fields that most events of one stream share, such as its id. */
  narrowPattern: Pattern | undefined;
  /** Whether the last event was read, but not with the narrow pattern: two of them tell which fields change. */
  isNarrowable: boolean;
  end: number;
};

const maxShapes = 8;
/** Longer events are not the ones that a provider repeats. */
const maxLength = 4_000;

/**
 * Most events of a stream differ in a piece of text and a few numbers only. Comparing the constant text around them and
 * copying the fields costs less than `JSON.parse`, and no new objects. `paths` names the fields that vary, such as
 * `choices.*.delta.content`, where `*` is any position in a list. An event is read this way only if each of its objects
 * has such a field, and readers keep none of these objects. Everything else is left to the parser.
 */
export function createEventShapes(paths: readonly string[]): EventShapes {
  const known = new Set(paths);
  const shapes: Shape[] = [];
  return {
    learn(text) {
      const shape = toShape(text, known);
      if (!shape) return;
      // Last, because many events are never repeated.
      if (shapes.length === maxShapes) shapes.pop();
      shapes.push(shape);
    },
    read(text, position) {
      for (let index = 0; index < shapes.length; index++) {
        const shape = shapes[index] as Shape;
        if (!readShape(shape, text, position)) continue;
        // The next event most probably has the same shape.
        if (index > 0) shapes.unshift(...shapes.splice(index, 1));
        return shape;
      }
      return undefined;
    },
  };
}

function readShape(shape: Shape, text: string, position: number): boolean {
  const { pattern, narrowPattern, isNarrowable } = shape;
  let end = narrowPattern ? readFields(narrowPattern, text, position) : -1;
  if (end < 0) {
    const before = isNarrowable ? pattern.fields.map(getValue) : undefined;
    // The values of its constant fields are overwritten now.
    shape.narrowPattern = undefined;
    shape.isNarrowable = false;
    end = readFields(pattern, text, position);
    if (end < 0) return false;
    if (before) shape.narrowPattern = narrow(pattern, before, { text, start: position, end });
    else shape.isNarrowable = true;
  }
  shape.end = end;
  return true;
}

const getValue = ({ container, key }: Field): unknown => container[key];

/** Turns the fields that are the same as in the event before into constant text. */
function narrow(pattern: Pattern, before: readonly unknown[], passage: Passage): Pattern {
  let at = passage.start + pattern.head.length;
  const located = pattern.fields.map((field, index) => {
    const fieldEnd = pattern.ends[index] ?? at;
    const start = at;
    at = fieldEnd + (pattern.tails[index]?.length ?? 0);
    return { ...field, start, end: fieldEnd };
  });
  const changed = located.filter(
    (field, index) => field.type === "space" || getValue(field) !== before[index],
  );
  return createPattern(changed, passage);
}

/** A part of a text. */
type Passage = { readonly text: string; readonly start: number; readonly end: number };

function createPattern(located: readonly LocatedField[], { text, start, end }: Passage): Pattern {
  return {
    head: copyText(text, start, located[0]?.start ?? end),
    fields: located.map(({ container, key, type }) => ({ container, key, type })),
    tails: located.map((field, index) => copyText(text, field.end, located[index + 1]?.start ?? end)),
    ends: [],
  };
}

/** Sets the fields of a text at `position`. Returns the end of the pattern in it, or -1 if the text does not match. */
function readFields({ head, fields, tails, ends }: Pattern, text: string, position: number): number {
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

/** Copies a part of a text. `slice` would return a reference, which is slow to compare and keeps the whole text alive. */
function copyText(text: string, start: number, end: number): string {
  return [text.slice(start, start + 1), text.slice(start + 1, end)].join("");
}

const quote = 0x22;
const backslash = 0x5c;
const firstAllowed = 0x20;
const space = 0x20;
const zero = 0x30;
const nine = 0x39;

/** Returns the position of the quote that ends a string, or -1 if JSON does not allow the string. */
function findTextEnd(text: string, start: number): number {
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
  if (!hasEscape(text, start, end)) return text.slice(start, end);
  try {
    return JSON.parse(text.slice(start - 1, end + 1));
  } catch {
    return undefined;
  }
}

/** Integers of more digits are not exact. */
const maxDigits = 15;

/** Returns the end of a non-negative integer, or -1. */
function findNumberEnd(text: string, start: number): number {
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

/** One line of JSON, with the name of the event before it. */
const singleLine = /^(?:event: ?([^\r\n]+)\r?\n)?data: ?(\{[^\r\n]*\})\r?\n\r?\n$/;

function toShape(text: string, paths: ReadonlySet<string>): Shape | undefined {
  if (text.length > maxLength) return undefined;
  const [, event, json] = singleLine.exec(text) ?? [];
  const value = json === undefined || event === "error" ? undefined : tryParseJson(json);
  if (json === undefined || !isRecord(value)) return undefined;
  const found: LocatedField[] = [];
  const locator = { text, at: text.indexOf(json), paths, found };
  if (!locateFields(locator, value, "") || !found.some(({ type }) => type === "text")) return undefined;
  const pattern = createPattern(found, { text, start: 0, end: text.length });
  return { event, value, pattern, narrowPattern: undefined, isNarrowable: true, end: 0 };
}

/** A reader does not look at the events after the end, so they may be anything. */
function tryParseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

type Locator = {
  readonly text: string;
  at: number;
  readonly paths: ReadonlySet<string>;
  readonly found: LocatedField[];
};

/** Finds the variable fields of an object or a list at `locator.at`. Returns false if the event cannot be read by shape. */
function locateFields(locator: Locator, container: Container, path: string): boolean {
  const { text, found } = locator;
  const { length: countBefore } = found;
  const isList = Array.isArray(container);
  const keys = Object.keys(container);
  locator.at += 1;
  for (let index = 0; ; index++) {
    const { at: spaceAt } = locator;
    skipSpace(locator);
    if (text[locator.at] === "]" || text[locator.at] === "}") {
      if (path === "" && spaceAt < locator.at)
        found.push({ container, key: "", type: "space", start: spaceAt, end: locator.at });
      locator.at += 1;
      // A name that is repeated, or an object of constants.
      return index === keys.length && (index === 0 || found.length > countBefore);
    }
    if (index > 0) {
      locator.at += 1;
      skipSpace(locator);
    }
    const key = isList ? index : readKey(locator);
    if (key === "__proto__") return false;
    const inner = path === "" ? String(key) : `${path}.${isList ? "*" : key}`;
    if (!locateValue(locator, { container, key, path: inner })) return false;
  }
}

type Place = Pick<Field, "container" | "key"> & { readonly path: string };

function locateValue(locator: Locator, { container, key, path }: Place): boolean {
  const { text, at, paths, found } = locator;
  const value = container[key];
  if (text[at] === "{" || text[at] === "[")
    return typeof value === "object" && value !== null && locateFields(locator, value as Container, path);
  const isText = text[at] === '"';
  const start = isText ? at + 1 : at;
  const end = isText ? findTextEnd(text, start) : findScalarEnd(text, start);
  locator.at = isText ? end + 1 : end;
  const isVariable = paths.has(path) && (isText || findNumberEnd(text, start) === end);
  if (isVariable) found.push({ container, key, type: isText ? "text" : "number", start, end });
  return true;
}

function readKey(locator: Locator): string {
  const { text, at } = locator;
  const end = findTextEnd(text, at + 1) + 1;
  locator.at = end;
  skipSpace(locator);
  locator.at += 1; // the colon
  skipSpace(locator);
  return JSON.parse(text.slice(at, end));
}

function skipSpace(locator: Locator): void {
  while (" \t".includes(locator.text[locator.at] ?? "")) locator.at += 1;
}

/** Returns the end of a number, a Boolean or null. */
function findScalarEnd(text: string, start: number): number {
  let at = start;
  while (!",]} \t".includes(text[at] ?? ",")) at += 1;
  return at;
}
