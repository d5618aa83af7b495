/*
 * Converts any value to JSON. Never throws, and the JSON text is never longer than the limit.
 *
 * | value                                  | becomes                                                           |
 * | -------------------------------------- | ----------------------------------------------------------------- |
 * | string                                 | itself, lone surrogates replaced by U+FFFD                        |
 * | number, boolean, null                  | itself; -0 is 0                                                   |
 * | NaN, Infinity, -Infinity               | "NaN", "Infinity", "-Infinity"                                    |
 * | bigint                                 | a string of its digits                                            |
 * | undefined                              | dropped from an object; null in an array and on its own           |
 * | symbol, function, class                | "[Symbol x]", "[Function name]"                                   |
 * | boxed string, number, boolean, …       | the boxed value                                                   |
 * | Date                                   | its ISO text; "[Invalid Date]"                                    |
 * | RegExp                                 | its source, "/a/g"                                                |
 * | ArrayBuffer, typed array, DataView     | "[binary 3 bytes]"                                                |
 * | array                                  | array; holes are null                                             |
 * | Set                                    | array                                                             |
 * | Map                                    | object when all keys are strings, else an array of pairs          |
 * | Error                                  | { name, message }, and its cause, but not the cause of the cause  |
 * | with a method toJSON                   | the value it returns                                              |
 * | any other object                       | its own enumerable string keys, "__proto__" among them            |
 * | an object inside itself                | "[Circular]"                                                      |
 * | deeper than the limit                  | "[Deeper than 64]"                                                |
 * | a getter, toJSON or proxy that throws  | "[Threw: its message]", in that place only                        |
 * | text beyond the limit                  | its beginning and "… (9 more characters)"                         |
 * | items beyond the limit                 | a last item "… 3 of 9 items shown"                                |
 * | keys beyond the limit                  | a last key "…" that says "3 of 9 keys shown"                      |
 */
import { describeThrown } from "../../base/errors.ts";
import type { Json } from "../../base/json.ts";
import { formatNumber, truncateToJsonLength } from "./truncate-text.ts";

export type JsonLimits = {
  /** How deep arrays and objects may be nested. */
  readonly depth?: number;
  /** Limit for the JSON text. If not even a truncation mark fits, the value is null, "" or 0. */
  readonly characters?: number;
};

/** A deeper recursion could overflow the call stack. */
const maxJsonDepth = 500;

/** Converts a value by the table above. Never throws. */
export function toJson(value: unknown, limits: JsonLimits = {}): Json {
  return toLimitedJson(value, limits).json;
}

/** Like `toJson`, but reports whether anything was dropped; if so, `note` is added once at the top level, if it fits. */
export function toLimitedJson(
  value: unknown,
  { depth = 64, characters = 2_000_000, note = "" }: JsonLimits & { readonly note?: string },
): { readonly json: Json; readonly isCut: boolean } {
  const limit = characters >= 1 ? Math.floor(characters) : 1;
  for (const candidateNote of new Set([note, ""])) {
    const writer: JsonWriter = {
      depth: Math.min(depth, maxJsonDepth),
      note: candidateNote,
      remaining: limit,
      isCut: false,
      ancestors: [],
    };
    const json = writeFrom(() => value, writer);
    if (json === undefined) return toLimitedJson(null, { characters: limit });
    if (json !== full) return { json, isCut: writer.isCut };
  }
  return { json: limit >= 4 ? null : limit >= 2 ? "" : 0, isCut: true };
}

type JsonWriter = {
  readonly depth: number;
  readonly note: string;
  /** How many characters may still be written, besides those reserved for the marks of open arrays and objects. */
  remaining: number;
  isCut: boolean;
  /** The objects being written, outermost first. */
  readonly ancestors: object[];
};

/** Not even the beginning of the value fits. */
const full: unique symbol = Symbol("full");
type WrittenValue = Json | undefined | typeof full;

/** A value that cannot be read is replaced by its error; the characters spent on it are refunded. */
function writeFrom(get: () => unknown, writer: JsonWriter): WrittenValue {
  const { remaining, isCut } = writer;
  try {
    return writeValue(get(), writer);
  } catch (thrown) {
    Object.assign(writer, { remaining, isCut });
    return writeText(`[Threw: ${describeThrown(thrown, "tool_failed").message}]`, writer);
  }
}

