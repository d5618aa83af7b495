// Globs are written in RE2's syntax and matched by RE2, in linear time: "**/**/**" costs no more than "**". `*` and `?`
// stay in a name, `**` crosses folders, `{a,b}` and `[a-z]` choose, `!` or `^` after a bracket negates.
import { badArguments, quoted } from "./file-failure.ts";

const mostCharacters = 500;

type Reader = { readonly glob: string; at: number; depth: number };

/** The pattern that matches the paths a glob means. A glob without a slash means names in any folder. */
export function globToRe2(glob: string): string {
  if (glob.length > mostCharacters || !glob.isWellFormed())
    throw badArguments(`The glob ${quoted(glob)} has more than ${mostCharacters} characters or half a one.`);
  const whole = glob.includes("/") ? glob.replace(/^\.?\//, "") : `**/${glob}`;
  const reader: Reader = { glob: whole, at: 0, depth: 0 };
  let re2 = "";
  while (reader.at < whole.length) re2 += next(reader);
  if (reader.depth > 0) throw badArguments(`The glob ${quoted(glob)} opens a brace that it does not close.`);
  return `(?s)^(?:${re2})$`;
}

function next(reader: Reader): string {
  const { glob, at } = reader;
  const character = String.fromCodePoint(glob.codePointAt(at) ?? 0);
  if (character === "*") return star(reader);
  if (character === "[") return characterClass(reader);
  reader.at += character.length;
  if (character === "?") return "[^/]";
  if (character === "{") {
    reader.depth++;
    return "(?:";
  }
  if (reader.depth > 0 && character === ",") return "|";
  if (reader.depth > 0 && character === "}") {
    reader.depth--;
    return ")";
  }
  if (character !== "\\") return literal(character);
  const escaped = String.fromCodePoint(glob.codePointAt(reader.at) ?? 0x5c);
  reader.at += escaped.length;
  return literal(escaped);
}

function star(reader: Reader): string {
  const stars = /^\*+/.exec(reader.glob.slice(reader.at))?.[0].length ?? 1;
  const isWholeName = reader.at === 0 || reader.glob[reader.at - 1] === "/";
  reader.at += stars;
  if (stars === 1 || !isWholeName) return "[^/]*";
  if (reader.glob[reader.at] !== "/") return ".*";
  // Several in a row mean the same as one.
  reader.at += /^(?:\/\*\*(?=\/))*\//.exec(reader.glob.slice(reader.at))?.[0].length ?? 1;
  return "(?:.*/)?";
}

function characterClass(reader: Reader): string {
  const [whole, negation = "", members = ""] =
    /^\[([!^]?)(\]?[^\]]*)\]/u.exec(reader.glob.slice(reader.at)) ?? [];
  if (whole === undefined) {
    reader.at++;
    return literal("[");
  }
  reader.at += whole.length;
  const written = [...members].map((member, index, all) =>
    member === "-" && index > 0 && index < all.length - 1 ? "-" : literal(member),
  );
  return negation ? `[^/${written.join("")}]` : `[${written.join("")}]`;
}

function literal(character: string): string {
  return `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
