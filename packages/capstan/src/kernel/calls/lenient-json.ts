// Parses the near-JSON that models sometimes write. Missing content is never invented: an unclosed string, list, object,
// comment or fence is an error, so truncated text is never taken for a complete value.
import type { Json } from "../../base/json.ts";
import { maxArgumentDepth } from "./parse-arguments.ts";

export type LenientJson = { readonly value: Json; readonly repairs: string[] };

type Reader = { readonly text: string; position: number; readonly repairs: Set<string> };

/** Parses JSON and unambiguous deviations from it, listed in `repairs`. Returns undefined for anything else. */
export function parseLenient(text: string): LenientJson | undefined {
  const reader: Reader = { text, position: 0, repairs: new Set() };
  if (take(reader, /\uFEFF/y)) reader.repairs.add("removed a byte order mark");
  const isFenced = take(reader, /[ \t\n\r]*```(?:[A-Za-z][\w+-]*)?/y) !== undefined;
  const value = readValue(reader, maxArgumentDepth);
  if (value === undefined || !skip(reader)) return undefined;
  if (isFenced) {
    if (!take(reader, /```[ \t\n\r]*/y)) return undefined;
    reader.repairs.add("removed a code fence");
  }
  return reader.position === text.length ? { value, repairs: [...reader.repairs] } : undefined;
}

function take(reader: Reader, pattern: RegExp): string | undefined {
  pattern.lastIndex = reader.position;
  const match = pattern.exec(reader.text)?.[0];
  if (match !== undefined) reader.position += match.length;
  return match;
}

/** Skips whitespace and comments; returns false at an unclosed comment. */
function skip(reader: Reader): boolean {
  for (;;) {
    take(reader, /[ \t\n\r]+/y);
    if (reader.text[reader.position] !== "/") return true;
    if (take(reader, /\/\/[^\n\r]*/y) === undefined && !skipBlockComment(reader)) return false;
    reader.repairs.add("removed comments");
  }
}

function skipBlockComment(reader: Reader): boolean {
  if (reader.text[reader.position + 1] !== "*") return false;
  const end = reader.text.indexOf("*/", reader.position + 2);
  reader.position = end + 2;
  return end >= 0;
}

function readValue(reader: Reader, depth: number): Json | undefined {
  if (!skip(reader)) return undefined;
  const first = reader.text[reader.position] ?? "";
  if (closingQuotes.has(first)) return readString(reader, first);
  if (first !== "[" && first !== "{") return readNumber(reader) ?? readWord(reader);
  if (depth === 0) return undefined;
  if (first === "[") return readMembers(reader, "]", () => readValue(reader, depth - 1));
  const entries = readMembers(reader, "}", () => readEntry(reader, depth - 1));
  // fromEntries defines own properties, even for "__proto__"; the last duplicate wins, as in `JSON.parse`.
  return entries && Object.fromEntries(entries);
}

function readNumber(reader: Reader): number | undefined {
  const digits = take(reader, /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y);
  return digits === undefined ? undefined : Number(digits);
}

const literals: ReadonlyMap<string, Json> = new Map([
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
  return literals.get(word);
}

function readMembers<Member>(
  reader: Reader,
  close: "]" | "}",
  readMember: () => Member | undefined,
): Member[] | undefined {
  const members: Member[] = [];
  reader.position++;
  for (;;) {
    if (!skip(reader)) return undefined;
    if (reader.text[reader.position] === close) {
      reader.position++;
      if (members.length > 0) reader.repairs.add("removed trailing commas");
      return members;
    }
    const member = readMember();
    if (member === undefined || !skip(reader)) return undefined;
    members.push(member);
    const next = reader.text[reader.position++];
    if (next === close) return members;
    if (next !== ",") return undefined;
  }
}

function readEntry(reader: Reader, depth: number): [string, Json] | undefined {
  const first = reader.text[reader.position] ?? "";
  const key = closingQuotes.has(first) ? readString(reader, first) : readIdentifier(reader);
  if (key === undefined || !skip(reader) || reader.text[reader.position++] !== ":") return undefined;
  const value = readValue(reader, depth);
  return value === undefined ? undefined : [key, value];
}

function readIdentifier(reader: Reader): string | undefined {
  const name = take(reader, /[A-Za-z_$][\w$]*/y);
  // `{None: 1}` may be Python, where the key is not a string.
  if (name === undefined || literals.has(name)) return undefined;
  reader.repairs.add("quoted keys");
  return name;
}

/** Closing quote for each opening quote. */
const closingQuotes: ReadonlyMap<string, string> = new Map([
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
  const close = closingQuotes.get(opening);
  const isSmart = opening > "'";
  // With mixed quotes it is ambiguous which one ends the string.
  const ambiguousQuotes = isSmart ? (close === "\u201D" ? '"\u201C' : "'\u2018") : "";
  if (opening !== '"') reader.repairs.add(isSmart ? "read smart quotes" : "read single quotes");
  let value = "";
  let from = ++reader.position;
  for (;;) {
    const character = reader.text[reader.position] ?? "";
    if (character === "" || ambiguousQuotes.includes(character)) return undefined;
    if (character === "\\") {
      value += reader.text.slice(from, reader.position);
      const escaped = readEscape(reader, opening);
      if (escaped === undefined) return undefined;
      value += escaped;
      from = reader.position;
      continue;
    }
    reader.position++;
    if (character === close) return value + reader.text.slice(from, reader.position - 1);
    if (character >= " ") continue;
    if (!"\n\r\t".includes(character)) return undefined;
    reader.repairs.add("read raw line breaks and tabs in strings");
  }
}

function readEscape(reader: Reader, opening: string): string | undefined {
  const unicode = take(reader, /\\u[\da-fA-F]{4}/y);
  if (unicode !== undefined) return String.fromCharCode(Number.parseInt(unicode.slice(2), 16));
  const character = reader.text[reader.position + 1] ?? "";
  reader.position += 2;
  return character === "'" && opening === "'" ? "'" : escapes.get(character);
}
