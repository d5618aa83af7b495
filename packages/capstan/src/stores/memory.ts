import { type Clock, systemClock } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";
import type { Fact, UnplacedFact } from "../kernel/event.ts";
import { assertFactTypes } from "../kernel/fact-types.ts";
import { identifyFact } from "../kernel/ids.ts";
import type { NewBlob } from "../kernel/records.ts";
import type { Lease, Store } from "../runtime/store.ts";
import {
  acknowledgeMessages,
  addMessage,
  addRequests,
  countRuns,
  createMemoryOrphans,
  findStoredRun,
  listLargest,
  listPendingMessages,
  listRuns,
  listSessions,
  type MemoryOrphans,
  type MemoryRun,
  type MemorySession,
  measureSession,
  readRequests,
  searchSessions,
  toSessionInfo,
} from "./memory-catalog.ts";
import { createLazyRecords, createMemoryRecords } from "./memory-records.ts";
import { createMemorySummaries } from "./memory-summaries.ts";
import { getRunState, isListedRunStart } from "./store-rules.ts";
import { createWatchers, createWorkWatchers, type Watchers, withWorkNotices } from "./watchers.ts";

/** Stores sessions in memory: for tests, browsers and ephemeral runs. */
export function memory({ clock = systemClock }: { readonly clock?: Clock } = {}): Store {
  const sessions = new Map<string, MemorySession>();
  const runs = new Map<string, MemoryRun>();
  const { assertHeld, leaseEndsIn, ...leases } = createMemoryLeases(clock.monotonic);
  const { notify, delete: deleteWatchers, publish, watch } = createWatchers();
  const { watchWork, notify: notifyWork } = createWorkWatchers();

  function getOrCreateSession(id: string): MemorySession {
    const session = sessions.get(id) ?? createSession();
    sessions.set(id, session);
    return session;
  }

  function appendFact(session: MemorySession, fact: UnplacedFact, identity: string): Fact {
    const known = session.byIdentity.get(identity);
    if (known) return known;
    const appended: Fact = { ...fact, seq: session.facts.length + 1 };
    session.facts.push(appended);
    session.byIdentity.set(identity, appended);
    indexRun(runs, appended);
    return appended;
  }

  const append: Store["append"] = async (facts, { expected, lease, acknowledged = [], requests = [] }) => {
    assertHeld(lease);
    assertFactTypes(facts);
    const identities = facts.map(identifyFact);
    const known = sessions.get(lease.sessionId);
    const length = known?.facts.length ?? 0;
    if (length !== expected && identities.some((identity) => !known?.byIdentity.has(identity))) {
      const message = `Session "${lease.sessionId}" is at position ${length}, not ${expected}. Read the new facts first.`;
      throw new AgentError("position_conflict", message);
    }
    const session = getOrCreateSession(lease.sessionId);
    const appended = facts.map((fact, index) => appendFact(session, fact, identities[index] ?? ""));
    if (acknowledged.length > 0) acknowledgeMessages(runs.get(facts[0]?.runId ?? ""), acknowledged);
    addRequests(session, requests);
    notify(lease.sessionId, { type: "facts" });
    return appended;
  };

  const sendMessage: Store["sendMessage"] = async (runId, message) => {
    addMessage({ sessions, runs }, runId, message);
    notify(runs.get(runId)?.info.sessionId ?? "", { type: "message", runId });
  };

  return {
    ...leases,
    ...createLazyRecords(() => createMemoryRecords(clock.now)),
    ...{ publish, watch, watchWork },
    listMessages: async (runId) => listPendingMessages(runs, runId),
    ...createMemoryQueries(sessions, runs),
    ...createMemorySummaries(sessions, runs),
    ...createMemoryWork({ sessions, runs, clock, leaseEndsIn, lease: leases.lease }),
    ...createMemorySnapshots(sessions, assertHeld),
    ...withWorkNotices({ append, release: leases.release, sendMessage }, notifyWork),
    async read(sessionId, after = 0, limit = Infinity) {
      return sessions.get(sessionId)?.facts.slice(after, after + limit) ?? [];
    },
    writeSession: createMemoryWriter({ sessions, runs, assertHeld, notify, now: clock.now }),
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
    putBlob: async (sessionId, blob) => addBlob(getOrCreateSession(sessionId), blob),
    getBlob: async (sessionId, handle) => sessions.get(sessionId)?.blobs.get(handle),
    close: () => Promise.resolve(),
  };
}

type MemoryWork = {
  readonly sessions: ReadonlyMap<string, MemorySession>;
  readonly runs: ReadonlyMap<string, MemoryRun>;
  readonly clock: Clock;
  leaseEndsIn(sessionId: string): number | undefined;
  readonly lease: Store["lease"];
};

