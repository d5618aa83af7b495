import { describe, expect, it } from "vitest";
import { local } from "../engines/local.ts";
import { type Agent, defineAgent } from "../kernel/agent.ts";
import { defineTool } from "../kernel/tool.ts";
import { session as loadSession } from "../sessions/session.ts";
import { subscribe } from "../sessions/subscribe.ts";
import { memory } from "../stores/memory.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { fold } from "./facts.ts";
import { loadRunFacts } from "./load-facts.ts";
import { resume, run } from "./run.ts";
import { parseState, snapshotVersion } from "./snapshot.ts";
import type { Store } from "./store.ts";

const session = "session";
/** No more facts than this are read before a snapshot and after it. */
const maxTail = 320;

type CountingStore = Store & { takeReads(): { readonly calls: number; readonly facts: number } };

/** Counts the facts that are read from a store. */
function createCountingStore(store: Store = memory()): CountingStore {
  let counts = { calls: 0, facts: 0 };
  return {
    ...store,
    async read(...query) {
      const facts = await store.read(...query);
      counts = { calls: counts.calls + 1, facts: counts.facts + facts.length };
      return facts;
    },
    takeReads() {
      const taken = counts;
      counts = { calls: 0, facts: 0 };
      return taken;
    },
  };
}

const policy = { historyLimit: 4, maxTurns: 1000, repetition: { nudgeAt: 1000, stopAt: 1001 } } as const;

/** An agent that calls its tool a number of times in each run, then answers. */
function createAgent({ calls = 2, tool = {} }: { calls?: number; tool?: object } = {}): Agent {
  return defineAgent({
    name: "agent",
    policy,
    model: scriptedModel(({ history }) => {
      const lastUser = history.findLastIndex((entry) => entry.type === "user");
      const made = history.slice(lastUser).filter((entry) => entry.type === "assistant").length;
      return made < calls ? { calls: [{ name: "look", input: { made } }] } : { text: `Answer ${made}.` };
    }),
    tools: [
      defineTool({
        name: "look",
        description: "Looks.",
        input: { type: "object" },
        effects: "none",
        execute: () => "seen",
        ...tool,
      }),
    ],
  });
}

/** Fills a session with runs. Returns the number of its facts. */
async function fillSession(store: Store, runs: number, agent = createAgent()): Promise<number> {
  for (let index = 0; index < runs; index++)
    await run(agent, `Question ${index}.`, { store, session, runId: `run_${index}` });
  return (await store.getSession(session))?.facts ?? 0;
}

describe("a new session", () => {
  it("is not read before its first run, because nothing is stored yet", async () => {
    const store = createCountingStore();
    const { sessionId } = await run(createAgent(), "Look.", { store });
    expect(store.takeReads().calls).toBe(0);
    await run(createAgent(), "Look.", { store, session: sessionId });
    expect(store.takeReads().calls).toBe(1);
  });
});

