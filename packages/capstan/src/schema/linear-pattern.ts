// JSON Schema writes patterns as ECMAScript does with the flag "u". RE2, which matches in linear time, writes some of
// that in another way (`\u{1F600}`, `[^]`) and means something else by some (`.`, `\s`, `[[:alpha:]]`). So a pattern is
// read by ECMAScript's grammar and written anew, with every character of a class as a number.

const mostRepetitions = 1000;

type Translation =
  | { readonly re2: string; readonly problem?: undefined }
  | { readonly problem: string; readonly re2?: undefined };
type Reader = { readonly pattern: string; at: number; problem: string | undefined };

/** A pattern of JSON Schema in RE2's syntax, or why there is none. What RE2 calls a property of characters only it knows. */
export function toRe2(pattern: string): Translation {
  try {
    new RegExp(pattern, "u");
  } catch (error) {
    return { problem: `it is not valid (${error instanceof Error ? error.message : "unknown reason"})` };
  }
  const reader: Reader = { pattern, at: 0, problem: undefined };
  let re2 = "";
  while (reader.at < pattern.length && reader.problem === undefined) re2 += term(reader);
  return reader.problem === undefined ? { re2 } : { problem: reader.problem };
}

function term(reader: Reader): string {
  const character = reader.pattern[reader.at];
  if (character === "\\") return escaped(reader, "alone");
  if (character === "[") return characterClass(reader);
  if (character === "(") return group(reader);
  if (character === "{") return repetition(reader);
  reader.at++;
  // RE2's dot matches all line ends but "\n".
  return character === "." ? "[^\\n\\r\\x{2028}\\x{2029}]" : (character ?? "");
}

function group(reader: Reader): string {
  const opening = take(reader, /\(\?<(?![=!])[^>]*>|\(\?<?.|\(/uy);
  if (opening === "(" || opening === "(?:") return opening;
  // A name only serves back-references, and may be one that RE2 does not allow.
  if (opening.endsWith(">")) return "(?:";
  reader.problem = /[=!]$/.test(opening)
    ? "it looks around itself, which takes more than linear time"
    : "it changes its flags, which is not supported";
  return "";
}

function repetition(reader: Reader): string {
  const count = take(reader, /\{[^}]*\}/y);
  const largest = Math.max(...(count.match(/\d+/g) ?? []).map(Number));
  if (largest > mostRepetitions) reader.problem = `it repeats more than ${mostRepetitions} times`;
  return count;
}

function characterClass(reader: Reader): string {
  const opening = take(reader, /\[\^?/y);
  let members = "";
  while (reader.pattern[reader.at] !== "]" && reader.problem === undefined) {
    members += member(reader);
    if (/^-[^\]]/u.test(reader.pattern.slice(reader.at, reader.at + 2))) {
      reader.at++;
      members += `-${member(reader)}`;
    }
  }
  reader.at++;
  // RE2 has no empty class: none of all, all of none.
  if (members === "") return opening === "[" ? "[^\\x{0}-\\x{10FFFF}]" : "[\\x{0}-\\x{10FFFF}]";
  return `${opening}${members}]`;
}

function member(reader: Reader): string {
  if (reader.pattern[reader.at] === "\\") return escaped(reader, "in a class");
  return numbered(take(reader, /./suy));
}

const spaces =
  "\\t-\\r \\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}\\x{FEFF}";
const nonSpaces =
  "\\x{0}-\\x{8}\\x{E}-\\x{1F}\\x{21}-\\x{9F}\\x{A1}-\\x{167F}\\x{1681}-\\x{1FFF}\\x{200B}-\\x{2027}\\x{202A}-\\x{202E}" +
  "\\x{2030}-\\x{205E}\\x{2060}-\\x{2FFF}\\x{3001}-\\x{FEFE}\\x{FF00}-\\x{10FFFF}";

const anyEscape =
  /\\(?:u\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|x..|c.|[pP]\{[^}]*\}|k<[^>]*>|[1-9]\d*|.)/suy;

function escaped(reader: Reader, place: "alone" | "in a class"): string {
  const text = take(reader, anyEscape);
  const letter = text[1] ?? "";
  if (/[dDwW]/.test(letter)) return text;
  if (/[tnvfr0]/.test(letter))
    return numbered({ t: "\t", n: "\n", v: "\v", f: "\f", r: "\r" }[letter] ?? "\0");
  if (letter === "s") return place === "alone" ? `[${spaces}]` : spaces;
  if (letter === "S") return place === "alone" ? `[${nonSpaces}]` : nonSpaces;
  if (/[bB]/.test(letter)) return place === "alone" ? text : numbered("\b");
  if (/[pP]/.test(letter)) return text.replace(/\{(?:Script|sc|General_Category|gc)=/, "{");
  if (/[1-9k]/.test(letter)) {
    reader.problem = "it refers back to a group, which takes more than linear time";
    return "";
  }
  if (letter === "c") return numbered(String.fromCharCode(text.charCodeAt(2) % 32));
  if (/[ux]/.test(letter)) return numbered(unescaped(text));
  return numbered(letter);
}

function unescaped(text: string): string {
  const units = text.match(/[\da-fA-F]+/g) ?? [];
  return String.fromCodePoint(...units.map((digits) => Number.parseInt(digits, 16)));
}

/** A character that stands for itself, wherever it stands. */
function numbered(character: string): string {
  return `\\x{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`;
}

function take(reader: Reader, what: RegExp): string {
  what.lastIndex = reader.at;
  const text = what.exec(reader.pattern)?.[0] ?? "";
  reader.at += text.length;
  return text;
}
