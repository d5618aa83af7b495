import { type Clock, systemClock } from "../clock.ts";
import { AgentError } from "../errors.ts";
import type { Fact, UnplacedFact } from "../event.ts";
import { identifyFact, identifyRunStart } from "../ids.ts";
import {
  type Blob,
  getScope,
  type Lease,
  type Records,
  type RunInfo,
  type RunMessage,
  type SearchHit,
  type SessionInfo,
  type Snapshot,
  type Store,
} from "../store.ts";
import { createMemoryRecords } from "./memory-records.ts";
import { buildExcerpt, splitWords, toSearchText } from "./search-text.ts";
import {
  assertAcceptsMessages,
  assertCanRetry,
  clampRowLimit,
  getRunState,
  isListedRunStart,
} from "./store-rules.ts";
import { createWatchers, type Watchers } from "./watchers.ts";

type Session = {
  title: string;
  /** Undefined until the session is created; before that, the entry only holds blobs. */
  createdAt: number | undefined;
  readonly facts: Fact[];
  readonly byIdentity: Map<string, Fact>;
  readonly blobs: Map<string, Blob>;
  snapshot: Snapshot | undefined;
};
/** Messages by key. Acknowledged ones stay as undefined, so that a key counts once. */
type KnownRun = {
  readonly info: { -readonly [Field in keyof RunInfo]: RunInfo[Field] };
  /** Undefined for most runs, which receive no messages. */
  messages: Map<string, RunMessage | undefined> | undefined;
};

/** Stores sessions in memory: for tests, browsers and ephemeral runs. */
export function memory({ clock = systemClock }: { readonly clock?: Clock } = {}): Store {
  const sessions = new Map<string, Session>();
  const runs = new Map<string, KnownRun>();
  const { assertHeld, isHeld, ...leases } = createMemoryLeases(clock.monotonic);
  const { notify, delete: deleteWatchers, publish, watch } = createWatchers();

  function getOrCreateSession(id: string): Session {
    const session = sessions.get(id) ?? createSession();
    sessions.set(id, session);
    return session;
  }

  function appendFact(session: Session, fact: UnplacedFact, identity: string): Fact {
    const known = session.byIdentity.get(identity);
    if (known) return known;
    const appended: Fact = { ...fact, seq: session.facts.length + 1 };
    session.facts.push(appended);
    session.byIdentity.set(identity, appended);
    indexRun(runs, appended);
    return appended;
  }

  return {
    ...leases,
    ...createLazyRecords(() => createMemoryRecords(clock.now)),
    publish,
    watch,
    ...createRunMessages(sessions, runs, notify),
    ...createCatalog(sessions, runs, isHeld),
    ...createSnapshots(sessions, assertHeld),
    async append(facts, { expected, lease, acknowledged = [] }) {
      assertHeld(lease);
      const identified = facts.map((fact) => ({ fact, identity: identifyFact(fact) }));
      const known = sessions.get(lease.sessionId);
      const length = known?.facts.length ?? 0;
      if (length !== expected && identified.some(({ identity }) => !known?.byIdentity.has(identity))) {
        const message = `Session "${lease.sessionId}" is at position ${length}, not ${expected}. Read the new facts first.`;
        throw new AgentError("position_conflict", message);
      }
      const session = getOrCreateSession(lease.sessionId);
      const appended = identified.map(({ fact, identity }) => appendFact(session, fact, identity));
      if (acknowledged.length > 0) acknowledgeMessages(runs.get(facts[0]?.runId ?? ""), acknowledged);
      notify(lease.sessionId, { type: "facts" });
      return appended;
    },
    async read(sessionId, after = 0, limit = Infinity) {
      return sessions.get(sessionId)?.facts.slice(after, after + limit) ?? [];
    },
    async create(sessionId, title = "") {
      const session = getOrCreateSession(sessionId);
      if (session.facts.length > 0 || session.createdAt !== undefined) return;
      session.title = title;
      session.createdAt = clock.now();
    },
    async remove(sessionId) {
      for (const { runId } of sessions.get(sessionId)?.facts ?? []) runs.delete(runId);
      sessions.delete(sessionId);
      deleteWatchers(sessionId);
    },
    async putBlob(sessionId, { mediaType, data }) {
      const { blobs } = getOrCreateSession(sessionId);
      const handle = `blob_${blobs.size + 1}`;
      blobs.set(handle, { mediaType, data, size: data.length });
      return handle;
    },
    async getBlob(sessionId, handle) {
      return sessions.get(sessionId)?.blobs.get(handle);
    },
    close: () => Promise.resolve(),
  };
}