function writeValue(value: unknown, writer: JsonWriter): WrittenValue {
  switch (typeof value) {
    case "undefined":
      return undefined;
    case "string":
      return writeText(value, writer);
    case "number":
      // Adding 0 turns -0 into 0.
      return Number.isFinite(value) ? writeScalar(value + 0, writer) : writeText(String(value), writer);
    case "boolean":
      return writeScalar(value, writer);
    case "bigint":
      return writeText(String(value), writer);
    case "symbol":
      return writeText(formatNamed("Symbol", value.description), writer);
    case "function":
      return writeText(formatNamed("Function", value.name), writer);
    case "object":
      return value === null ? writeScalar(null, writer) : writeObject(value, writer);
  }
}

function formatNamed(kind: string, name: unknown): string {
  return typeof name === "string" && name !== "" ? `[${kind} ${name}]` : `[${kind}]`;
}

function writeScalar(value: number | boolean | null, writer: JsonWriter): WrittenValue {
  return spendCharacters(String(value).length, writer) ? value : full;
}

function writeText(text: string, writer: JsonWriter): WrittenValue {
  const isOutermost = writer.ancestors.length === 0;
  const truncated = truncateToJsonLength(text, writer.remaining, isOutermost ? writer.note : "");
  if (truncated === undefined) return full;
  writer.isCut ||= truncated.isCut;
  spendCharacters(JSON.stringify(truncated.text).length, writer);
  return truncated.text;
}

function spendCharacters(characters: number, writer: JsonWriter): boolean {
  if (characters > writer.remaining) return false;
  writer.remaining -= characters;
  return true;
}

function writeObject(value: object, writer: JsonWriter): WrittenValue {
  const { ancestors, depth } = writer;
  if (ancestors.includes(value)) return writeText("[Circular]", writer);
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === null;
  const scalar = isPlain ? undefined : unboxScalar(value);
  if (scalar !== undefined) return writeValue(scalar, writer);
  if (ancestors.length >= depth) return writeText(`[Deeper than ${depth}]`, writer);
  ancestors.push(value);
  try {
    return writeContents(value, writer);
  } finally {
    ancestors.pop();
  }
}

const boxes = [String, Number, Boolean, BigInt, Symbol] as const;

