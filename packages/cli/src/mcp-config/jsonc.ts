// Reads and edits JSON with comments and trailing commas, as VS Code and Zed use it. An edit changes one member and keeps
// every other character: comments, order, indentation and line ends.

/** Thrown for a text that is not JSON. It names the position and quotes nothing, because the text may hold secrets. */
export class JsoncError extends Error {}

type Member = {
  readonly key: string;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
};
type ObjectSpan = { readonly start: number; readonly members: readonly Member[]; readonly end: number };

const maxDepth = 100;

/** Parses the text; an empty one is undefined. */
export function parseJsonc(text: string): unknown {
  const json = toJson(text);
  if (json.trim() === "") return undefined;
  try {
    return JSON.parse(json);
  } catch {
    // Comments keep their length, so positions do not change.
    skipValue(text, skipTrivia(text, 0), 0);
    throw createError(text, text.length);
  }
}

/** Replaces comments by spaces, and removes commas before a closing bracket. */
function toJson(text: string): string {
  const token = /"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
  const plain = text
    .replace(/^\uFEFF/, " ")
    .replace(token, (found) => (found.startsWith("/") ? found.replace(/[^\r\n]/g, " ") : found));
  return plain.replace(/"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])/g, (found) => (found === "," ? " " : found));
}

/**
 * Sets the member `path[0].path[1]…` of the root object, or removes it if the value is undefined. Missing objects are
 * added. Throws a `JsoncError` for a text that is not an object, or a path through something else.
 */
export function setMember(text: string, path: readonly string[], value: unknown): string {
  if (parseJsonc(text) === undefined) return setMember("{}\n", path, value);
  let root = skipTrivia(text, 0);
  for (const [depth, key] of path.entries()) {
    if (text[root] !== "{") throw createError(text, root);
    const object = readObject(text, root, depth);
    const member = object.members.find((candidate) => candidate.key === key);
    const isLast = depth === path.length - 1;
    if (!member) {
      if (value === undefined) return text;
      const nested = path.slice(depth + 1).reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
      return addMember(text, object, { key, value: nested, depth: depth + 1 });
    }
    if (isLast && value === undefined) return removeMember(text, object, member);
    if (isLast)
      return (
        text.slice(0, member.valueStart) + formatJsonValue(text, value, depth + 1) + text.slice(member.end)
      );
    root = member.valueStart;
  }
  return text;
}

function addMember(
  text: string,
  { start, members, end }: ObjectSpan,
  { key, value, depth }: { readonly key: string; readonly value: unknown; readonly depth: number },
): string {
  const { unit, lineEnd } = detectFormat(text);
  const last = members.at(-1);
  const bodyEnd = last?.end ?? start + 1;
  const hasComma = last !== undefined && text[skipTrivia(text, bodyEnd)] === ",";
  // Comments after the last member stay before the new one.
  const rest = text.slice(bodyEnd, end).trimEnd();
  const line = lineEnd + unit.repeat(depth);
  const member = `${JSON.stringify(key)}: ${formatJsonValue(text, value, depth)}`;
  return [
    text.slice(0, bodyEnd),
    last && !hasComma ? "," : "",
    rest,
    line,
    member,
    hasComma ? "," : "",
    lineEnd + unit.repeat(depth - 1),
    text.slice(end),
  ].join("");
}

function removeMember(text: string, { start, members }: ObjectSpan, member: Member): string {
  const index = members.indexOf(member);
  const previous = members[index - 1];
  const comma = skipTrivia(text, member.end);
  const hasComma = text[comma] === ",";
  const end = hasComma ? comma + 1 : member.end;
  // Spaces and the line end before the member go with it.
  const from = text.slice(0, member.start).trimEnd().length;
  const isLast = index === members.length - 1;
  if (isLast && !hasComma && previous) {
    const previousComma = skipTrivia(text, previous.end);
    return text.slice(0, previousComma) + text.slice(previousComma + 1, from) + text.slice(end);
  }
  return text.slice(0, Math.max(from, start + 1)) + text.slice(end);
}

function formatJsonValue(text: string, value: unknown, depth: number): string {
  const { unit, lineEnd } = detectFormat(text);
  const lines = JSON.stringify(value, undefined, unit).split("\n");
  return lines.join(lineEnd + unit.repeat(depth));
}

function detectFormat(text: string): { readonly unit: string; readonly lineEnd: string } {
  const [, unit = "  "] = /\{[^\S\n]*\r?\n([ \t]+)"/.exec(text) ?? [];
  return { unit, lineEnd: text.includes("\r\n") ? "\r\n" : "\n" };
}

function readObject(text: string, start: number, depth: number): ObjectSpan {
  const members: Member[] = [];
  let at = skipTrivia(text, start + 1);
  while (text[at] !== "}") {
    const keyEnd = skipString(text, at);
    const colon = skipTrivia(text, keyEnd);
    if (text[colon] !== ":") throw createError(text, colon);
    const valueStart = skipTrivia(text, colon + 1);
    const end = skipValue(text, valueStart, depth + 1);
    members.push({ key: JSON.parse(text.slice(at, keyEnd)), start: at, valueStart, end });
    at = skipTrivia(text, end);
    if (text[at] === ",") at = skipTrivia(text, at + 1);
    else if (text[at] !== "}") throw createError(text, at);
  }
  return { start, members, end: at };
}

/** Returns the position after the value. */
function skipValue(text: string, at: number, depth: number): number {
  if (depth > maxDepth) throw createError(text, at);
  if (text[at] === "{") return readObject(text, at, depth).end + 1;
  if (text[at] === '"') return skipString(text, at);
  if (text[at] === "[") {
    let next = skipTrivia(text, at + 1);
    while (text[next] !== "]") {
      next = skipTrivia(text, skipValue(text, next, depth + 1));
      if (text[next] === ",") next = skipTrivia(text, next + 1);
      else if (text[next] !== "]") throw createError(text, next);
    }
    return next + 1;
  }
  return match(text, at, /(?:true|false|null|-?\d[\d.eE+-]*)/y);
}

const skipString = (text: string, at: number): number => match(text, at, /"(?:[^"\\\n]|\\.)*"/y);
const skipTrivia = (text: string, at: number): number =>
  match(text, at, /(?:[\s\uFEFF]+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y);

function match(text: string, at: number, pattern: RegExp): number {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  if (!found) throw createError(text, at);
  return pattern.lastIndex;
}

function createError(text: string, at: number): JsoncError {
  const lines = text.slice(0, at).split("\n");
  return new JsoncError(`line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`);
}