function createSession(): Session {
  return {
    title: "",
    createdAt: undefined,
    facts: [],
    byIdentity: new Map(),
    blobs: new Map(),
    snapshot: undefined,
  };
}

/** Creates the record storage on first use, because most stores have no records. */
function createLazyRecords(create: () => Records): Records {
  let records: Records | undefined;
  const open = () => {
    records ??= create();
    return records;
  };
  return {
    getRecord: (kind, id) => open().getRecord(kind, id),
    listRecords: (kind) => open().listRecords(kind),
    listRecordVersions: (kind, id) => open().listRecordVersions(kind, id),
    putRecord: (record, expectedVersion) => open().putRecord(record, expectedVersion),
    removeRecord: (kind, id, expectedVersion) => open().removeRecord(kind, id, expectedVersion),
  };
}

function createSnapshots(
  sessions: ReadonlyMap<string, Session>,
  assertHeld: (lease: Lease) => void,
): Pick<Store, "putSnapshot" | "getSnapshot"> {
  return {
    async putSnapshot(snapshot, lease) {
      assertHeld(lease);
      const session = sessions.get(lease.sessionId);
      if (session && snapshot.seq <= session.facts.length) session.snapshot = snapshot;
    },
    async getSnapshot(sessionId) {
      return sessions.get(sessionId)?.snapshot;
    },
  };
}

type Catalog = Pick<
  Store,
  "findSession" | "findRun" | "getSession" | "list" | "rename" | "listRuns" | "listOrphans" | "search"
>;

function createCatalog(
  sessions: ReadonlyMap<string, Session>,
  runs: ReadonlyMap<string, KnownRun>,
  isHeld: (sessionId: string) => boolean,
): Catalog {
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
    async list({ scope, limit = Number.POSITIVE_INFINITY } = {}) {
      const infos = [...filterByScope(sessions, scope)].map(([id, session]) => toSessionInfo(id, session));
      return infos
        .filter((info) => info !== undefined)
        .sort((left, right) => right.updatedAt - left.updatedAt)
        .slice(0, clampRowLimit(limit));
    },
    async rename(sessionId, title) {
      const session = sessions.get(sessionId);
      if (session) session.title = title;
    },
    async listRuns(sessionId, limit = Number.POSITIVE_INFINITY) {
      const infos = [...runs.values()].map(({ info }) => info).filter((info) => info.sessionId === sessionId);
      return infos.slice(Math.max(0, infos.length - clampRowLimit(limit))).map((info) => ({ ...info }));
    },
    async listOrphans() {
      const newest = new Map([...runs.values()].map((run) => [run.info.sessionId, run]));
      return [...newest.values()]
        .filter((run) => !isHeld(run.info.sessionId) && hasWork(run))
        .map(({ info }) => ({ ...info }));
    },
    async search(words, { scope, limit = 50 } = {}) {
      return searchSessions(filterByScope(sessions, scope), splitWords(words), clampRowLimit(limit));
    },
  };
}

function toSessionInfo(id: string, session: Session | undefined): SessionInfo | undefined {
  if (!session) return undefined;
  const { title, facts } = session;
  const createdAt = facts[0]?.at ?? session.createdAt;
  if (createdAt === undefined) return undefined;
  const updatedAt = facts.at(-1)?.at ?? createdAt;
  return { id, ...(title && { title }), facts: facts.length, createdAt, updatedAt };
}

