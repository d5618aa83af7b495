import { type Fact, isRecord, type Json, type Lease, type Model, type Store } from "capstan";
import { fold, serializeState } from "capstan/internal/verification";
import type { SimulationOptions } from "./simulation.ts";

export type Mutation = SimulationOptions & {
  readonly what: string;
  readonly breaks: string;
  /** The first seed to simulate, if no small one detects it. */
  readonly from?: number;
};

/** Broken parts that the simulation must detect, and the invariant that each violates: the simulation can fail. */
export const mutations: readonly Mutation[] = [
  {
    what: "a store that forgets fencing",
    mutateStore: withoutFencing,
    breaks: "stale writers are refused",
  },
  {
    what: "a store that grants a lease twice",
    mutateStore: withSharedLeases,
    breaks: "a lease has one holder",
  },
  {
    what: "a store that forgets acknowledged messages",
    mutateStore: withoutAcknowledgements,
    breaks: "a message is delivered once",
  },
  {
    what: "an engine that repeats a finished tool",
    mutateStore: withoutLastResult,
    breaks: "a call has one result, and nothing after it",
  },
  {
    what: "a log that acknowledges facts before storing them",
    mutateWorkerStore: withEarlyAcknowledgement,
    breaks: "no event is emitted before its fact is stored",
  },
  {
    what: "an inbox that drops messages",
    mutateWorkerStore: withDroppedMessages,
    breaks: "a takeover delivers pending messages first",
  },
  {
    what: "a snapshot that lacks its last fact",
    mutateWorkerStore: withIncompleteSnapshots,
    breaks: "a snapshot is the state of its facts",
  },
  {
    what: "a store that does not announce new facts",
    mutateWorkerStore: withoutFactNotices,
    breaks: "a reader gets every fact",
  },
  {
    what: "a run that does not suspend during an outage",
    mutateWorkerStore: (store) => withChangedFacts(store, withoutSuspension),
    breaks: "no outage ends a run that has patience left",
  },
  {
    what: "a schedule that moves on before its run is stored",
    mutateWorkerStore: withEarlyMove,
    breaks: "no run is lost or stuck",
  },
  {
    what: "a schedule whose time differs from process to process",
    mutateWorkerStore: withShiftedTimes,
    breaks: "a schedule starts one run for each time",
    from: 195,
  },
  {
    what: "a model client that repeats requests on its own",
    mutateModel: withOwnRetry,
    breaks: "nothing is requested more often than the policy says",
  },
  {
    what: "a retry that forgets a finished tool",
    mutateWorkerStore: withForgetfulRetry,
    breaks: "a completed step is never performed again",
  },
  {
    what: "a memory that forgets which calls have changed it",
    mutateStore: withForgetfulMemories,
    breaks: "a call changes a memory once",
  },
  {
    what: "a compaction that separates a call from its result",
    mutateWorkerStore: (store) => withChangedFacts(store, withMisplacedCompaction),
    breaks: "the history is valid",
  },
  {
    what: "a continuation that repeats a part",
    mutateWorkerStore: (store) => withChangedFacts(store, withRepeatedPart),
    breaks: "the parts of a message are joined",
  },
  {
    what: "an engine that keeps its leases when it closes",
    mutateWorkerStore: (store) => ({ ...store, release: async () => undefined }),
    breaks: "a closed engine holds no lease",
  },
  {
    what: "a process that runs others beside a suspect",
    mutateWorkerStore: (store) => withChangedFacts(store, withFalseSolitude),
    breaks: "a suspect is alone in its process",
  },
  {
    what: "a process that continues runs of a newer version",
    ignoresVersions: true,
    breaks: "runs of a newer version are left to others",
  },
];

type ChangeFact = <Unplaced extends Omit<Fact, "seq">>(fact: Unplaced) => Unplaced;

/** Stores other facts than the runtime means to. */
function withChangedFacts(store: Store, change: (fact: Fact) => Fact): Store {
  return { ...store, append: (facts, at) => store.append(facts.map(change as ChangeFact), at) };
}

function withoutSuspension(fact: Fact): Fact {
  if (fact.type !== "model_failed") return fact;
  const { isParked, ...others } = fact;
  return others;
}

function withMisplacedCompaction(fact: Fact): Fact {
  return fact.type === "compacted" && fact.until > 1 ? { ...fact, until: fact.until - 1 } : fact;
}

function withRepeatedPart(fact: Fact): Fact {
  if (fact.type !== "message_partial") return fact;
  return { ...fact, entry: { ...fact.entry, parts: [...fact.entry.parts, ...fact.entry.parts] } };
}

/** Claims for every takeover that the run is alone. */
function withFalseSolitude(fact: Fact): Fact {
  return fact.type === "recovered" ? { ...fact, alone: true } : fact;
}

function withOwnRetry(model: Model): Model {
  return {
    ...model,
    async *stream(request, signal) {
      for (let attempt = 1; attempt < 4; attempt++) {
        try {
          return yield* model.stream(request, signal);
        } catch {
          // The next attempt follows at once.
        }
      }
      yield* model.stream(request, signal);
    },
  };
}

