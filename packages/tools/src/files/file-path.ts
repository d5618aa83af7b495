import { quoted, refused } from "./file-failure.ts";

const mostCharacters = 4096;
const mostNames = 64;
const mostBytesOfName = 255;

// Line ends, other controls and marks of direction make a name look like another one, or like two.
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const devices = /^(?:con|prn|aux|nul|clock\$|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\s*(?:\.|$)/i;

/**
 * The names that lead from the root to what a path means. A path is taken literally, relative to the root; an absolute
 * one only when it lies below one of `roots`. What another system or another program could read in another way is
 * refused everywhere, so that a path means one thing. Throws `security`.
 */
export function parsePath(path: string, roots: readonly string[] = []): readonly string[] {
  const problem = problemOfPath(path);
  if (problem) throw refused(`The path ${quoted(path)} ${problem}.`);
  const normal = path.normalize("NFC");
  const resolved = resolveNames(normal);
  const names = resolved && (normal.startsWith("/") ? belowRoot(resolved, roots) : resolved);
  if (!names)
    throw refused(`The path ${quoted(path)} leads out of the root. Paths are relative to the root.`);
  if (names.length > mostNames) throw refused(`The path ${quoted(path)} has more than ${mostNames} parts.`);
  for (const name of names) {
    const problem = problemOfName(name);
    if (problem) throw refused(`The name ${quoted(name)} ${problem}.`);
  }
  return names;
}

function problemOfPath(path: string): string | undefined {
  if (path.length > mostCharacters) return `has more than ${mostCharacters} characters`;
  if (!path.isWellFormed()) return "holds half a character";
  if (unprintable.test(path)) return "holds characters that cannot be printed";
  if (path.includes("\\")) return 'has a backslash: write "/"';
  if (path.startsWith("~")) return "begins with a tilde, which stands for a home folder elsewhere";
  if (path.startsWith("//")) return "begins with two slashes, which name another machine elsewhere";
  return undefined;
}

/** Without "." and ".."; nothing when it climbs above where it began. */
function resolveNames(path: string): string[] | undefined {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") names.push(name);
    else if (names.pop() === undefined) return undefined;
  }
  return names;
}

function belowRoot(names: readonly string[], roots: readonly string[]): readonly string[] | undefined {
  for (const root of roots) {
    const above = root.split("/").filter((name) => name !== "");
    if (above.every((name, index) => names[index] === name)) return names.slice(above.length);
  }
  return undefined;
}

function problemOfName(name: string): string | undefined {
  if (Buffer.byteLength(name) > mostBytesOfName) return `has more than ${mostBytesOfName} bytes`;
  if (/[. ]$/u.test(name)) return "ends with a dot or a space, which some systems leave out";
  if (name.includes(":")) return "has a colon, which names a drive or a stream elsewhere";
  if (/%(?:2e|2f|5c|00)/i.test(name)) return "has encoded dots or slashes: write paths as they are";
  if (name.startsWith("-")) return "begins with a dash, which programs take for an option";
  if (devices.test(name)) return "is a device elsewhere";
  return undefined;
}

/** Whether the first path is the second or lies below it: compared name by name, for "/data-evil" is not in "/data". */
export function isWithin(path: string, folder: string, separator = "/"): boolean {
  const inner = path.split(separator).filter((name) => name !== "");
  const outer = folder.split(separator).filter((name) => name !== "");
  return outer.every((name, index) => inner[index] === name);
}
