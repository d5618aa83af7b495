// The memories of one user are records of kind `memory:<user>`, one per scope. A record has all memories of its scope, so
// that a change of several, such as renaming a folder, is one write, a limit of their total is exact, and the calls
// that were applied are stored with what they changed. Only the newest version is kept.
import { AgentError } from "../base/errors.ts";
import { isRecord, type Json } from "../base/json.ts";
import { buildExcerpt, scoreMatch, splitQuery } from "../base/match-words.ts";
import { splitWords } from "../base/words.ts";
import { type Records, updateRecord } from "../kernel/records.ts";
import {
  isWithin,
  type Memory,
  type MemoryOwner,
  maxMemories,
  maxTextLength,
  maxTotalBytes,
  parseFilePath,
} from "./memory.ts";

const kindPrefix = "memory:";
/** Enough for every call that can be repeated after a crash while others write. */
const maxKnownCalls = 200;
const maxScopeLength = 200;

type WritableRecords = Pick<Records, "getRecord" | "putRecord" | "removeRecord">;
type Collection = {
  readonly memories: readonly Memory[];
  /** Keys of the last calls that were applied. */
  readonly calls: readonly string[];
  /** Counts the changes: the version of what a change writes. */
  readonly changes: number;
};

/** A memory in a listing: the beginning of its text, or the part that matches. */
export type MemoryInfo = Omit<Memory, "text"> & {
  readonly scope: string;
  readonly excerpt: string;
  /** The length of the text in characters. */
  readonly size: number;
};

export type MemorySearch = {
  /** Default: all scopes of the user. */
  readonly scope?: string | undefined;
  /** Every word must start a word of the path or the text, regardless of case and accents. Default: all memories. */
  readonly query?: string | undefined;
  readonly limit?: number | undefined;
};

