import { AgentError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";

/** Streamed arguments: each piece sets a value, or appends to a string, at a JSON path. */
export type PartialArguments = {
  readonly root: Record<string, unknown>;
  /** Paths of incomplete strings. */
  readonly unfinished: Set<string>;
};

type Container = Record<string | number, unknown>;

const maxDepth = 64;
const maxElements = 10_000;
const pathSegment = /\.([^.[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/gy;

export function createPartialArguments(start: unknown): PartialArguments {
  // Without a prototype, a path such as `$.__proto__` is an ordinary key.
  return { root: Object.assign(Object.create(null), isRecord(start) ? start : {}), unfinished: new Set() };
}

export function addArgumentPiece({ root, unfinished }: PartialArguments, piece: unknown): void {
  if (!isRecord(piece) || typeof piece.jsonPath !== "string")
    throw createUnreadableError("a piece without a path");
  const { jsonPath } = piece;
  const keys = parsePath(jsonPath);
  const last = keys.at(-1);
  if (last === undefined) throw createUnreadableError("a piece without an argument");
  const owner = ensureContainer(root, keys);
  const value = getPieceValue(piece);
  const before = owner[last];
  owner[last] =
    unfinished.has(jsonPath) && typeof before === "string" && typeof value === "string"
      ? before + value
      : value;
  if (piece.willContinue === true) unfinished.add(jsonPath);
  else unfinished.delete(jsonPath);
}

function getPieceValue(piece: Record<string, unknown>): unknown {
  if ("stringValue" in piece) return piece.stringValue;
  if ("numberValue" in piece) return piece.numberValue;
  if ("boolValue" in piece) return piece.boolValue;
  return null;
}

/** Returns the object or array that holds the last key; creates missing ones along the path. */
function ensureContainer(root: Record<string, unknown>, keys: readonly (string | number)[]): Container {
  let at: Container = root;
  for (const [index, key] of keys.slice(0, -1).entries()) {
    let next = at[key];
    if (typeof next !== "object" || next === null) {
      next = typeof keys[index + 1] === "number" ? [] : Object.create(null);
      at[key] = next;
    }
    at = next as Container;
  }
  return at;
}

function parsePath(path: string): (string | number)[] {
  const keys: (string | number)[] = [];
  pathSegment.lastIndex = 1;
  while (path.startsWith("$") && pathSegment.lastIndex < path.length) {
    const match = pathSegment.exec(path);
    if (!match) throw createUnreadableError("an invalid path");
    const [, name, index, single, double] = match;
    if (index === undefined) keys.push(name ?? (single ?? double ?? "").replace(/\\(.)/g, "$1"));
    else keys.push(Number(index));
    if (Number(index) > maxElements || keys.length > maxDepth)
      throw createUnreadableError("a path that is too long");
  }
  return keys;
}

function createUnreadableError(problem: string): AgentError {
  return new AgentError("bad_chunk", `Gemini streamed ${problem} in the arguments of a call.`);
}
