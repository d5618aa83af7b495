/*
 * Anything at all as JSON. It never throws, and what it gives is never longer, once written, than the limit.
 *
 * | value                                  | becomes                                                           |
 * | -------------------------------------- | ----------------------------------------------------------------- |
 * | string                                 | itself, lone surrogates replaced by U+FFFD                        |
 * | number, boolean, null                  | itself; -0 is 0                                                   |
 * | NaN, Infinity, -Infinity               | "NaN", "Infinity", "-Infinity"                                    |
 * | bigint                                 | a string of its digits                                            |
 * | undefined                              | left out of an object; null in an array and on its own            |
 * | symbol, function, class                | "[Symbol x]", "[Function name]"                                   |
 * | boxed string, number, boolean, …       | what is in the box                                                |
 * | Date                                   | its ISO text; "[Invalid Date]"                                    |
 * | RegExp                                 | its source, "/a/g"                                                |
 * | ArrayBuffer, typed array, DataView     | "[binary 3 bytes]"                                                |
 * | array                                  | array; holes are null                                             |
 * | Set                                    | array                                                             |
 * | Map                                    | object when all keys are strings, else an array of pairs          |
 * | Error                                  | { name, message }, and its cause, but not the cause of the cause  |
 * | with a method toJSON                   | what that gives                                                   |
 * | any other object                       | its own enumerable string keys, "__proto__" among them            |
 * | an object inside itself                | "[Circular]"                                                      |
 * | deeper than the limit                  | "[Deeper than 64]"                                                |
 * | a getter, toJSON or proxy that throws  | "[Threw: its message]", in that place only                        |
 * | text beyond the limit                  | its beginning and "… (9 more characters)"                         |
 * | items beyond the limit                 | a last item "… 3 of 9 items shown"                                |
 * | keys beyond the limit                  | a last key "…" that says "3 of 9 keys shown"                      |
 */
import { describeThrown } from "../errors.ts";
import type { Json } from "../json.ts";
import { formatNumber, truncateToJsonLength } from "./truncate-text.ts";

export type JsonLimits = {
  /** How many arrays and objects may lie in one another. */
  readonly depth?: number;
  /** The most characters of the JSON text. Where no mark fits, the value is null, "" or 0. */
  readonly characters?: number;
};

/** Beyond this the call stack could end before the limit does. */
const maxJsonDepth = 500;

/** The value as JSON, by the table above. Never throws. */
export function toJson(value: unknown, limits: JsonLimits = {}): Json {
  return toLimitedJson(value, limits).json;
}

/** As `toJson`, and whether anything was left out; then a `note` is added once, at top level, if it fits. */
export function toLimitedJson(
  value: unknown,
  { depth = 64, characters = 2_000_000, note = "" }: JsonLimits & { readonly note?: string },
): { readonly json: Json; readonly isCut: boolean } {
  const room = characters >= 1 ? Math.floor(characters) : 1;
  for (const said of new Set([note, ""])) {
    const writing: JsonWriter = {
      depth: Math.min(depth, maxJsonDepth),
      note: said,
      left: room,
      isCut: false,
      within: [],
    };
    const json = writeFrom(() => value, writing);
    if (json === undefined) return toLimitedJson(null, { characters: room });
    if (json !== full) return { json, isCut: writing.isCut };
  }
  return { json: room >= 4 ? null : room >= 2 ? "" : 0, isCut: true };
}

type JsonWriter = {
  readonly depth: number;
  readonly note: string;
  /** How many characters may still be written, beside what is reserved for the marks of open arrays and objects. */
  left: number;
  isCut: boolean;
  /** The objects that are being written, outermost first. */
  readonly within: object[];
};

/** There is no room for this value, not even for its beginning. */
const full: unique symbol = Symbol("full");
type WrittenValue = Json | undefined | typeof full;