/** Returns the scalar that an object wraps. Uses prototype methods, which the object cannot override. */
function unboxScalar(value: object): unknown {
  if (value instanceof Date) {
    const isValid = !Number.isNaN(Date.prototype.getTime.call(value));
    return isValid ? Date.prototype.toISOString.call(value) : "[Invalid Date]";
  }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[binary ${value.byteLength} bytes]`;
  if (value instanceof RegExp) return RegExp.prototype.toString.call(value);
  const box = boxes.find((candidate) => value instanceof candidate);
  return box && Reflect.apply(box.prototype.valueOf, value, []);
}

function writeContents(value: object, writer: JsonWriter): WrittenValue {
  if (Array.isArray(value)) {
    const count = Number.isSafeInteger(value.length) ? Math.max(value.length, 0) : 0;
    return writeItems(count, (index) => value[index], writer);
  }
  if (value instanceof Set) {
    const items = Set.prototype.values.call(value);
    return writeItems(value.size, () => items.next().value, writer);
  }
  if (value instanceof Map) return writeMap(value, writer);
  if (value instanceof Error) {
    const isCause = writer.ancestors.at(-2) instanceof Error;
    const cause = Object.hasOwn(value, "cause") && !isCause ? ["cause"] : [];
    return writeMembers(toMembers(value, ["name", "message", ...cause]), writer);
  }
  const convert: unknown = Reflect.get(value, "toJSON");
  const converted: unknown = typeof convert === "function" ? Reflect.apply(convert, value, [""]) : value;
  if (converted !== value) return writeValue(converted, writer);
  return writeMembers(toMembers(value, Object.keys(value)), writer);
}

function toMembers(value: object, keys: readonly string[]): Members {
  return { count: keys.length, keyAt: (index) => keys[index] ?? "", get: (key) => Reflect.get(value, key) };
}

function writeMap(map: Map<unknown, unknown>, writer: JsonWriter): WrittenValue {
  const count = map.size;
  let hasOnlyStringKeys = true;
  for (const key of Map.prototype.keys.call(map)) {
    hasOnlyStringKeys = typeof key === "string";
    if (!hasOnlyStringKeys) break;
  }
  if (hasOnlyStringKeys) {
    const keys = Map.prototype.keys.call(map);
    const get = (key: string): unknown => Map.prototype.get.call(map, key);
    return writeMembers({ count, keyAt: () => keys.next().value as string, get }, writer);
  }
  const pairs = Map.prototype.entries.call(map);
  return writeItems(count, () => pairs.next().value, writer);
}

function writeItems(count: number, itemAt: (index: number) => unknown, writer: JsonWriter): WrittenValue {
  const reserve = reserveFor(count, writer);
  if (!spendCharacters(2 + reserve, writer)) return full;
  const items: Json[] = [];
  for (let index = 0; index < count; index += 1) {
    const { remaining } = writer;
    const comma = index === 0 ? 0 : 1;
    let item = spendCharacters(comma, writer) ? writeFrom(() => itemAt(index), writer) : full;
    if (item === undefined) item = writeScalar(null, writer);
    if (item === full) {
      writer.remaining = remaining;
      break;
    }
    items.push(item ?? null);
  }
  const mark = buildOmissionMark(items.length, { count, unit: "items", reserve }, writer);
  if (mark !== "") items.push(`… ${mark}`);
  return items;
}

/** Ordered keys of an object, and access to its values. */
type Members = { readonly count: number; keyAt(index: number): string; get(key: string): unknown };

function writeMembers({ count, keyAt, get }: Members, writer: JsonWriter): WrittenValue {
  const reserve = reserveFor(count, writer);
  if (!spendCharacters(2 + reserve, writer)) return full;
  const members: Record<string, Json> = {};
  let comma = 0;
  let shown = 0;
  for (; shown < count; shown += 1) {
    const { remaining } = writer;
    const key = keyAt(shown);
    const member = writeKey(key, comma, writer) ? writeFrom(() => get(key), writer) : full;
    if (member === full || member === undefined) writer.remaining = remaining;
    if (member === full) break;
    if (member === undefined) continue;
    setMember(members, key.toWellFormed(), member);
    comma = 1;
  }
  const mark = buildOmissionMark(shown, { count, unit: "keys", reserve }, writer);
  // Overwrites a key of that name: a free name might be longer than the reserved space.
  if (mark !== "") members["…"] = mark;
  return members;
}

/** Spends the characters of a key with its quotes, colon and leading comma. */
function writeKey(key: string, comma: number, writer: JsonWriter): boolean {
  // Do not copy a huge key just to measure it.
  if (key.length > writer.remaining) return false;
  return spendCharacters(comma + JSON.stringify(key.toWellFormed()).length + 1, writer);
}

/** An assignment to "__proto__" would change the prototype. */
function setMember(members: Record<string, Json>, key: string, value: Json): void {
  if (key !== "__proto__") members[key] = value;
  else Object.defineProperty(members, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Returns the space for the longest mark that an array or object with `count` members can end with. */
function reserveFor(count: number, { ancestors, note }: JsonWriter): number {
  if (count === 0) return 0;
  const noteLength = ancestors.length === 1 && note !== "" ? JSON.stringify(note).length : 0;
  return 24 + 3 * String(count).length + noteLength;
}

type OpenContainer = { readonly count: number; readonly unit: string; readonly reserve: number };

/** Describes the omitted members, or returns "". Unused reserved space is released. */
function buildOmissionMark(
  shown: number,
  { count, unit, reserve }: OpenContainer,
  writer: JsonWriter,
): string {
  writer.isCut ||= shown < count;
  const missing = shown < count ? `${formatNumber(shown)} of ${formatNumber(count)} ${unit} shown` : "";
  const note = writer.isCut && writer.ancestors.length === 1 ? writer.note : "";
  if (missing === "" && note === "") writer.remaining += reserve;
  return missing !== "" && note !== "" ? `${missing}; ${note}` : missing + note;
}
