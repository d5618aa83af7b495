import { buildExcerpt, scoreMatch, splitQuery } from "../base/match-words.ts";
import { splitWords } from "../base/words.ts";
import type { RequestQuery, StoredRequest } from "../features/exact-requests/stored-request.ts";
import type { Fact } from "../kernel/event.ts";
import { identifyRunStart } from "../kernel/ids.ts";
import type { Blob } from "../kernel/records.ts";
import { getScope } from "../kernel/session-id.ts";
import type {
  FoundRun,
  ListOptions,
  OrphanOptions,
  RunCounts,
  RunInfo,
  RunMessage,
  SearchHit,
  SearchOptions,
  SessionInfo,
  SizedSession,
  Snapshot,
} from "../runtime/store.ts";
import { toSearchText } from "./search-text.ts";
import { assertAcceptsMessages, assertCanRetry, clampRowLimit, takeTurns } from "./store-rules.ts";

export type MemorySession = {
  title: string;
  /** Undefined until the session is created; before that, the entry only holds blobs. */
  createdAt: number | undefined;
  readonly facts: Fact[];
  readonly byIdentity: Map<string, Fact>;
  readonly blobs: Map<string, Blob>;
  /** By number. Undefined for most sessions. */
  requests: Map<number, StoredRequest> | undefined;
  snapshot: Snapshot | undefined;
};
/** Messages by key. Acknowledged ones stay as undefined, so that a key counts once. */
export type MemoryRun = {
  readonly info: { -readonly [Field in keyof RunInfo]: RunInfo[Field] };
  /** Undefined for most runs, which receive no messages. */
  messages: Map<string, RunMessage | undefined> | undefined;
};

type Sessions = ReadonlyMap<string, MemorySession>;
type Runs = ReadonlyMap<string, MemoryRun>;

export function findStoredRun(sessions: Sessions, runs: Runs, runId: string): FoundRun | undefined {
  const info = runs.get(runId)?.info;
  const start = sessions.get(info?.sessionId ?? "")?.byIdentity.get(identifyRunStart(runId));
  return info && { ...info, firstSeq: start?.seq ?? 1 };
}

export function listSessions(
  sessions: Sessions,
  { scope, after, limit = Number.POSITIVE_INFINITY }: ListOptions,
): readonly SessionInfo[] {
  const infos = [...filterByScope(sessions, scope)].map(([id, session]) => toSessionInfo(id, session));
  return infos
    .filter((info) => info !== undefined)
    .filter((info) => !after || compareSessions(after, info) < 0)
    .sort(compareSessions)
    .slice(0, clampRowLimit(limit));
}

type MeasuredSession = {
  readonly facts: number;
  readonly requests: number;
  readonly blobs: number;
  readonly bytes: number;
};

/** Sizes by session. Facts, requests and blobs are only added, so a session is measured from where it was measured before. */
const measuredSessions = new WeakMap<MemorySession, MeasuredSession>();

export function measureSession(session: MemorySession): number {
  const known = measuredSessions.get(session) ?? { facts: 0, requests: 0, blobs: 0, bytes: 0 };
  const measure = (stored: Fact | StoredRequest) => countBytes(JSON.stringify(stored));
  const facts = session.facts.slice(known.facts).map(measure);
  const requests = [...(session.requests?.values() ?? [])].slice(known.requests).map(measure);
  const blobs = [...session.blobs.values()].slice(known.blobs).map(({ data }) => countBlobBytes(data));
  const bytes = [...facts, ...requests, ...blobs].reduce((sum, size) => sum + size, known.bytes);
  measuredSessions.set(session, {
    ...{ facts: session.facts.length, requests: session.requests?.size ?? 0, blobs: session.blobs.size },
    bytes,
  });
  return bytes;
}

export function addRequests(session: MemorySession, added: readonly StoredRequest[]): void {
  if (added.length === 0) return;
  session.requests ??= new Map();
  for (const request of added)
    if (!session.requests.has(request.number)) session.requests.set(request.number, request);
}

export function readRequests(
  { requests }: MemorySession,
  { from = 1, to = Infinity, turn, last = Infinity }: RequestQuery = {},
): readonly StoredRequest[] {
  const isSelected = (request: StoredRequest) =>
    request.number >= from &&
    request.number <= to &&
    (!turn || (request.runId === turn.runId && request.turn === turn.turn));
  return [...(requests?.values() ?? [])].filter(isSelected).slice(-last);
}

function countBlobBytes(data: Blob["data"]): number {
  return typeof data === "string" ? countBytes(data) : data.length;
}

/** Returns the sessions with their sizes, the largest first. */
export function listLargest(sessions: Sessions, scope?: string): readonly SizedSession[] {
  return listSessions(sessions, scope === undefined ? {} : { scope })
    .map((info) => ({ ...info, bytes: measureSession(sessions.get(info.id) as MemorySession) }))
    .sort((left, right) => right.bytes - left.bytes);
}

export function listRuns(
  runs: Runs,
  sessionId: string,
  limit: number = Number.POSITIVE_INFINITY,
): readonly RunInfo[] {
  const infos = [...runs.values()].map(({ info }) => info).filter((info) => info.sessionId === sessionId);
  return infos.slice(Math.max(0, infos.length - clampRowLimit(limit))).map((info) => ({ ...info }));
}