/** What cannot be read says so in its place, and costs no more than that. */
function writeFrom(get: () => unknown, writing: JsonWriter): WrittenValue {
  const { left, isCut } = writing;
  try {
    return writeValue(get(), writing);
  } catch (thrown) {
    Object.assign(writing, { left, isCut });
    return writeText(`[Threw: ${describeThrown(thrown, "tool_failed").message}]`, writing);
  }
}

function writeValue(value: unknown, writing: JsonWriter): WrittenValue {
  switch (typeof value) {
    case "undefined":
      return undefined;
    case "string":
      return writeText(value, writing);
    case "number":
      // The sum makes a 0 of -0.
      return Number.isFinite(value) ? writeScalar(value + 0, writing) : writeText(String(value), writing);
    case "boolean":
      return writeScalar(value, writing);
    case "bigint":
      return writeText(String(value), writing);
    case "symbol":
      return writeText(formatNamed("Symbol", value.description), writing);
    case "function":
      return writeText(formatNamed("Function", value.name), writing);
    case "object":
      return value === null ? writeScalar(null, writing) : writeObject(value, writing);
  }
}

function formatNamed(kind: string, name: unknown): string {
  return typeof name === "string" && name !== "" ? `[${kind} ${name}]` : `[${kind}]`;
}

function writeScalar(value: number | boolean | null, writing: JsonWriter): WrittenValue {
  return spendCharacters(String(value).length, writing) ? value : full;
}

function writeText(text: string, writing: JsonWriter): WrittenValue {
  const isOutermost = writing.within.length === 0;
  const shown = truncateToJsonLength(text, writing.left, isOutermost ? writing.note : "");
  if (shown === undefined) return full;
  writing.isCut ||= shown.isCut;
  spendCharacters(JSON.stringify(shown.text).length, writing);
  return shown.text;
}

function spendCharacters(characters: number, writing: JsonWriter): boolean {
  if (characters > writing.left) return false;
  writing.left -= characters;
  return true;
}

function writeObject(value: object, writing: JsonWriter): WrittenValue {
  const { within, depth } = writing;
  if (within.includes(value)) return writeText("[Circular]", writing);
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === null;
  const scalar = isPlain ? undefined : unboxScalar(value);
  if (scalar !== undefined) return writeValue(scalar, writing);
  if (within.length >= depth) return writeText(`[Deeper than ${depth}]`, writing);
  within.push(value);
  try {
    return writeContents(value, writing);
  } finally {
    within.pop();
  }
}

const boxes = [String, Number, Boolean, BigInt, Symbol] as const;

/** The one string, number or the like that an object stands for. Methods are taken from where no tool can replace them. */
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

function writeContents(value: object, writing: JsonWriter): WrittenValue {
  if (Array.isArray(value)) {
    const count = Number.isSafeInteger(value.length) ? Math.max(value.length, 0) : 0;
    return writeItems(count, (index) => value[index], writing);
  }
  if (value instanceof Set) {
    const items = Set.prototype.values.call(value);
    return writeItems(value.size, () => items.next().value, writing);
  }
  if (value instanceof Map) return writeMap(value, writing);
  if (value instanceof Error) {
    const isCause = writing.within.at(-2) instanceof Error;
    const cause = Object.hasOwn(value, "cause") && !isCause ? ["cause"] : [];
    return writeMembers(toMembers(value, ["name", "message", ...cause]), writing);
  }
  const convert: unknown = Reflect.get(value, "toJSON");
  const given: unknown = typeof convert === "function" ? Reflect.apply(convert, value, [""]) : value;
  if (given !== value) return writeValue(given, writing);
  return writeMembers(toMembers(value, Object.keys(value)), writing);
}

function toMembers(value: object, keys: readonly string[]): Members {
  return { count: keys.length, keyAt: (index) => keys[index] ?? "", get: (key) => Reflect.get(value, key) };
}

