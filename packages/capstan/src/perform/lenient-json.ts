// JSON as models write it when they do not quite write JSON. What is missing is never made up: an open string, list,
// object, comment or fence stays an error, so a text that was cut off is never taken for a complete one.
import type { Json } from "../json.ts";
import { maxArgumentDepth } from "./parse-arguments.ts";

export type LenientJson = { readonly value: Json; readonly repairs: string[] };

type Reader = { readonly text: string; at: number; readonly repairs: Set<string> };

/** Reads JSON, and what certainly means JSON; `repairs` says what was read differently. Undefined for anything else. */
export function parseLenient(text: string): LenientJson | undefined {
  const reader: Reader = { text, at: 0, repairs: new Set() };
  if (take(reader, /\uFEFF/y)) reader.repairs.add("removed a byte order mark");
  const isFenced = take(reader, /[ \t\n\r]*```(?:[A-Za-z][\w+-]*)?/y) !== undefined;
  const value = readValue(reader, maxArgumentDepth);
  if (value === undefined || !skip(reader)) return undefined;
  if (isFenced) {
    if (!take(reader, /```[ \t\n\r]*/y)) return undefined;
    reader.repairs.add("removed a code fence");
  }
  return reader.at === text.length ? { value, repairs: [...reader.repairs] } : undefined;
}

function take(reader: Reader, what: RegExp): string | undefined {
  what.lastIndex = reader.at;
  const found = what.exec(reader.text)?.[0];
  if (found !== undefined) reader.at += found.length;
  return found;
}

/** Goes past spaces and comments; false at a comment that does not end. */
function skip(reader: Reader): boolean {
  for (;;) {
    take(reader, /[ \t\n\r]+/y);
    if (reader.text[reader.at] !== "/") return true;
    if (take(reader, /\/\/[^\n\r]*/y) === undefined && !skipBlockComment(reader)) return false;
    reader.repairs.add("removed comments");
  }
}

function skipBlockComment(reader: Reader): boolean {
  if (reader.text[reader.at + 1] !== "*") return false;
  const end = reader.text.indexOf("*/", reader.at + 2);
  reader.at = end + 2;
  return end >= 0;
}

function readValue(reader: Reader, depth: number): Json | undefined {
  if (!skip(reader)) return undefined;
  const first = reader.text[reader.at] ?? "";
  if (closing.has(first)) return readString(reader, first);
  if (first !== "[" && first !== "{") return readNumber(reader) ?? readWord(reader);
  if (depth === 0) return undefined;
  if (first === "[") return readMembers(reader, "]", () => readValue(reader, depth - 1));
  const entries = readMembers(reader, "}", () => readEntry(reader, depth - 1));
  // fromEntries defines own keys, whatever they are called; the last of duplicated keys wins, as in JSON.
  return entries && Object.fromEntries(entries);
}

function readNumber(reader: Reader): number | undefined {
  const digits = take(reader, /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y);
  return digits === undefined ? undefined : Number(digits);
}

const words: ReadonlyMap<string, Json> = new Map([
  ...([
    ["true", true],
    ["false", false],
    ["null", null],
  ] as const),
  ...([
    ["True", true],
    ["False", false],
    ["None", null],
  ] as const),
]);

function readWord(reader: Reader): Json | undefined {
  const word = take(reader, /[A-Za-z]+/y) ?? "";
  if (/^[TFN]/.test(word)) reader.repairs.add("read Python's True, False and None");
  return words.get(word);
}

function readMembers<Member>(
  reader: Reader,
  close: "]" | "}",
  readMember: () => Member | undefined,
): Member[] | undefined {
  const members: Member[] = [];
  reader.at++;
  for (;;) {
    if (!skip(reader)) return undefined;
    if (reader.text[reader.at] === close) {
      reader.at++;
      if (members.length > 0) reader.repairs.add("removed trailing commas");
      return members;
    }
    const member = readMember();
    if (member === undefined || !skip(reader)) return undefined;
    members.push(member);
    const next = reader.text[reader.at++];
    if (next === close) return members;
    if (next !== ",") return undefined;
  }
}

function readEntry(reader: Reader, depth: number): [string, Json] | undefined {
  const first = reader.text[reader.at] ?? "";
  const key = closing.has(first) ? readString(reader, first) : readIdentifier(reader);
  if (key === undefined || !skip(reader) || reader.text[reader.at++] !== ":") return undefined;
  const value = readValue(reader, depth);
  return value === undefined ? undefined : [key, value];
}

function readIdentifier(reader: Reader): string | undefined {
  const name = take(reader, /[A-Za-z_$][\w$]*/y);
  // `{None: 1}` may be Python, where the key is no text.
  if (name === undefined || words.has(name)) return undefined;
  reader.repairs.add("quoted keys");
  return name;
}

/** What opens a string, and what closes it. */
const closing: ReadonlyMap<string, string> = new Map([
  ...([
    ['"', '"'],
    ["'", "'"],
  ] as const),
  ...([
    ["\u201C", "\u201D"],
    ["\u201D", "\u201D"],
    ["\u2018", "\u2019"],
    ["\u2019", "\u2019"],
  ] as const),
]);
const escapes: ReadonlyMap<string, string> = new Map(
  Object.entries({ '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }),
);

function readString(reader: Reader, opening: string): string | undefined {
  const close = closing.get(opening);
  const isSmart = opening > "'";
  // Where quotes are mixed, nobody knows which of them was meant to end the string.
  const doubtful = isSmart ? (close === "\u201D" ? '"\u201C' : "'\u2018") : "";
  if (opening !== '"') reader.repairs.add(isSmart ? "read smart quotes" : "read single quotes");
  let value = "";
  let from = ++reader.at;
  for (;;) {
    const character = reader.text[reader.at] ?? "";
    if (character === "" || doubtful.includes(character)) return undefined;
    if (character === "\\") {
      value += reader.text.slice(from, reader.at);
      const escaped = readEscape(reader, opening);
      if (escaped === undefined) return undefined;
      value += escaped;
      from = reader.at;
      continue;
    }
    reader.at++;
    if (character === close) return value + reader.text.slice(from, reader.at - 1);
    if (character >= " ") continue;
    if (!"\n\r\t".includes(character)) return undefined;
    reader.repairs.add("read raw line breaks and tabs in strings");
  }
}

function readEscape(reader: Reader, opening: string): string | undefined {
  const unicode = take(reader, /\\u[\da-fA-F]{4}/y);
  if (unicode !== undefined) return String.fromCharCode(Number.parseInt(unicode.slice(2), 16));
  const character = reader.text[reader.at + 1] ?? "";
  reader.at += 2;
  return character === "'" && opening === "'" ? "'" : escapes.get(character);
}
