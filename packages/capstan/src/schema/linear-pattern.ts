// JSON Schema patterns are ECMAScript regular expressions with the flag "u". RE2, which matches in linear time, has a
// different syntax for some constructs (`\u{1F600}`, `[^]`) and different semantics for others (`.`, `\s`,
// `[[:alpha:]]`). So a pattern is parsed by the ECMAScript grammar and rewritten, with every class member as a code point.

const maxRepetitions = 1000;

type Translation =
  | { readonly re2: string; readonly problem?: undefined }
  | { readonly problem: string; readonly re2?: undefined };
type PatternReader = { readonly pattern: string; at: number; problem: string | undefined };

/** Translates a pattern to RE2 syntax, or explains why it cannot. Unicode property names are checked by RE2 later. */
export function toRe2(pattern: string): Translation {
  try {
    new RegExp(pattern, "u");
  } catch (error) {
    return { problem: `it is invalid (${error instanceof Error ? error.message : "unknown reason"})` };
  }
  const reader: PatternReader = { pattern, at: 0, problem: undefined };
  let re2 = "";
  while (reader.at < pattern.length && reader.problem === undefined) re2 += translateTerm(reader);
  return reader.problem === undefined ? { re2 } : { problem: reader.problem };
}

function translateTerm(reader: PatternReader): string {
  const character = reader.pattern[reader.at];
  if (character === "\\") return translateEscape(reader, "alone");
  if (character === "[") return translateClass(reader);
  if (character === "(") return translateGroup(reader);
  if (character === "{") return translateRepetition(reader);
  reader.at++;
  // RE2's dot matches every line terminator except "\n".
  return character === "." ? "[^\\n\\r\\x{2028}\\x{2029}]" : (character ?? "");
}

function translateGroup(reader: PatternReader): string {
  const opening = consume(reader, /\(\?<(?![=!])[^>]*>|\(\?<?.|\(/uy);
  if (opening === "(" || opening === "(?:") return opening;
  // Names only matter for back-references, and RE2 may not allow them.
  if (opening.endsWith(">")) return "(?:";
  reader.problem = /[=!]$/.test(opening)
    ? "it uses lookaround, which cannot be matched in linear time"
    : "it changes flags, which is not supported";
  return "";
}

function translateRepetition(reader: PatternReader): string {
  const count = consume(reader, /\{[^}]*\}/y);
  const maxCount = Math.max(...(count.match(/\d+/g) ?? []).map(Number));
  if (maxCount > maxRepetitions) reader.problem = `it repeats more than ${maxRepetitions} times`;
  return count;
}

function translateClass(reader: PatternReader): string {
  const opening = consume(reader, /\[\^?/y);
  let members = "";
  while (reader.pattern[reader.at] !== "]" && reader.problem === undefined) {
    members += translateClassMember(reader);
    if (/^-[^\]]/u.test(reader.pattern.slice(reader.at, reader.at + 2))) {
      reader.at++;
      members += `-${translateClassMember(reader)}`;
    }
  }
  reader.at++;
  // RE2 has no empty class.
  if (members === "") return opening === "[" ? "[^\\x{0}-\\x{10FFFF}]" : "[\\x{0}-\\x{10FFFF}]";
  return `${opening}${members}]`;
}

function translateClassMember(reader: PatternReader): string {
  if (reader.pattern[reader.at] === "\\") return translateEscape(reader, "in a class");
  return toCodePoint(consume(reader, /./suy));
}

const spaceRanges =
  "\\t-\\r \\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}\\x{FEFF}";
const nonSpaceRanges =
  "\\x{0}-\\x{8}\\x{E}-\\x{1F}\\x{21}-\\x{9F}\\x{A1}-\\x{167F}\\x{1681}-\\x{1FFF}\\x{200B}-\\x{2027}\\x{202A}-\\x{202E}" +
  "\\x{2030}-\\x{205E}\\x{2060}-\\x{2FFF}\\x{3001}-\\x{FEFE}\\x{FF00}-\\x{10FFFF}";

const escapePattern =
  /\\(?:u\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|x..|c.|[pP]\{[^}]*\}|k<[^>]*>|[1-9]\d*|.)/suy;

function translateEscape(reader: PatternReader, position: "alone" | "in a class"): string {
  const text = consume(reader, escapePattern);
  const letter = text[1] ?? "";
  if (/[dDwW]/.test(letter)) return text;
  if (/[tnvfr0]/.test(letter))
    return toCodePoint({ t: "\t", n: "\n", v: "\v", f: "\f", r: "\r" }[letter] ?? "\0");
  if (letter === "s") return position === "alone" ? `[${spaceRanges}]` : spaceRanges;
  if (letter === "S") return position === "alone" ? `[${nonSpaceRanges}]` : nonSpaceRanges;
  if (/[bB]/.test(letter)) return position === "alone" ? text : toCodePoint("\b");
  if (/[pP]/.test(letter)) return text.replace(/\{(?:Script|sc|General_Category|gc)=/, "{");
  if (/[1-9k]/.test(letter)) {
    reader.problem = "it uses a back-reference, which cannot be matched in linear time";
    return "";
  }
  if (letter === "c") return toCodePoint(String.fromCharCode(text.charCodeAt(2) % 32));
  if (/[ux]/.test(letter)) return toCodePoint(decodeUnicodeEscape(text));
  return toCodePoint(letter);
}

function decodeUnicodeEscape(text: string): string {
  const units = text.match(/[\da-fA-F]+/g) ?? [];
  return String.fromCodePoint(...units.map((digits) => Number.parseInt(digits, 16)));
}

/** Escapes a character so that it matches literally in any position. */
function toCodePoint(character: string): string {
  return `\\x{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`;
}

function consume(reader: PatternReader, token: RegExp): string {
  token.lastIndex = reader.at;
  const text = token.exec(reader.pattern)?.[0] ?? "";
  reader.at += text.length;
  return text;
}