describe("a long session", () => {
  it("is opened by a new run at the cost of its tail (F92)", async () => {
    const store = createCountingStore();
    const facts = await fillSession(store, 100);
    expect(facts).toBeGreaterThan(1000);
    store.takeReads();
    await run(createAgent(), "One more.", { store, session });
    expect(store.takeReads().facts).toBeLessThanOrEqual(maxTail);
    const history = await loadSession(store, session).history();
    expect(store.takeReads().facts).toBeLessThanOrEqual(maxTail);
    expect(history).toEqual(fold(session, await store.read(session)).history);
  });

  it("has the same next run without its snapshot", async () => {
    const store = memory();
    await fillSession(store, 60);
    expect(await store.getSnapshot(session)).toBeDefined();
    const forgetful: Store = { ...store, getSnapshot: async () => undefined };
    const runAgain = async (from: Store) => {
      const copy = memory();
      const facts = await from.read(session);
      const lease = await copy.lease(session, "copy", 60_000);
      if (!lease) throw new Error("no lease");
      await copy.append(facts, { expected: 0, lease });
      const snapshot = await from.getSnapshot(session);
      if (snapshot) await copy.putSnapshot(snapshot, lease);
      await copy.release(lease);
      const { orThrow: _, ...result } = await run(createAgent(), "Next.", {
        ...{ store: copy, session, runId: "next", clock: fakeClock() },
      });
      return { result, facts: await copy.read(session) };
    };
    expect(await runAgain(store)).toEqual(await runAgain(forgetful));
  });

  it("ignores a snapshot that is damaged, of another version, or of another session", async () => {
    const store = memory();
    const facts = await fillSession(store, 60);
    const lease = await store.lease(session, "test", 60_000);
    const snapshot = await store.getSnapshot(session);
    if (!lease || !snapshot) throw new Error("no lease or snapshot");
    for (const damaged of [
      { ...snapshot, state: snapshot.state.slice(1) },
      { ...snapshot, state: "null" },
      { ...snapshot, version: snapshotVersion + 1 },
      { ...snapshot, seq: snapshot.seq - 1 },
      { ...snapshot, state: snapshot.state.replace(`"sessionId":"${session}"`, '"sessionId":"other"') },
    ]) {
      await store.putSnapshot(damaged, lease);
      const counting = createCountingStore({ ...store, lease: memory().lease, append: memory().append });
      await resume(createAgent(), { store: counting, runId: "run_59" });
      expect(counting.takeReads().facts).toBe(facts);
    }
  });

  it("shows an earlier run as it was, although the snapshot is later", async () => {
    const store = memory();
    const agent = createAgent();
    const engine = local({ store, agents: agent, clock: fakeClock() });
    const first = await run(agent, "First.", { store, session, runId: "first" });
    await fillSession(store, 60);
    const { orThrow: _, ...shown } = await engine.getResult("first");
    expect(shown).toEqual({ ...first, orThrow: undefined });
    const { orThrow: __, ...resumed } = await resume(agent, { store, runId: "first" });
    expect(resumed).toEqual(shown);
    await engine.close();
  });

  it("writes snapshots at a cost that is linear in its facts, even if its history is never shortened", async () => {
    const inner = memory();
    let written = 0;
    const store: Store = {
      ...inner,
      putSnapshot(snapshot, lease) {
        written += snapshot.state.length;
        return inner.putSnapshot(snapshot, lease);
      },
    };
    const execute = ({ made }: { made: number }) => `${made} ${crypto.randomUUID().repeat(50)}`;
    const agent = createAgent({ calls: 20, tool: { execute } });
    for (let index = 0; index < 40; index++)
      await run(agent, `Question ${index}.`, { store, session, policy: { historyLimit: "unlimited" } });
    const { facts = 0 } = (await inner.getSession(session)) ?? {};
    const { state = "" } = (await inner.getSnapshot(session)) ?? {};
    expect(state.length).toBeGreaterThan(500_000);
    expect(written).toBeLessThan(2000 * facts);
  });

  it("goes on when snapshots cannot be stored or read", async () => {
    const fail = () => Promise.reject(new Error("no space"));
    const store: Store = { ...memory(), putSnapshot: fail, getSnapshot: fail };
    await fillSession(store, 50);
    expect(await run(createAgent(), "Next.", { store, session })).toMatchObject({ status: "done" });
  });
});

