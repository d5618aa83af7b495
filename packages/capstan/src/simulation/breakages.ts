import type { Fact } from "../event.ts";
import type { Lease, Store } from "../store.ts";
import type { SimulationOptions } from "./simulation.ts";

/** Damage that the simulation must notice, and the promise that is then broken: it proves that it can fail. */
export const breakages: readonly (SimulationOptions & { readonly what: string; readonly breaks: string })[] =
  [
    { what: "a store that forgets fencing", breakStore: withoutFencing, breaks: "stale writers are refused" },
    {
      what: "a store that gives a lease to two",
      breakStore: withLeaseForAll,
      breaks: "a lease has one holder",
    },
    {
      what: "a store that forgets what was heard",
      breakStore: withoutHeard,
      breaks: "what was told is heard once",
    },
    {
      what: "an engine that repeats a finished tool",
      breakStore: withoutLastResult,
      breaks: "a call has one result, and nothing after it",
    },
    {
      what: "a log that tells before it stores",
      breakView: tellingFirst,
      breaks: "nothing is told that is not stored",
    },
    {
      what: "a mailbox that drops a message",
      breakView: withoutSomeMessages,
      breaks: "who takes up a run hears first what it was told",
    },
    {
      what: "a store that does not say that there are new facts",
      breakView: withoutNews,
      breaks: "a reader gets every fact",
    },
  ];

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

function withLeaseForAll(store: Store): Store {
  return {
    ...store,
    // To the store they all have the same name.
    lease: async (sessionId, owner, ms) => {
      const lease = await store.lease(sessionId, "everybody", ms);
      return lease && { ...lease, owner };
    },
  };
}

function withoutHeard(store: Store): Store {
  return { ...store, append: (facts, { expected, lease }) => store.append(facts, { expected, lease }) };
}

/** Whoever takes up a run does not see that its last call is done, and is not told that the log is longer. */
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
      return store.append(facts, isShort ? { ...at, expected: lost.seq } : at);
    },
  };
}

function tellingFirst(store: Store): Store {
  return {
    ...store,
    async append(facts, at) {
      store.append(facts, at).catch(() => undefined);
      return facts.map((fact, index): Fact => ({ ...fact, seq: at.expected + 1 + index }));
    },
  };
}

function withoutSomeMessages(store: Store): Store {
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

function withoutNews(store: Store): Store {
  return {
    ...store,
    watch: (sessionId, hear) =>
      store.watch(sessionId, (news) => {
        if (news.type !== "facts") hear(news);
      }),
  };
}
