import type { Fact } from "../event.ts";
import { identifyRunStart } from "../ids.ts";
import {
  type Blob,
  getScope,
  type RunInfo,
  type RunMessage,
  type SearchHit,
  type SessionInfo,
  type Snapshot,
  type Store,
} from "../store.ts";
import { buildExcerpt, scoreMatch, splitQuery, splitWords, toSearchText } from "./search-text.ts";
import { clampRowLimit } from "./store-rules.ts";

export type MemorySession = {
  title: string;
  /** Undefined until the session is created; before that, the entry only holds blobs. */
  createdAt: number | undefined;
  readonly facts: Fact[];
  readonly byIdentity: Map<string, Fact>;
  readonly blobs: Map<string, Blob>;
  snapshot: Snapshot | undefined;
};
/** Messages by key. Acknowledged ones stay as undefined, so that a key counts once. */
export type MemoryRun = {
  readonly info: { -readonly [Field in keyof RunInfo]: RunInfo[Field] };
  /** Undefined for most runs, which receive no messages. */
  messages: Map<string, RunMessage | undefined> | undefined;
};

type MemoryCatalog = Pick<
  Store,
  | "findSession"
  | "findRun"
  | "getSession"
  | "list"
  | "measureSession"
  | "rename"
  | "listRuns"
  | "listOrphans"
  | "search"
>;

/** Creates the queries for sessions, runs and search. */
export function createMemoryCatalog(
  sessions: ReadonlyMap<string, MemorySession>,
  runs: ReadonlyMap<string, MemoryRun>,
  isHeld: (sessionId: string) => boolean,
): MemoryCatalog {
  return {
    async findSession(runId) {
      return runs.get(runId)?.info.sessionId;
    },
    async findRun(runId) {
      const info = runs.get(runId)?.info;
      const start = sessions.get(info?.sessionId ?? "")?.byIdentity.get(identifyRunStart(runId));
      return info && { ...info, firstSeq: start?.seq ?? 1 };
    },
    async getSession(sessionId) {
      return toSessionInfo(sessionId, sessions.get(sessionId));
    },
    async list({ scope, after, limit = Number.POSITIVE_INFINITY } = {}) {
      const infos = [...filterByScope(sessions, scope)].map(([id, session]) => toSessionInfo(id, session));
      return infos
        .filter((info) => info !== undefined)
        .filter((info) => !after || compareSessions(after, info) < 0)
        .sort(compareSessions)
        .slice(0, clampRowLimit(limit));
    },
    async measureSession(sessionId) {
      const { facts = [], blobs = new Map<string, Blob>() } = sessions.get(sessionId) ?? {};
      const sizes = [
        ...facts.map((fact) => countBytes(JSON.stringify(fact))),
        ...[...blobs.values()].map(({ data }) => (typeof data === "string" ? countBytes(data) : data.length)),
      ];
      return sizes.reduce((sum, size) => sum + size, 0);
    },
    async rename(sessionId, title) {
      const session = sessions.get(sessionId);
      if (session) session.title = title;
    },
    async listRuns(sessionId, limit = Number.POSITIVE_INFINITY) {
      const infos = [...runs.values()].map(({ info }) => info).filter((info) => info.sessionId === sessionId);
      return infos.slice(Math.max(0, infos.length - clampRowLimit(limit))).map((info) => ({ ...info }));
    },
    async listOrphans({ includeWaiting = false } = {}) {
      const newest = new Map([...runs.values()].map((run) => [run.info.sessionId, run]));
      return [...newest.values()]
        .filter((run) => !isHeld(run.info.sessionId) && hasWork(run, includeWaiting))
        .map(({ info }) => ({ ...info }));
    },
    async search(words, { scope, limit = 50 } = {}) {
      return searchSessions(filterByScope(sessions, scope), splitQuery(words)).slice(0, clampRowLimit(limit));
    },
  };
}

type ListPosition = Pick<SessionInfo, "id" | "updatedAt">;

/** Orders sessions as they are listed. */
function compareSessions(left: ListPosition, right: ListPosition): number {
  if (left.updatedAt !== right.updatedAt) return right.updatedAt - left.updatedAt;
  if (left.id === right.id) return 0;
  return left.id < right.id ? -1 : 1;
}

const encoder = new TextEncoder();
const countBytes = (text: string): number => encoder.encode(text).length;

export function toSessionInfo(id: string, session: MemorySession | undefined): SessionInfo | undefined {
  if (!session) return undefined;
  const { title, facts } = session;
  const createdAt = facts[0]?.at ?? session.createdAt;
  if (createdAt === undefined) return undefined;
  const updatedAt = facts.at(-1)?.at ?? createdAt;
  return { id, ...(title && { title }), facts: facts.length, createdAt, updatedAt };
}

function* filterByScope(
  sessions: ReadonlyMap<string, MemorySession>,
  scope: string | undefined,
): Generator<readonly [string, MemorySession]> {
  for (const entry of sessions) if (scope === undefined || getScope(entry[0]) === scope) yield entry;
}

function hasWork({ info, messages }: MemoryRun, includeWaiting: boolean): boolean {
  if (info.state !== "waiting") return info.state === "active";
  if (includeWaiting) return true;
  return [...(messages?.values() ?? [])].some((message) => message !== undefined);
}

/** Returns all matches, best first; of equal ones, the newest first. */
function searchSessions(
  sessions: Iterable<readonly [string, MemorySession]>,
  queryWords: readonly string[],
): SearchHit[] {
  const matches: { readonly hit: SearchHit; readonly score: number; readonly at: number }[] = [];
  if (queryWords.length === 0) return [];
  for (const [sessionId, { facts }] of sessions)
    for (const fact of facts) {
      const text = toSearchText(fact);
      const score = scoreMatch(splitWords(text), queryWords);
      const hit = { sessionId, seq: fact.seq, excerpt: buildExcerpt(text, queryWords) };
      if (score > 0) matches.push({ hit, score, at: fact.at });
    }
  return matches.sort((left, right) => right.score - left.score || right.at - left.at).map(({ hit }) => hit);
}