function writeMap(map: Map<unknown, unknown>, writing: JsonWriter): WrittenValue {
  const count = map.size;
  let hasNamesOnly = true;
  for (const key of Map.prototype.keys.call(map)) {
    hasNamesOnly = typeof key === "string";
    if (!hasNamesOnly) break;
  }
  if (hasNamesOnly) {
    const keys = Map.prototype.keys.call(map);
    const get = (key: string): unknown => Map.prototype.get.call(map, key);
    return writeMembers({ count, keyAt: () => keys.next().value as string, get }, writing);
  }
  const pairs = Map.prototype.entries.call(map);
  return writeItems(count, () => pairs.next().value, writing);
}

function writeItems(count: number, itemAt: (index: number) => unknown, writing: JsonWriter): WrittenValue {
  const reserve = reserveFor(count, writing);
  if (!spendCharacters(2 + reserve, writing)) return full;
  const items: Json[] = [];
  for (let index = 0; index < count; index += 1) {
    const { left } = writing;
    const comma = index === 0 ? 0 : 1;
    let item = spendCharacters(comma, writing) ? writeFrom(() => itemAt(index), writing) : full;
    if (item === undefined) item = writeScalar(null, writing);
    if (item === full) {
      writing.left = left;
      break;
    }
    items.push(item ?? null);
  }
  const mark = buildOmissionMark(items.length, { count, unit: "items", reserve }, writing);
  if (mark !== "") items.push(`… ${mark}`);
  return items;
}

/** The keys of an object in their order, and its values. */
type Members = { readonly count: number; keyAt(index: number): string; get(key: string): unknown };

function writeMembers({ count, keyAt, get }: Members, writing: JsonWriter): WrittenValue {
  const reserve = reserveFor(count, writing);
  if (!spendCharacters(2 + reserve, writing)) return full;
  const members: Record<string, Json> = {};
  let comma = 0;
  let shown = 0;
  for (; shown < count; shown += 1) {
    const { left } = writing;
    const key = keyAt(shown);
    const member = writeKey(key, comma, writing) ? writeFrom(() => get(key), writing) : full;
    if (member === full || member === undefined) writing.left = left;
    if (member === full) break;
    if (member === undefined) continue;
    setMember(members, key.toWellFormed(), member);
    comma = 1;
  }
  const mark = buildOmissionMark(shown, { count, unit: "keys", reserve }, writing);
  // It takes the place of a key of that name: a name that is free might be longer than what is reserved.
  if (mark !== "") members["…"] = mark;
  return members;
}

/** With its quotes and colon, and the comma before it. */
function writeKey(key: string, comma: number, writing: JsonWriter): boolean {
  // A key that is far too long is not copied to be measured.
  if (key.length > writing.left) return false;
  return spendCharacters(comma + JSON.stringify(key.toWellFormed()).length + 1, writing);
}

/** An assignment to "__proto__" would change the prototype. */
function setMember(members: Record<string, Json>, key: string, value: Json): void {
  if (key !== "__proto__") members[key] = value;
  else Object.defineProperty(members, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Room for the longest mark that an array or object of so many items or keys can end with. */
function reserveFor(count: number, { within, note }: JsonWriter): number {
  if (count === 0) return 0;
  const noteLength = within.length === 1 && note !== "" ? JSON.stringify(note).length : 0;
  return 24 + 3 * String(count).length + noteLength;
}

type OpenContainer = { readonly count: number; readonly unit: string; readonly reserve: number };

/** What is left out, in words, or nothing. The room reserved for it is given back when it is not used. */
function buildOmissionMark(
  shown: number,
  { count, unit, reserve }: OpenContainer,
  writing: JsonWriter,
): string {
  writing.isCut ||= shown < count;
  const missing = shown < count ? `${formatNumber(shown)} of ${formatNumber(count)} ${unit} shown` : "";
  const note = writing.isCut && writing.within.length === 1 ? writing.note : "";
  if (missing === "" && note === "") writing.left += reserve;
  return missing !== "" && note !== "" ? `${missing}; ${note}` : missing + note;
}
