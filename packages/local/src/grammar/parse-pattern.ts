import { createSchemaError, type Location } from "./rules.ts";

/** A part of a pattern. The body of a class is in the notation of GBNF and has no character that JSON escapes. */
export type PatternNode =
  | { readonly type: "class"; readonly body: string }
  | { readonly type: "text"; readonly character: string }
  | { readonly type: "sequence" | "choice"; readonly nodes: readonly PatternNode[] }
  | { readonly type: "repeat"; readonly node: PatternNode; readonly min: number; readonly max: number };

/** Characters that a JSON string has to escape. */
const unsafe = '"\\\\\\x00-\\x1F\\x7F';
const shorthands: { readonly [letter: string]: string } = { d: "0-9", w: "a-zA-Z0-9_", s: " " };
const controls: { readonly [letter: string]: string } = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v" };

type Reader = { readonly characters: readonly string[]; position: number; readonly location: Location };

/** Parses a regular expression by recursive descent. Throws `model_rejected` for syntax that has no grammar. */
export function parsePattern(pattern: string, location: Location): PatternNode {
  const reader: Reader = { characters: [...pattern], position: 0, location };
  const node = readChoice(reader);
  return reader.position < reader.characters.length ? fail(reader, `"${peek(reader)}"`) : node;
}

function fail({ location }: Reader, what: string): never {
  throw createSchemaError(location, "pattern", `uses ${what}, which is not supported`);
}

const peek = ({ characters, position }: Reader, ahead = 0): string | undefined =>
  characters[position + ahead];

function read(reader: Reader): string {
  return reader.characters[reader.position++] ?? fail(reader, "an open group or class");
}

function skip(reader: Reader, character: string): boolean {
  if (peek(reader) !== character) return false;
  reader.position++;
  return true;
}

function readChoice(reader: Reader): PatternNode {
  const nodes = [readSequence(reader)];
  while (skip(reader, "|")) nodes.push(readSequence(reader));
  return nodes.length === 1 && nodes[0] ? nodes[0] : { type: "choice", nodes };
}

const isEnd = (character: string | undefined): boolean =>
  character === undefined || character === "|" || character === ")";

/** Anchors may only stand where they are always true, because the whole text has to match. */
function readSequence(reader: Reader): PatternNode {
  const nodes: PatternNode[] = [];
  const before = peek(reader, -1);
  if (isEnd(before) || before === "(" || before === ":") skip(reader, "^");
  while (!isEnd(peek(reader)))
    if (peek(reader) === "$" && isEnd(peek(reader, 1))) reader.position++;
    else nodes.push(readRepetition(reader, readAtom(reader)));
  return { type: "sequence", nodes };
}

function readRepetition(reader: Reader, node: PatternNode): PatternNode {
  const bounds = readBounds(reader);
  if (!bounds) return node;
  skip(reader, "?"); // lazy: the same texts match
  return { type: "repeat", node, min: bounds[0], max: bounds[1] };
}

function readBounds(reader: Reader): readonly [number, number] | undefined {
  if (skip(reader, "*")) return [0, Infinity];
  if (skip(reader, "+")) return [1, Infinity];
  if (skip(reader, "?")) return [0, 1];
  const match = /^\{(\d+)(,(\d*))?\}/.exec(reader.characters.slice(reader.position).join(""));
  if (!match) return undefined;
  reader.position += match[0].length;
  const min = Number(match[1]);
  return [min, match[2] === undefined ? min : match[3] ? Number(match[3]) : Infinity];
}

function readAtom(reader: Reader): PatternNode {
  const character = read(reader);
  if (character === "(") return readGroup(reader);
  if (character === "[") return readClass(reader);
  if (character === ".") return { type: "class", body: `^${unsafe}` };
  if (character === "\\") return readEscape(reader);
  if ("^$*+?{".includes(character)) return fail(reader, `"${character}" in this position`);
  return { type: "text", character };
}

function readGroup(reader: Reader): PatternNode {
  if (skip(reader, "?")) {
    const isNamed = skip(reader, "<") && peek(reader) !== "=" && peek(reader) !== "!";
    if (isNamed) while (read(reader) !== ">");
    else if (!skip(reader, ":")) return fail(reader, "a lookaround or a flag");
  }
  const node = readChoice(reader);
  return skip(reader, ")") ? node : fail(reader, "an open group");
}

function readEscape(reader: Reader): PatternNode {
  const letter = read(reader);
  const body = shorthands[letter];
  if (body !== undefined) return { type: "class", body };
  const excluded = shorthands[letter.toLowerCase()];
  // The opposite of all white space, not only of the space.
  if (excluded !== undefined)
    return {
      type: "class",
      body: `^${letter === "S" ? "\\x20\\u00A0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000\\uFEFF" : excluded}${unsafe}`,
    };
  const control = controls[letter];
  if (control !== undefined) return { type: "text", character: control };
  return /[a-zA-Z0-9]/.test(letter) ? fail(reader, `"\\${letter}"`) : { type: "text", character: letter };
}

function readClass(reader: Reader): PatternNode {
  const isNegated = skip(reader, "^");
  const items: string[] = [];
  while (peek(reader) !== "]") items.push(...readClassItem(reader, isNegated));
  reader.position++;
  if (isNegated) return { type: "class", body: `^${items.join("")}${unsafe}` };
  if (items.length === 0) fail(reader, "a class of characters that JSON escapes");
  return { type: "class", body: items.join("") };
}

/** Excludes characters that JSON escapes; a negated class excludes them anyway. */
function readClassItem(reader: Reader, isNegated: boolean): readonly string[] {
  const character = read(reader);
  if (character === "\\") {
    const letter = read(reader);
    const set = shorthands[letter];
    if (set !== undefined)
      return isNegated && letter === "s" ? fail(reader, '"\\s" in a negated class') : [set];
    if (/[a-zA-Z0-9]/.test(letter)) fail(reader, `"\\${letter}" in a class`);
    return isSafe(letter) || isNegated ? [escapeClass(letter)] : [];
  }
  if (peek(reader) !== "-" || peek(reader, 1) === "]" || peek(reader, 1) === undefined)
    return isSafe(character) || isNegated ? [escapeClass(character)] : [];
  reader.position++;
  const end = read(reader);
  if (end === "\\" || (!isNegated && coversUnsafe(character, end))) fail(reader, "a range of punctuation");
  return [`${escapeClass(character)}-${escapeClass(end)}`];
}

const isSafe = (character: string): boolean => character > "\x1f" && !'"\\\x7f'.includes(character);

const coversUnsafe = (from: string, to: string): boolean =>
  from < " " || ['"', "\\", "\x7f"].some((character) => from <= character && character <= to);

/** GBNF knows few escapes, so that special characters are written by number. */
function escapeClass(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return /[\w ]/.test(character) ? character : `\\U${code.toString(16).padStart(8, "0")}`;
}