/** Hides the last tool result of a run that has failed. */
function withForgetfulRetry(store: Store): Store {
  return {
    ...store,
    getSnapshot: async () => undefined,
    putSnapshot: async () => undefined,
    async read(sessionId, after = 0) {
      const facts = await store.read(sessionId, after);
      const last = facts.at(-1);
      if (last?.type !== "done" || !last.canRetry) return facts;
      const hidden = facts.findLastIndex((fact) => fact.type === "tool_call_result");
      return facts.filter((_, index) => index !== hidden);
    },
  };
}

function withoutFencing(store: Store): Store {
  const newest = new Map<string, Lease>();
  return {
    ...store,
    async lease(sessionId, owner, ms) {
      const lease = await store.lease(sessionId, owner, ms);
      if (lease) newest.set(sessionId, lease);
      return lease;
    },
    append: (facts, at) => store.append(facts, { ...at, lease: newest.get(at.lease.sessionId) ?? at.lease }),
  };
}

function withSharedLeases(store: Store): Store {
  return {
    ...store,
    // To the store, all workers are the same owner.
    lease: async (sessionId, owner, ms) => {
      const lease = await store.lease(sessionId, "everybody", ms);
      return lease && { ...lease, owner };
    },
  };
}

function withoutAcknowledgements(store: Store): Store {
  return { ...store, append: (facts, { expected, lease }) => store.append(facts, { expected, lease }) };
}

/** Hides the last tool result from the process that takes over, and accepts its append at the old position. */
function withoutLastResult(store: Store): Store {
  const hidden = new Map<string, Fact>();
  return {
    ...store,
    async read(sessionId, after = 0) {
      const facts = await store.read(sessionId, after);
      const last = facts.at(-1);
      if (after > 0 || last?.type !== "tool_call_result") return facts;
      hidden.set(sessionId, last);
      return facts.slice(0, -1);
    },
    async append(facts, at) {
      const lost = hidden.get(at.lease.sessionId);
      const isShort = lost !== undefined && at.expected === lost.seq - 1;
      // As if after a retry, or the store would find the hidden result and add nothing.
      const isRepeated = (fact: Omit<Fact, "seq">) =>
        fact.type === "tool_call_result" && fact.id === lost?.id;
      const added = facts.map((fact) => (isRepeated(fact) ? { ...fact, retry: 1 } : fact));
      return store.append(added, isShort ? { ...at, expected: lost.seq } : at);
    },
  };
}

function withEarlyAcknowledgement(store: Store): Store {
  return {
    ...store,
    async append(facts, at) {
      store.append(facts, at).catch(() => undefined);
      return facts.map((fact, index): Fact => ({ ...fact, seq: at.expected + 1 + index }));
    },
  };
}

/** Ends a schedule when a process claims it, so that no other one starts its run if that process is killed. */
function withEarlyMove(store: Store): Store {
  return {
    ...store,
    async putRecord(record, expected) {
      if (record.kind !== "schedule" || !isRecord(record.body) || !("pending" in record.body))
        return store.putRecord(record, expected);
      const { dueAt: _, ...body } = record.body as { [key: string]: Json };
      return store.putRecord({ ...record, body }, expected);
    },
  };
}

/** Forgets the claim of the process before, so that the run of a time gets another id. */
function withShiftedTimes(store: Store): Store {
  let shift = 0;
  return {
    ...store,
    async listRecords(kind, filter) {
      const records = await store.listRecords(kind, filter);
      if (kind !== "schedule") return records;
      return records.map(({ body, ...record }) => {
        const { pending: _, nextAt, ...rest } = body as { [key: string]: Json };
        return { ...record, body: { ...rest, nextAt: Number(nextAt) + ++shift } };
      });
    },
  };
}

function withDroppedMessages(store: Store): Store {
  let count = 0;
  const dropped = new Set<string>();
  return {
    ...store,
    async listMessages(runId) {
      const messages = await store.listMessages(runId);
      for (const { key } of messages) if (!dropped.has(key) && ++count % 3 === 0) dropped.add(key);
      return messages.filter(({ key }) => !dropped.has(key));
    },
  };
}

function withoutFactNotices(store: Store): Store {
  return {
    ...store,
    watch: (sessionId, hear) =>
      store.watch(sessionId, (news) => {
        if (news.type !== "facts") hear(news);
      }),
  };
}

/** Stores the state before the last fact as the one after it. */
function withIncompleteSnapshots(store: Store): Store {
  return {
    ...store,
    async putSnapshot(snapshot, lease) {
      const facts = await store.read(lease.sessionId, 0, snapshot.seq - 1);
      const state = Object.assign(fold(lease.sessionId, facts), { seq: snapshot.seq });
      await store.putSnapshot({ ...snapshot, state: serializeState(state) }, lease);
    },
  };
}

function withForgetfulMemories(store: Store): Store {
  return {
    ...store,
    putRecord: (record, expected) =>
      record.kind.startsWith("memory:")
        ? store.putRecord({ ...record, body: { ...(record.body as object), calls: [] } }, expected)
        : store.putRecord(record, expected),
  };
}