function* filterByScope(
  sessions: ReadonlyMap<string, Session>,
  scope: string | undefined,
): Generator<readonly [string, Session]> {
  for (const entry of sessions) if (scope === undefined || getScope(entry[0]) === scope) yield entry;
}

function indexRun(runs: Map<string, KnownRun>, fact: Fact): void {
  const { runId, sessionId, agent, at } = fact;
  const known = runs.get(runId);
  const state = getRunState(fact);
  if (known) {
    known.info.state = state;
    known.info.updatedAt = at;
  }
  if (!known && isListedRunStart(fact))
    runs.set(runId, {
      info: { runId, sessionId, agent, state, startedAt: at, updatedAt: at },
      messages: undefined,
    });
}

function acknowledgeMessages(run: KnownRun | undefined, keys: readonly string[]): void {
  if (!run) return;
  run.messages ??= new Map();
  for (const key of keys) run.messages.set(key, undefined);
}

function hasWork({ info, messages }: KnownRun): boolean {
  if (info.state !== "waiting") return info.state === "active";
  return [...(messages?.values() ?? [])].some((message) => message !== undefined);
}

function createRunMessages(
  sessions: ReadonlyMap<string, Session>,
  runs: ReadonlyMap<string, KnownRun>,
  notify: Watchers["notify"],
): Pick<Store, "sendMessage" | "listMessages"> {
  return {
    async sendMessage(runId, message) {
      const run = runs.get(runId);
      if (run?.messages?.has(message.key)) return;
      const isRetry = message.type === "retry" && run?.info.state === "ended";
      if (isRetry) assertCanRetry(runId, sessions.get(run.info.sessionId)?.facts.at(-1));
      else assertAcceptsMessages(runId, run?.info);
      if (isRetry) run.info.state = "waiting";
      if (run) run.messages = (run.messages ?? new Map()).set(message.key, message);
      notify(run?.info.sessionId ?? "", { type: "message", runId });
    },
    async listMessages(runId) {
      return [...(runs.get(runId)?.messages?.values() ?? [])].filter((message) => message !== undefined);
    },
  };
}

function searchSessions(
  sessions: Iterable<readonly [string, Session]>,
  words: readonly string[],
  limit: number,
): SearchHit[] {
  const found: SearchHit[] = [];
  if (words.length === 0 || limit === 0) return found;
  for (const [sessionId, { facts }] of sessions)
    for (const fact of facts) {
      const text = toSearchText(fact);
      const has = new Set(splitWords(text));
      if (!words.every((word) => has.has(word))) continue;
      found.push({ sessionId, seq: fact.seq, excerpt: buildExcerpt(text, words) });
      if (found.length === limit) return found;
    }
  return found;
}

type HeldLease = { readonly owner: string; readonly token: number; until: number };

/** Creates leases for the runs of this process. */
export function createMemoryLeases(now: () => number): Pick<Store, "lease" | "renew" | "release"> & {
  assertHeld(lease: Lease): void;
  isHeld(sessionId: string): boolean;
} {
  const leases = new Map<string, HeldLease>();
  let tokens = 0;
  return {
    async lease(sessionId, owner, ms) {
      const current = leases.get(sessionId);
      if (current && current.owner !== owner && current.until > now()) return undefined;
      tokens += 1;
      leases.set(sessionId, { owner, token: tokens, until: now() + ms });
      return { sessionId, owner, token: tokens };
    },
    async renew({ sessionId, token }, ms) {
      const current = leases.get(sessionId);
      if (current?.token !== token) return false;
      current.until = now() + ms;
      return true;
    },
    async release({ sessionId, token }) {
      if (leases.get(sessionId)?.token === token) leases.delete(sessionId);
    },
    isHeld: (sessionId) => (leases.get(sessionId)?.until ?? 0) > now(),
    assertHeld({ sessionId, token }) {
      if (leases.get(sessionId)?.token === token) return;
      throw new AgentError("lease_lost", `Another writer has taken over session "${sessionId}".`);
    },
  };
}