/** Lists memories of a user, the best match first; without a query, the one changed last. */
export async function listMemories(
  records: Pick<Records, "listRecords">,
  user: string,
  { scope, query = "", limit = maxMemories }: MemorySearch = {},
): Promise<readonly MemoryInfo[]> {
  const words = splitQuery(query);
  if (words.length === 0 && query.trim() !== "") return [];
  const stored = await records.listRecords(getKind(user));
  const found = stored
    .filter(({ id }) => scope === undefined || id === scope)
    .flatMap(({ id, body }) => readCollection(body).memories.map((memory) => ({ scope: id, memory })))
    .map(({ scope: own, memory }) => ({
      info: toInfo(own, memory, words),
      score: words.length === 0 ? 1 : scoreMatch(splitWords(`${memory.path} ${memory.text}`), words),
    }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score || right.info.updatedAt - left.info.updatedAt);
  return found.slice(0, limit).map(({ info }) => info);
}

/** Loads all memories of an owner, by path. */
export async function loadMemories(
  records: Pick<Records, "getRecord">,
  { user, scope }: MemoryOwner,
): Promise<readonly Memory[]> {
  return readCollection((await records.getRecord(getKind(user), checkScope(scope)))?.body).memories;
}

/** Loads a memory. Rejects with `not_found`. */
export async function loadMemory(
  records: Pick<Records, "getRecord">,
  owner: MemoryOwner,
  path: string,
): Promise<Memory> {
  const wanted = parseFilePath(path);
  return findMemory(await loadMemories(records, owner), wanted);
}

/** Returns the memory at a path. Throws `not_found`. */
export function findMemory(memories: readonly Memory[], path: string): Memory {
  const found = memories.find((memory) => memory.path === path);
  if (found) return found;
  throw new AgentError("not_found", `There is no memory at ${path}. List the memories to find its path.`);
}

/** A text to store at a path, with its author. */
export type NewMemory = Pick<Memory, "path" | "text" | "provenance">;

/** Changes the memories of an owner: returns the new list, in which unchanged ones are the same objects. */
export type MemoryChange = (memories: readonly Memory[]) => readonly (Memory | NewMemory)[];

type ChangeOptions = {
  readonly change: MemoryChange;
  readonly now: number;
  /** The change is applied once per key, however often the call is repeated. */
  readonly idempotencyKey?: string | undefined;
};

/**
 * Changes memories in one write. Repeats after a concurrent change, on the new list. Rejects with what `change` throws,
 * and with `invalid_input` beyond a limit; nothing is stored then.
 */
export async function changeMemories(
  records: WritableRecords,
  { user, scope }: MemoryOwner,
  { change, now, idempotencyKey }: ChangeOptions,
): Promise<void> {
  const key = { kind: getKind(user), id: checkScope(scope) };
  await updateRecord(records, key, (body) => {
    const { memories, calls, changes } = readCollection(body);
    if (idempotencyKey !== undefined && calls.includes(idempotencyKey)) return body;
    const write = { before: memories, version: changes + 1, now };
    const next: Collection = {
      memories: checkPaths(change(memories).map((memory) => toStored(memory, write))),
      calls: idempotencyKey === undefined ? calls : [...calls, idempotencyKey].slice(-maxKnownCalls),
      changes: write.version,
    };
    if (next.memories.length === 0 && next.calls.length === 0) return undefined;
    return checkSize(next);
  });
}

/**
 * Stores a memory. Rejects with `position_conflict` unless the stored one has `version`, 0 if there must be none.
 */
export async function saveMemory(
  records: WritableRecords,
  owner: MemoryOwner,
  { path, text, provenance, version, now }: NewMemory & { readonly version: number; readonly now: number },
): Promise<Memory> {
  const memory = { path: parseFilePath(path), text, provenance };
  const change: MemoryChange = (memories) => {
    const others = memories.filter((other) => other.path !== memory.path);
    const stored = memories.find((other) => other.path === memory.path);
    if ((stored?.version ?? 0) === version) return [...others, memory];
    const message =
      version === 0
        ? `There is a memory at ${memory.path} already: edit that one, or choose another path.`
        : `The memory ${memory.path} has changed: it is at version ${stored?.version ?? 0}, not ${version}. Read it again first.`;
    throw new AgentError("position_conflict", message);
  };
  await changeMemories(records, owner, { change, now });
  return loadMemory(records, owner, memory.path);
}

/** Deletes a memory, or all memories below a folder, with everything that was stored of them. Rejects with `not_found`. */
export async function removeMemory(
  records: WritableRecords,
  owner: MemoryOwner,
  { path, now }: { readonly path: string; readonly now: number },
): Promise<void> {
  const removed = parseFilePath(path);
  await changeMemories(records, owner, { change: (memories) => withoutMemory(memories, removed), now });
}

/** Returns the memories without one, or without those below a folder. Throws `not_found` if there are none. */
export function withoutMemory(memories: readonly Memory[], path: string): readonly Memory[] {
  const others = memories.filter((memory) => !isWithin(memory.path, path));
  return others.length < memories.length ? others : [findMemory(memories, path)];
}

/** Deletes all memories of a user, or those of one scope. Returns how many there were. */
export async function removeMemories(
  records: WritableRecords & Pick<Records, "listRecords">,
  user: string,
  scope?: string,
): Promise<number> {
  const kind = getKind(user);
  const stored = await records.listRecords(kind);
  let removed = 0;
  for (const { id, body } of stored) {
    if (scope !== undefined && id !== scope) continue;
    removed += readCollection(body).memories.length;
    await updateRecord(records, { kind, id }, () => undefined);
  }
  return removed;
}

function getKind(user: string): string {
  const kind = `${kindPrefix}${user}`;
  if (kind.length <= 100) return kind;
  throw new AgentError("invalid_input", "The name of a user with memories has at most 90 characters.");
}

function checkScope(scope: string): string {
  const [, name = ""] = /^(?:agent|project):([^\p{C}]+)$/u.exec(scope) ?? [];
  if ((scope === "user" || name.trim() !== "") && scope.length <= maxScopeLength) return scope;
  const message = `Invalid memory scope ${JSON.stringify(scope.slice(0, 100))}: use "user", "agent:<name>" or "project:<name>", with at most ${maxScopeLength} characters.`;
  throw new AgentError("invalid_input", message);
}

function readCollection(body: Json | undefined): Collection {
  return { memories: [], calls: [], changes: 0, ...(isRecord(body) && (body as Partial<Collection>)) };
}

type MemoryWrite = Pick<Memory, "version"> & { readonly before: readonly Memory[]; readonly now: number };

/** Numbers and dates a changed memory. */
function toStored(memory: Memory | NewMemory, { before, version, now }: MemoryWrite): Memory {
  if ("version" in memory && before.includes(memory)) return memory;
  const { path, text, provenance } = memory;
  if (text.length > maxTextLength) {
    const message = `The memory ${path} would have ${text.length} characters; the maximum is ${maxTextLength}. Shorten it, or split it.`;
    throw new AgentError("invalid_input", message);
  }
  const earlier = before.find((other) => other.path === path);
  const { createdAt = now } = "createdAt" in memory ? memory : (earlier ?? {});
  return { path, text: text.toWellFormed(), provenance, version, createdAt, updatedAt: now };
}

/** A path is either a memory or a folder. Returns the memories by path. */
function checkPaths(memories: readonly Memory[]): readonly Memory[] {
  const sorted = [...memories].sort((left, right) => (left.path < right.path ? -1 : 1));
  const paths = new Set(sorted.map(({ path }) => path));
  for (const { path } of sorted)
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1))
      if (paths.has(path.slice(0, end))) {
        const message = `${path.slice(0, end)} is a memory, so ${path} cannot be below it: choose another path.`;
        throw new AgentError("invalid_input", message);
      }
  return sorted;
}

function checkSize(collection: Collection): Json {
  const { length } = collection.memories;
  const bytes = new TextEncoder().encode(JSON.stringify(collection)).length;
  if (length <= maxMemories && bytes <= maxTotalBytes) return collection as unknown as Json;
  const message = `The memory is full: ${length} of ${maxMemories} files, ${bytes} of ${maxTotalBytes} bytes. Delete or shorten some first.`;
  throw new AgentError("invalid_input", message);
}

const excerptLength = 160;

function toInfo(scope: string, { text, ...memory }: Memory, words: readonly string[]): MemoryInfo {
  const start = text.slice(0, excerptLength).toWellFormed().replaceAll(/\s+/g, " ");
  const plain = text.length > excerptLength ? `${start}…` : start;
  const excerpt = words.length === 0 ? plain : buildExcerpt(text, words) || plain;
  return { ...memory, scope, excerpt: excerpt.trim(), size: text.length };
}
