import { type Clock, systemClock } from "../clock.ts";
import { AgentError } from "../errors.ts";
import type { Fact, UnplacedFact } from "../event.ts";
import { identifyFact } from "../ids.ts";
import {
  type Blob,
  getScope,
  type Lease,
  type Records,
  type RunInfo,
  type RunMessage,
  type SearchHit,
  type SessionInfo,
  type Store,
} from "../store.ts";
import { memoryRecords } from "./memory-records.ts";
import { excerptOf, searchableText, wordsOf } from "./search-text.ts";
import { assertTellable, rowLimit, startsRun, stateAfter } from "./store-rules.ts";
import { type Watchers, watchers } from "./watchers.ts";

type Session = {
  title: string;
  /** Until somebody makes it, it is only where blobs wait for their facts. */
  madeAt: number | undefined;
  readonly facts: Fact[];
  readonly byIdentity: Map<string, Fact>;
  readonly blobs: Map<string, Blob>;
};
/** Messages by key; those that were heard are kept as nothing, so that they count once. */
type KnownRun = {
  readonly info: { -readonly [Field in keyof RunInfo]: RunInfo[Field] };
  /** Most runs are told nothing. */
  told: Map<string, RunMessage | undefined> | undefined;
};

/** Keeps sessions in this process: for tests, browsers and runs that nobody needs tomorrow. */
export function memory({ clock = systemClock }: { readonly clock?: Clock } = {}): Store {
  const sessions = new Map<string, Session>();
  const runs = new Map<string, KnownRun>();
  const { assertHeld, isHeld, ...leases } = memoryLeases(clock.now);
  const { tell, forget, publish, watch } = watchers();

  function sessionFor(id: string): Session {
    const session = sessions.get(id) ?? newSession();
    sessions.set(id, session);
    return session;
  }

  function place(session: Session, fact: UnplacedFact, identity: string): Fact {
    const known = session.byIdentity.get(identity);
    if (known) return known;
    const placed: Fact = { ...fact, seq: session.facts.length + 1 };
    session.facts.push(placed);
    session.byIdentity.set(identity, placed);
    index(runs, placed);
    return placed;
  }

  return {
    ...leases,
    ...lazyRecords(() => memoryRecords(clock.now)),
    publish,
    watch,
    ...inbox(runs, tell),
    ...catalogue(sessions, runs, isHeld),
    async append(facts, { expected, lease, acknowledged: heard = [] }) {
      assertHeld(lease);
      const identified = facts.map((fact) => ({ fact, identity: identifyFact(fact) }));
      const known = sessions.get(lease.sessionId);
      const length = known?.facts.length ?? 0;
      if (length !== expected && identified.some(({ identity }) => !known?.byIdentity.has(identity))) {
        const message = `The session "${lease.sessionId}" is at ${length}, not at ${expected}: read what is new first.`;
        throw new AgentError("position_conflict", message);
      }
      const session = sessionFor(lease.sessionId);
      const placed = identified.map(({ fact, identity }) => place(session, fact, identity));
      if (heard.length > 0) hearAll(runs.get(facts[0]?.runId ?? ""), heard);
      tell(lease.sessionId, { type: "facts" });
      return placed;
    },
    async read(sessionId, after = 0, most = Infinity) {
      return sessions.get(sessionId)?.facts.slice(after, after + most) ?? [];
    },
    async findSession(runId) {
      return runs.get(runId)?.info.sessionId;
    },
    async create(sessionId, title = "") {
      const session = sessionFor(sessionId);
      if (session.facts.length > 0 || session.madeAt !== undefined) return;
      session.title = title;
      session.madeAt = clock.now();
    },
    async remove(sessionId) {
      for (const { runId } of sessions.get(sessionId)?.facts ?? []) runs.delete(runId);
      sessions.delete(sessionId);
      forget(sessionId);
    },
    async putBlob(sessionId, { mediaType, data }) {
      const { blobs } = sessionFor(sessionId);
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

function newSession(): Session {
  return { title: "", madeAt: undefined, facts: [], byIdentity: new Map(), blobs: new Map() };
}

/** Most stores hold no records: they are created with the first use. */
function lazyRecords(create: () => Records): Records {
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

type Catalogue = Pick<Store, "getSession" | "list" | "rename" | "listRuns" | "listOrphans" | "search">;

function catalogue(
  sessions: ReadonlyMap<string, Session>,
  runs: ReadonlyMap<string, KnownRun>,
  isHeld: (sessionId: string) => boolean,
): Catalogue {
  return {
    async getSession(sessionId) {
      return infoOf(sessionId, sessions.get(sessionId));
    },
    async list({ scope, limit: most = Number.POSITIVE_INFINITY } = {}) {
      const infos = [...within(sessions, scope)].map(([id, session]) => infoOf(id, session));
      return infos
        .filter((info) => info !== undefined)
        .sort((left, right) => right.updatedAt - left.updatedAt)
        .slice(0, rowLimit(most));
    },
    async rename(sessionId, title) {
      const session = sessions.get(sessionId);
      if (session) session.title = title;
    },
    async listRuns(sessionId) {
      return [...runs.values()]
        .filter(({ info }) => info.sessionId === sessionId)
        .map(({ info }) => ({ ...info }));
    },
    async listOrphans() {
      return [...runs.values()]
        .filter((run) => !isHeld(run.info.sessionId) && hasWork(run))
        .map(({ info }) => ({ ...info }));
    },
    async search(words, { scope, limit: most = 50 } = {}) {
      return searchIn(within(sessions, scope), wordsOf(words), rowLimit(most));
    },
  };
}

function infoOf(id: string, session: Session | undefined): SessionInfo | undefined {
  if (!session) return undefined;
  const { title, facts, madeAt } = session;
  const createdAt = facts[0]?.at ?? madeAt;
  if (createdAt === undefined) return undefined;
  const updatedAt = facts.at(-1)?.at ?? createdAt;
  return { id, ...(title && { title }), facts: facts.length, createdAt, updatedAt };
}

function* within(
  sessions: ReadonlyMap<string, Session>,
  scope: string | undefined,
): Generator<readonly [string, Session]> {
  for (const entry of sessions) if (scope === undefined || getScope(entry[0]) === scope) yield entry;
}

function index(runs: Map<string, KnownRun>, fact: Fact): void {
  const { runId, sessionId, agent, at } = fact;
  const known = runs.get(runId);
  const state = stateAfter(fact);
  if (known) {
    known.info.state = state;
    known.info.updatedAt = at;
  }
  if (!known && startsRun(fact))
    runs.set(runId, {
      info: { runId, sessionId, agent, state, startedAt: at, updatedAt: at },
      told: undefined,
    });
}

function hearAll(run: KnownRun | undefined, keys: readonly string[]): void {
  if (!run) return;
  run.told ??= new Map();
  for (const key of keys) run.told.set(key, undefined);
}

function hasWork({ info, told }: KnownRun): boolean {
  if (info.state !== "waiting") return info.state === "active";
  return [...(told?.values() ?? [])].some((message) => message !== undefined);
}

function inbox(
  runs: ReadonlyMap<string, KnownRun>,
  news: Watchers["tell"],
): Pick<Store, "sendMessage" | "listMessages"> {
  return {
    async sendMessage(runId, message) {
      const run = runs.get(runId);
      if (run?.told?.has(message.key)) return;
      assertTellable(runId, run?.info);
      if (run) run.told = (run.told ?? new Map()).set(message.key, message);
      news(run?.info.sessionId ?? "", { type: "message", runId });
    },
    async listMessages(runId) {
      return [...(runs.get(runId)?.told?.values() ?? [])].filter((message) => message !== undefined);
    },
  };
}

function searchIn(
  sessions: Iterable<readonly [string, Session]>,
  words: readonly string[],
  most: number,
): SearchHit[] {
  const found: SearchHit[] = [];
  if (words.length === 0 || most === 0) return found;
  for (const [sessionId, { facts }] of sessions)
    for (const fact of facts) {
      const text = searchableText(fact);
      const has = new Set(wordsOf(text));
      if (!words.every((word) => has.has(word))) continue;
      found.push({ sessionId, seq: fact.seq, excerpt: excerptOf(text, words) });
      if (found.length === most) return found;
    }
  return found;
}

type Holding = { readonly owner: string; readonly token: number; until: number };

/** Leases among the runs of this process. */
export function memoryLeases(now: () => number): Pick<Store, "lease" | "renew" | "release"> & {
  assertHeld(lease: Lease): void;
  isHeld(sessionId: string): boolean;
} {
  const holdings = new Map<string, Holding>();
  let tokens = 0;
  return {
    async lease(sessionId, owner, ms) {
      const holding = holdings.get(sessionId);
      if (holding && holding.owner !== owner && holding.until > now()) return undefined;
      tokens += 1;
      holdings.set(sessionId, { owner, token: tokens, until: now() + ms });
      return { sessionId, owner, token: tokens };
    },
    async renew({ sessionId, token }, ms) {
      const holding = holdings.get(sessionId);
      if (holding?.token !== token) return false;
      holding.until = now() + ms;
      return true;
    },
    async release({ sessionId, token }) {
      if (holdings.get(sessionId)?.token === token) holdings.delete(sessionId);
    },
    isHeld: (sessionId) => (holdings.get(sessionId)?.until ?? 0) > now(),
    assertHeld({ sessionId, token }) {
      if (holdings.get(sessionId)?.token === token) return;
      throw new AgentError("lease_lost", `Another writer has taken over the session "${sessionId}".`);
    },
  };
}