describe("a long run", () => {
  it("is taken over by another process at the cost of its tail (F73)", async () => {
    const clock = fakeClock();
    const store = createCountingStore(memory({ clock }));
    const interrupted = createAgent({
      calls: 400,
      tool: {
        execute: (input: { made: number }) => (input.made < 380 ? "seen" : new Promise(() => undefined)),
      },
    });
    const first = local({ store, agents: interrupted, clock: fakeClock() });
    void first.run(interrupted, "Go.", { session, runId: "run" });
    await expect.poll(async () => (await store.getSession(session))?.facts, { timeout: 30_000 }).toBe(1904);
    store.takeReads();
    await clock.advance(60_000); // past the lease of the first process
    const result = await resume(createAgent({ calls: 400 }), { store, runId: "run" });
    expect(result).toMatchObject({ status: "done", turns: 401 });
    expect(result.toolCalls).toHaveLength(400);
    expect(store.takeReads().facts).toBeLessThanOrEqual(maxTail);
  });

  it("answers an approval with one read of its tail (S1-20)", async () => {
    const store = createCountingStore();
    const agent = createAgent({ calls: 3, tool: { needsApproval: true, effects: "state" } });
    await fillSession(store, 100);
    const engine = local({ store, agents: agent, clock: fakeClock() });
    const { pending } = await engine.run(agent, "Guarded.", { session, runId: "run" });
    const callId = pending[0]?.callId ?? "";
    store.takeReads();
    const message = { type: "approve", callId, key: "k" } as const;
    expect(await engine.checkMessage("run", message)).toMatchObject({ isNew: true, call: { callId } });
    expect(store.takeReads()).toMatchObject({
      calls: 1,
      facts: expect.toSatisfy((facts) => facts <= maxTail),
    });
    await engine.send("run", message);
    await expect.poll(async () => (await engine.getResult("run")).pending[0]?.callId).not.toBe(callId);
    expect(await engine.checkMessage("run", { ...message, key: "again" })).toEqual({ isNew: false });
    await expect(engine.checkMessage("run", { type: "deny", callId, key: "other" })).rejects.toMatchObject({
      code: "approval_conflict",
    });
    await engine.close();
  });

  it("is found and followed from its first fact, not from that of the session", async () => {
    const store = createCountingStore();
    await fillSession(store, 100);
    const facts = await store.read(session);
    store.takeReads();
    for (const runId of ["run_0", "run_50", "run_99"]) {
      const expected = facts.filter((fact) => fact.runId === runId);
      expect(await loadRunFacts(store, runId)).toEqual(expected);
      expect(store.takeReads().facts).toBeLessThanOrEqual(500);
      const followed = [];
      for await (const event of subscribe(store, { runId })) followed.push(event);
      expect(followed).toEqual(expected);
      expect(store.takeReads().facts).toBeLessThanOrEqual(200);
    }
  });

  it("is followed in pages of bounded size, each read once", async () => {
    const store = createCountingStore();
    const facts = await fillSession(store, 100);
    store.takeReads();
    const events = subscribe(store, { sessionId: session }, { untilRest: true });
    let count = 0;
    for (let batch = await events.nextBatch(); !batch.done; batch = await events.nextBatch()) {
      expect(batch.value.length).toBeLessThanOrEqual(200);
      count += batch.value.length;
    }
    expect(count).toBe(facts);
    expect(store.takeReads().facts).toBe(facts);
  });
});

describe("a snapshot and secrets", () => {
  const secret = "sk-live-4242-4242";
  const telling = createAgent({ tool: { execute: () => `The key is ${secret}.` } });

  it("that is told in an earlier fact is masked for a run that knows it, with or without a snapshot (A60)", async () => {
    const store = memory();
    await fillSession(store, 60, telling);
    expect((await store.getSnapshot(session))?.state).toContain(secret);
    const { history } = await run(createAgent(), "Next.", { store, session, secrets: [secret] });
    expect(JSON.stringify(history)).toContain("The key is ***.");
    expect(JSON.stringify(history)).not.toContain(secret);
  });

  it("keeps for others what a run with secrets masked only for itself", async () => {
    const store = memory();
    await fillSession(store, 10, telling); // not enough facts for a snapshot
    for (let index = 0; index < 40; index++)
      await run(createAgent(), `Next ${index}.`, {
        ...{ store, session, secrets: [secret], policy: { historyLimit: 400 } },
      });
    expect(await store.getSnapshot(session)).toBeUndefined();
    await run(createAgent(), "Last.", { store, session, policy: { historyLimit: 400 } });
    const { state = "" } = (await store.getSnapshot(session)) ?? {};
    expect(JSON.stringify(parseState(state).history)).toContain(secret);
  });
});
