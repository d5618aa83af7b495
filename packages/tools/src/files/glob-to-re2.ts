// Globs are translated to RE2 and matched in linear time: "**/**/**" costs no more than "**". `*` and `?` stay within a
// name, `**` crosses folders, `{a,b}` and `[a-z]` are alternatives, `!` or `^` after a bracket negates.
import { createArgumentError, quotePath } from "./file-errors.ts";

const maxGlobLength = 500;

type Reader = { readonly glob: string; at: number; depth: number };

/** Translates a glob to an RE2 pattern for whole paths. A glob without a slash matches names in any folder. */
export function translateGlob(glob: string): string {
  if (glob.length > maxGlobLength || !glob.isWellFormed())
    throw createArgumentError(
      `The glob ${quotePath(glob)} is longer than ${maxGlobLength} characters or contains an unpaired surrogate.`,
    );
  const whole = glob.includes("/") ? glob.replace(/^\.?\//, "") : `**/${glob}`;
  const reader: Reader = { glob: whole, at: 0, depth: 0 };
  let re2 = "";
  while (reader.at < whole.length) re2 += translateNext(reader);
  if (reader.depth > 0) throw createArgumentError(`The glob ${quotePath(glob)} has an unclosed brace.`);
  return `(?s)^(?:${re2})$`;
}

function translateNext(reader: Reader): string {
  const { glob, at } = reader;
  const character = String.fromCodePoint(glob.codePointAt(at) ?? 0);
  if (character === "*") return translateStar(reader);
  if (character === "[") return translateClass(reader);
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
  if (character !== "\\") return escapeCharacter(character);
  const escaped = String.fromCodePoint(glob.codePointAt(reader.at) ?? 0x5c);
  reader.at += escaped.length;
  return escapeCharacter(escaped);
}

function translateStar(reader: Reader): string {
  const stars = /^\*+/.exec(reader.glob.slice(reader.at))?.[0].length ?? 1;
  const isWholeName = reader.at === 0 || reader.glob[reader.at - 1] === "/";
  reader.at += stars;
  if (stars === 1 || !isWholeName) return "[^/]*";
  if (reader.glob[reader.at] !== "/") return ".*";
  // Consecutive `**` parts mean the same as one.
  reader.at += /^(?:\/\*\*(?=\/))*\//.exec(reader.glob.slice(reader.at))?.[0].length ?? 1;
  return "(?:.*/)?";
}

function translateClass(reader: Reader): string {
  const [whole, negation = "", members = ""] =
    /^\[([!^]?)(\]?[^\]]*)\]/u.exec(reader.glob.slice(reader.at)) ?? [];
  if (whole === undefined) {
    reader.at++;
    return escapeCharacter("[");
  }
  reader.at += whole.length;
  const escapedMembers = [...members].map((member, index, all) =>
    member === "-" && index > 0 && index < all.length - 1 ? "-" : escapeCharacter(member),
  );
  return negation ? `[^/${escapedMembers.join("")}]` : `[${escapedMembers.join("")}]`;
}

function escapeCharacter(character: string): string {
  return `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