function createMemoryWork({
  sessions,
  runs,
  clock,
  leaseEndsIn,
  lease,
}: MemoryWork): Pick<Store, "lease" | "listOrphans" | "countRuns"> {
  /** Created when an engine needs it. */
  let orphans: MemoryOrphans | undefined;
  return {
    lease(...request) {
      orphans?.endClaim(request[0]);
      return lease(...request);
    },
    async listOrphans(options) {
      orphans ??= createMemoryOrphans({ runs, leaseEndsIn, now: clock.monotonic });
      return orphans.list(options);
    },
    countRuns: async () => countRuns(sessions, runs, { now: clock.now(), leaseEndsIn }),
  };
}

type MemoryQueries = Pick<
  Store,
  | "findSession"
  | "findRun"
  | "getSession"
  | "list"
  | "search"
  | "listRuns"
  | "measureSession"
  | "measureScope"
  | "listLargest"
  | "rename"
  | "readRequests"
>;

function createMemoryQueries(
  sessions: ReadonlyMap<string, MemorySession>,
  runs: ReadonlyMap<string, MemoryRun>,
): MemoryQueries {
  return {
    findSession: async (runId) => runs.get(runId)?.info.sessionId,
    findRun: async (runId) => findStoredRun(sessions, runs, runId),
    getSession: async (sessionId) => toSessionInfo(sessionId, sessions.get(sessionId)),
    list: async (options = {}) => listSessions(sessions, options),
    search: async (words, options = {}) => searchSessions(sessions, words, options),
    listRuns: async (sessionId, limit) => listRuns(runs, sessionId, limit),
    async measureSession(sessionId) {
      const session = sessions.get(sessionId);
      return session ? measureSession(session) : 0;
    },
    async measureScope(scope) {
      const sized = listLargest(sessions, scope);
      return { sessions: sized.length, bytes: sized.reduce((sum, { bytes }) => sum + bytes, 0) };
    },
    async readRequests(sessionId, query) {
      const session = sessions.get(sessionId);
      return session ? readRequests(session, query) : [];
    },
    listLargest: async (limit) => listLargest(sessions).slice(0, limit),
    async rename(sessionId, title) {
      const session = sessions.get(sessionId);
      if (session) session.title = title;
    },
  };
}

function createSession(): MemorySession {
  return {
    title: "",
    createdAt: undefined,
    facts: [],
    byIdentity: new Map(),
    blobs: new Map(),
    requests: undefined,
    snapshot: undefined,
  };
}

function createMemoryWriter({
  sessions,
  runs,
  assertHeld,
  notify,
  now,
}: WriteOptions): Store["writeSession"] {
  return async ({ lease, title = "" }, write) => {
    const { sessionId } = lease;
    const session = { ...createSession(), title, createdAt: now() };
    await write({
      async append(facts) {
        for (const fact of facts) session.facts.push({ ...fact, seq: session.facts.length + 1 });
      },
      putBlob: async (blob) => addBlob(session, blob),
      putRequests: async (requests) => addRequests(session, requests),
    });
    assertHeld(lease);
    if (toSessionInfo(sessionId, sessions.get(sessionId))) {
      const message = `Session "${sessionId}" already exists. Choose another id.`;
      throw new AgentError("position_conflict", message);
    }
    sessions.set(sessionId, session);
    for (const fact of session.facts) {
      session.byIdentity.set(identifyFact(fact), fact);
      indexRun(runs, fact);
    }
    notify(sessionId, { type: "facts" });
  };
}

type WriteOptions = Pick<Watchers, "notify"> & {
  readonly sessions: Map<string, MemorySession>;
  readonly runs: Map<string, MemoryRun>;
  assertHeld(lease: Lease): void;
  now(): number;
};

function addBlob({ blobs }: MemorySession, { mediaType, data }: NewBlob): string {
  const handle = `blob_${blobs.size + 1}`;
  blobs.set(handle, { mediaType, data, size: data.length });
  return handle;
}

function createMemorySnapshots(
  sessions: ReadonlyMap<string, MemorySession>,
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

function indexRun(runs: Map<string, MemoryRun>, fact: Fact): void {
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

type HeldLease = { readonly owner: string; readonly token: number; until: number };

/** Creates leases for the runs of this process. */
export function createMemoryLeases(now: () => number): Pick<Store, "lease" | "renew" | "release"> & {
  assertHeld(lease: Lease): void;
  /** Returns the milliseconds until the lease expires: not positive once it has expired. */
  leaseEndsIn(sessionId: string): number | undefined;
} {
  const leases = new Map<string, HeldLease>();
  let tokens = 0;
  return {
    // biome-ignore lint/complexity/useMaxParams: the signature of every store
    async lease(sessionId, owner, ms, { takeOver = false } = {}) {
      const current = leases.get(sessionId);
      if (current && current.owner !== owner && current.until > now() && !takeOver) return undefined;
      tokens += 1;
      leases.set(sessionId, { owner, token: tokens, until: now() + ms });
      return { sessionId, owner, token: tokens, ...(current && { wasHeld: true }) };
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
    leaseEndsIn(sessionId) {
      const held = leases.get(sessionId);
      return held && held.until - now();
    },
    assertHeld({ sessionId, token }) {
      if (leases.get(sessionId)?.token === token) return;
      throw new AgentError("lease_lost", `Another writer has taken over session "${sessionId}".`);
    },
  };
}