/** `leaseEndsIn` returns the milliseconds until the lease of a session expires: not positive once it has expired. */
export function countRuns(
  sessions: Sessions,
  runs: Runs,
  { now, leaseEndsIn }: { readonly now: number; leaseEndsIn(sessionId: string): number | undefined },
): RunCounts {
  const infos = [...runs.values()].map(({ info }) => info);
  const active = infos.filter(({ state }) => state === "active");
  const newest = new Map(infos.map((info) => [info.sessionId, info]));
  const since = active.flatMap((info) => {
    const { sessionId, updatedAt } = info;
    const remaining = leaseEndsIn(sessionId);
    if (newest.get(sessionId) !== info || (remaining ?? 0) > 0) return [];
    const last = sessions.get(sessionId)?.facts.at(-1);
    const waitEnd = last?.type === "waiting" ? last.until : undefined;
    return [Math.max(updatedAt, waitEnd ?? 0, remaining === undefined ? 0 : now + remaining)];
  });
  const untaken = since.filter((time) => time <= now);
  return {
    active: active.length,
    waiting: infos.filter(({ state }) => state === "waiting").length,
    untaken: untaken.length,
    ...(untaken.length > 0 && { untakenSince: untaken.reduce((first, time) => Math.min(first, time)) }),
  };
}

export function searchSessions(
  sessions: Sessions,
  words: string,
  { scope, limit = 50 }: SearchOptions,
): readonly SearchHit[] {
  return findMatches(filterByScope(sessions, scope), splitQuery(words)).slice(0, clampRowLimit(limit));
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

/** Returns all matches, best first; of equal ones, the newest first. */
function findMatches(
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

/** Removes messages that facts record. */
export function acknowledgeMessages(run: MemoryRun | undefined, keys: readonly string[]): void {
  if (!run) return;
  run.messages ??= new Map();
  for (const key of keys) run.messages.set(key, undefined);
}

/** Stores a message for a run, once. */
export function addMessage(
  { sessions, runs }: { readonly sessions: Sessions; readonly runs: Runs },
  runId: string,
  message: RunMessage,
): void {
  const run = runs.get(runId);
  if (run?.messages?.has(message.key)) return;
  const isRetry = message.type === "retry" && run?.info.state === "ended";
  if (isRetry) assertCanRetry(runId, sessions.get(run.info.sessionId)?.facts.at(-1));
  else assertAcceptsMessages(runId, run?.info);
  if (isRetry) run.info.state = "waiting";
  if (run) run.messages = (run.messages ?? new Map()).set(message.key, message);
}

export function listPendingMessages(runs: Runs, runId: string): readonly RunMessage[] {
  return [...(runs.get(runId)?.messages?.values() ?? [])].filter((message) => message !== undefined);
}

type OrphanSource = {
  readonly runs: ReadonlyMap<string, MemoryRun>;
  /** Returns the milliseconds until the lease of a session expires: not positive once it has expired. */
  leaseEndsIn(sessionId: string): number | undefined;
  /** The clock of the leases. */
  now(): number;
};

/** Lists orphaned runs, and keeps the claims of the processes that take them over. */
export interface MemoryOrphans {
  list(options?: OrphanOptions): readonly RunInfo[];
  /** Called when a process acquires the lease of the session. */
  endClaim(sessionId: string): void;
}

export function createMemoryOrphans({ runs, leaseEndsIn, now }: OrphanSource): MemoryOrphans {
  /** When claims expire, by session, in the order in which they were made. */
  const claims = new Map<string, number>();

  const isHeld = (sessionId: string) => (leaseEndsIn(sessionId) ?? 0) > 0;
  const endClaim = (sessionId: string) => void claims.delete(sessionId);
  const isClaimed = ({ sessionId }: RunInfo) => (claims.get(sessionId) ?? 0) > now();

  function claim(infos: readonly RunInfo[], claimMs: number): readonly RunInfo[] {
    for (const { sessionId } of infos) {
      endClaim(sessionId);
      claims.set(sessionId, now() + claimMs);
    }
    return infos;
  }

  function findAll({ includeWaiting = false, runId, except = [] }: OrphanOptions): readonly RunInfo[] {
    const newest = new Map([...runs.values()].map((run) => [run.info.sessionId, run]));
    return [...newest.values()]
      .filter((run) => !isHeld(run.info.sessionId) && hasWork(run, includeWaiting))
      .filter(({ info }) => (runId === undefined || info.runId === runId) && !except.includes(info.runId))
      .map(({ info }) => ({ ...info }));
  }

  return {
    endClaim,
    list(options = {}) {
      const { limit = Number.POSITIVE_INFINITY, claimMs } = options;
      const infos = findAll(options);
      if (claimMs === undefined) return takeTurns(infos, limit);
      const places = new Map([...claims.keys()].map((sessionId, place) => [sessionId, place]));
      const getPlace = ({ sessionId }: RunInfo) => places.get(sessionId) ?? -1;
      const unclaimed = infos.filter((info) => !isClaimed(info));
      return claim(
        takeTurns(
          unclaimed.sort((left, right) => getPlace(left) - getPlace(right)),
          limit,
        ),
        claimMs,
      );
    },
  };
}

function hasWork({ info, messages }: MemoryRun, includeWaiting: boolean): boolean {
  if (info.state !== "waiting") return info.state === "active";
  if (includeWaiting) return true;
  return [...(messages?.values() ?? [])].some((message) => message !== undefined);
}
