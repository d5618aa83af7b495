import { AgentError } from "../../errors.ts";
import { isRecord } from "../../json.ts";

/** Arguments that come in pieces: each says a value, or more of a text, at a JSON path. */
export type PartialArguments = {
  readonly root: Record<string, unknown>;
  /** Paths of the texts that are not yet whole. */
  readonly unfinished: Set<string>;
};

type Container = Record<string | number, unknown>;

const deepest = 64;
const mostElements = 10_000;
const segment = /\.([^.[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/gy;

export function partialArguments(start: unknown): PartialArguments {
  // Without a prototype a path such as `$.__proto__` is an ordinary key.
  return { root: Object.assign(Object.create(null), isRecord(start) ? start : {}), unfinished: new Set() };
}

export function addPiece({ root, unfinished }: PartialArguments, piece: unknown): void {
  if (!isRecord(piece) || typeof piece.jsonPath !== "string") throw unreadable("a piece without a path");
  const { jsonPath } = piece;
  const keys = keysOf(jsonPath);
  const last = keys.at(-1);
  if (last === undefined) throw unreadable("a piece for no argument");
  const owner = containerAt(root, keys);
  const value = saidIn(piece);
  const before = owner[last];
  owner[last] =
    unfinished.has(jsonPath) && typeof before === "string" && typeof value === "string"
      ? before + value
      : value;
  if (piece.willContinue === true) unfinished.add(jsonPath);
  else unfinished.delete(jsonPath);
}

function saidIn(piece: Record<string, unknown>): unknown {
  if ("stringValue" in piece) return piece.stringValue;
  if ("numberValue" in piece) return piece.numberValue;
  if ("boolValue" in piece) return piece.boolValue;
  return null;
}

/** The object or list that holds the last key; made on the way where it is missing. */
function containerAt(root: Record<string, unknown>, keys: readonly (string | number)[]): Container {
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

function keysOf(path: string): (string | number)[] {
  const keys: (string | number)[] = [];
  segment.lastIndex = 1;
  while (path.startsWith("$") && segment.lastIndex < path.length) {
    const match = segment.exec(path);
    if (!match) throw unreadable("a path that is not one");
    const [, name, index, single, double] = match;
    if (index === undefined) keys.push(name ?? (single ?? double ?? "").replace(/\\(.)/g, "$1"));
    else keys.push(Number(index));
    if (Number(index) > mostElements || keys.length > deepest) throw unreadable("a path that leads too far");
  }
  return keys;
}

function unreadable(what: string): AgentError {
  return new AgentError("bad_chunk", `Gemini streamed ${what} in the arguments of a call.`);
}
