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
import { grouped, textWithin } from "./text-within.ts";

export type JsonLimits = {
  /** How many arrays and objects may lie in one another. */
  readonly depth?: number;
  /** The most characters of the JSON text. Where no mark fits, the value is null, "" or 0. */
  readonly characters?: number;
};

/** Beyond this the call stack could end before the limit does. */
const deepest = 500;

/** The value as JSON, by the table above. Never throws. */
export function toJson(value: unknown, limits: JsonLimits = {}): Json {
  return jsonWithin(value, limits).json;
}

/** As `toJson`, and whether anything was left out; then a `note` is added once, at top level, if it fits. */
export function jsonWithin(
  value: unknown,
  { depth = 64, characters = 2_000_000, note = "" }: JsonLimits & { readonly note?: string },
): { readonly json: Json; readonly isCut: boolean } {
  const room = characters >= 1 ? Math.floor(characters) : 1;
  for (const said of new Set([note, ""])) {
    const writing: Writing = {
      depth: Math.min(depth, deepest),
      note: said,
      left: room,
      isCut: false,
      within: [],
    };
    const json = read(() => value, writing);
    if (json === undefined) return jsonWithin(null, { characters: room });
    if (json !== full) return { json, isCut: writing.isCut };
  }
  return { json: room >= 4 ? null : room >= 2 ? "" : 0, isCut: true };
}

type Writing = {
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
type Written = Json | undefined | typeof full;

/** What cannot be read says so in its place, and costs no more than that. */
function read(get: () => unknown, writing: Writing): Written {
  const { left, isCut } = writing;
  try {
    return write(get(), writing);
  } catch (thrown) {
    Object.assign(writing, { left, isCut });
    return writeText(`[Threw: ${describeThrown(thrown, "tool_failed").message}]`, writing);
  }
}

function write(value: unknown, writing: Writing): Written {
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
      return writeText(named("Symbol", value.description), writing);
    case "function":
      return writeText(named("Function", value.name), writing);
    case "object":
      return value === null ? writeScalar(null, writing) : writeObject(value, writing);
  }
}

function named(kind: string, name: unknown): string {
  return typeof name === "string" && name !== "" ? `[${kind} ${name}]` : `[${kind}]`;
}

function writeScalar(value: number | boolean | null, writing: Writing): Written {
  return spend(String(value).length, writing) ? value : full;
}

function writeText(text: string, writing: Writing): Written {
  const isOutermost = writing.within.length === 0;
  const shown = textWithin(text, writing.left, isOutermost ? writing.note : "");
  if (shown === undefined) return full;
  writing.isCut ||= shown.isCut;
  spend(JSON.stringify(shown.text).length, writing);
  return shown.text;
}

function spend(characters: number, writing: Writing): boolean {
  if (characters > writing.left) return false;
  writing.left -= characters;
  return true;
}

function writeObject(value: object, writing: Writing): Written {
  const { within, depth } = writing;
  if (within.includes(value)) return writeText("[Circular]", writing);
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === null;
  const scalar = isPlain ? undefined : scalarOf(value);
  if (scalar !== undefined) return write(scalar, writing);
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
function scalarOf(value: object): unknown {
  if (value instanceof Date) {
    const isValid = !Number.isNaN(Date.prototype.getTime.call(value));
    return isValid ? Date.prototype.toISOString.call(value) : "[Invalid Date]";
  }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[binary ${value.byteLength} bytes]`;
  if (value instanceof RegExp) return RegExp.prototype.toString.call(value);
  const box = boxes.find((candidate) => value instanceof candidate);
  return box && Reflect.apply(box.prototype.valueOf, value, []);
}

function writeContents(value: object, writing: Writing): Written {
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
    return writeMembers(membersOf(value, ["name", "message", ...cause]), writing);
  }
  const convert: unknown = Reflect.get(value, "toJSON");
  const given: unknown = typeof convert === "function" ? Reflect.apply(convert, value, [""]) : value;
  if (given !== value) return write(given, writing);
  return writeMembers(membersOf(value, Object.keys(value)), writing);
}

function membersOf(value: object, keys: readonly string[]): Members {
  return { count: keys.length, keyAt: (index) => keys[index] ?? "", get: (key) => Reflect.get(value, key) };
}

function writeMap(map: Map<unknown, unknown>, writing: Writing): Written {
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

function writeItems(count: number, itemAt: (index: number) => unknown, writing: Writing): Written {
  const reserve = reserveFor(count, writing);
  if (!spend(2 + reserve, writing)) return full;
  const items: Json[] = [];
  for (let index = 0; index < count; index += 1) {
    const { left } = writing;
    const comma = index === 0 ? 0 : 1;
    let item = spend(comma, writing) ? read(() => itemAt(index), writing) : full;
    if (item === undefined) item = writeScalar(null, writing);
    if (item === full) {
      writing.left = left;
      break;
    }
    items.push(item ?? null);
  }
  const mark = markOf(items.length, { count, unit: "items", reserve }, writing);
  if (mark !== "") items.push(`… ${mark}`);
  return items;
}

/** The keys of an object in their order, and its values. */
type Members = { readonly count: number; keyAt(index: number): string; get(key: string): unknown };

function writeMembers({ count, keyAt, get }: Members, writing: Writing): Written {
  const reserve = reserveFor(count, writing);
  if (!spend(2 + reserve, writing)) return full;
  const members: Record<string, Json> = {};
  let comma = 0;
  let shown = 0;
  for (; shown < count; shown += 1) {
    const { left } = writing;
    const key = keyAt(shown);
    const member = writeKey(key, comma, writing) ? read(() => get(key), writing) : full;
    if (member === full || member === undefined) writing.left = left;
    if (member === full) break;
    if (member === undefined) continue;
    setMember(members, key.toWellFormed(), member);
    comma = 1;
  }
  const mark = markOf(shown, { count, unit: "keys", reserve }, writing);
  // It takes the place of a key of that name: a name that is free might be longer than what is reserved.
  if (mark !== "") members["…"] = mark;
  return members;
}

/** With its quotes and colon, and the comma before it. */
function writeKey(key: string, comma: number, writing: Writing): boolean {
  // A key that is far too long is not copied to be measured.
  if (key.length > writing.left) return false;
  return spend(comma + JSON.stringify(key.toWellFormed()).length + 1, writing);
}

/** An assignment to "__proto__" would change the prototype. */
function setMember(members: Record<string, Json>, key: string, value: Json): void {
  if (key !== "__proto__") members[key] = value;
  else Object.defineProperty(members, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Room for the longest mark that an array or object of so many items or keys can end with. */
function reserveFor(count: number, { within, note }: Writing): number {
  if (count === 0) return 0;
  const noteLength = within.length === 1 && note !== "" ? JSON.stringify(note).length : 0;
  return 24 + 3 * String(count).length + noteLength;
}

type Opened = { readonly count: number; readonly unit: string; readonly reserve: number };

/** What is left out, in words, or nothing. The room reserved for it is given back when it is not used. */
function markOf(shown: number, { count, unit, reserve }: Opened, writing: Writing): string {
  writing.isCut ||= shown < count;
  const missing = shown < count ? `${grouped(shown)} of ${grouped(count)} ${unit} shown` : "";
  const note = writing.isCut && writing.within.length === 1 ? writing.note : "";
  if (missing === "" && note === "") writing.left += reserve;
  return missing !== "" && note !== "" ? `${missing}; ${note}` : missing + note;
}
