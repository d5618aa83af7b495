import { createSecurityError, quotePath } from "./file-errors.ts";

const maxPathLength = 4096;
const maxPathParts = 64;
const maxNameBytes = 255;

// Line breaks, control characters and direction marks make one name look like another, or like two.
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const deviceName = /^(?:con|prn|aux|nul|clock\$|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\s*(?:\.|$)/i;

/**
 * Splits a path into names below the root. Paths are literal and relative to the root; an absolute path is accepted only
 * below one of `roots`. Anything that another system or program could interpret differently is refused everywhere.
 * Throws `security`.
 */
export function parsePath(path: string, roots: readonly string[] = []): readonly string[] {
  const problem = checkPath(path);
  if (problem) throw createSecurityError(`The path ${quotePath(path)} ${problem}.`);
  const normal = path.normalize("NFC");
  const resolved = resolveNames(normal);
  const names = resolved && (normal.startsWith("/") ? stripRoot(resolved, roots) : resolved);
  if (!names)
    throw createSecurityError(
      `The path ${quotePath(path)} is outside the root. Use a path relative to the root.`,
    );
  if (names.length > maxPathParts)
    throw createSecurityError(`The path ${quotePath(path)} has more than ${maxPathParts} parts.`);
  for (const name of names) {
    const problem = checkName(name);
    if (problem) throw createSecurityError(`The name ${quotePath(name)} ${problem}.`);
  }
  return names;
}

function checkPath(path: string): string | undefined {
  if (path.length > maxPathLength) return `has more than ${maxPathLength} characters`;
  if (!path.isWellFormed()) return "contains an unpaired surrogate";
  if (unprintable.test(path)) return "contains unprintable characters";
  if (path.includes("\\")) return 'has a backslash: write "/"';
  if (path.startsWith("~")) return "starts with a tilde, which means a home folder on some systems";
  if (path.startsWith("//")) return "starts with two slashes, which mean a network host on some systems";
  return undefined;
}

/** Resolves "." and "..". Returns undefined if the path climbs above its start. */
function resolveNames(path: string): string[] | undefined {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") names.push(name);
    else if (names.pop() === undefined) return undefined;
  }
  return names;
}

function stripRoot(names: readonly string[], roots: readonly string[]): readonly string[] | undefined {
  for (const root of roots) {
    const above = root.split("/").filter((name) => name !== "");
    if (above.every((name, index) => names[index] === name)) return names.slice(above.length);
  }
  return undefined;
}

function checkName(name: string): string | undefined {
  if (Buffer.byteLength(name) > maxNameBytes) return `has more than ${maxNameBytes} bytes`;
  if (/[. ]$/u.test(name)) return "ends with a dot or a space, which some systems ignore";
  if (name.includes(":")) return "has a colon, which means a drive or stream on some systems";
  if (/%(?:2e|2f|5c|00)/i.test(name)) return "contains encoded dots or slashes: write the path unencoded";
  if (name.startsWith("-")) return "starts with a dash, which programs read as an option";
  if (deviceName.test(name)) return "is a device name on some systems";
  return undefined;
}

/** Whether `path` equals `folder` or is below it. Compares names, because "/data-evil" is not in "/data". */
export function isWithin(path: string, folder: string, separator = "/"): boolean {
  const inner = path.split(separator).filter((name) => name !== "");
  const outer = folder.split(separator).filter((name) => name !== "");
  return outer.every((name, index) => inner[index] === name);
}

/** Whether one of the paths contains the other, or both are the same. */
export function overlaps(path: string, other: string): boolean {
  return isWithin(path, other) || isWithin(other, path);
}
