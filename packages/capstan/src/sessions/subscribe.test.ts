import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { local } from "../engines/local.ts";
import { defineAgent } from "../kernel/agent.ts";
import { type Delta, type Event, type Fact, isFact, type UnplacedFact } from "../kernel/event.ts";
import type { Model } from "../kernel/model.ts";
import { defaultPolicy } from "../kernel/policy.ts";
import { defineTool } from "../kernel/tool.ts";
import { resume, run } from "../runtime/run.ts";
import type { PositionedDelta, Store, StoreNotice } from "../runtime/store.ts";
import { memory } from "../stores/memory.ts";
import { sqlite } from "../stores/sqlite/sqlite.ts";
import { collect } from "../testing/collect.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { type SlowReader, type SubscribeOptions, type Subscription, subscribe } from "./subscribe.ts";

const createOrigin = (runId: string) => ({ runId, sessionId: "s1", agent: "a", turn: 1 });
const createStart = (runId: string): UnplacedFact => ({
  ...createOrigin(runId),
  ...{
    type: "run_start",
    input: [],
    policy: defaultPolicy,
    timeZone: "UTC",
    id: `${runId}/run_start`,
    at: 1,
  },
});
const createWarning = (runId: string, name: string): UnplacedFact => ({
  ...createOrigin(runId),
  ...{ type: "warning", code: name, message: name, id: `${runId}/warning/${name}`, at: 1 },
});
const createDone = (runId: string): UnplacedFact => ({
  ...createOrigin(runId),
  ...{ type: "done", status: "done", text: "", usage: { inputTokens: 0, outputTokens: 0 }, cost: 0 },
  ...{ grounded: true, id: `${runId}/done`, at: 1 },
});
const createWaiting = (runId: string, name: string): UnplacedFact => ({
  ...createOrigin(runId),
  ...{ type: "waiting", callIds: [], id: `${runId}/waiting/${name}`, at: 1 },
});
const createDelta = (after: number, text: string, runId = "r1"): PositionedDelta => {
  const delta: Delta = { ...createOrigin(runId), type: "content_delta", delta: text };
  return { after, delta };
};

/** Appends facts and publishes deltas like the owner of a run. */
async function openWriter(store: Store) {
  const lease = await store.lease("s1", "writer", 600_000);
  if (!lease) throw new Error("no lease");
  let expected = 0;
  return {
    async append(...facts: UnplacedFact[]) {
      const placed = await store.append(facts, { expected, lease });
      expected = placed.at(-1)?.seq ?? expected;
    },
    publish: (text: string) => store.publish("s1", [createDelta(expected, text)]),
  };
}

async function readAll(events: AsyncIterable<Event>): Promise<Event[]> {
  const read: Event[] = [];
  for await (const event of events) read.push(event);
  return read;
}

/** Gives readers in this process time to catch up. */
const waitForReaders = () => new Promise((resolve) => setTimeout(resolve, 5));

const formatEvent = (event: Event) => {
  if (isFact(event)) return event.seq;
  return event.type === "content_delta" ? event.delta : event.type;
};

async function readFormatted(store: Store, subscription: Subscription, options?: SubscribeOptions) {
  return (await readAll(subscribe(store, subscription, options))).map(formatEvent);
}

/** Simulates a store shared between processes: notices arrive late, twice, out of order or without cause. */
function withUnreliableNotices(store: Store, delays: () => number): Store {
  return {
    ...store,
    watch(sessionId, receive) {
      let isWatching = true;
      const deliverLater = (notice: StoreNotice) => setTimeout(() => isWatching && receive(notice), delays());
      const unwatch = store.watch(sessionId, (notice) => {
        deliverLater(notice);
        if (notice.type === "facts") deliverLater(notice);
        deliverLater({ type: "facts" });
      });
      return () => {
        isWatching = false;
        unwatch();
      };
    },
    async read(...args) {
      await new Promise((resolve) => setTimeout(resolve, delays()));
      return store.read(...args);
    },
  };
}

describe("a subscription", () => {
  it("yields stored facts, then live ones, then ends with its run", async () => {
    const store = memory();
    const { append, publish } = await openWriter(store);
    await append(createStart("r1"), createWarning("r1", "a"));
    const reading = readFormatted(store, { runId: "r1" });
    await waitForReaders();
    publish("x");
    publish("y");
    await waitForReaders();
    await append(createWarning("r1", "b"), createDone("r1"));
    expect(await reading).toEqual([1, 2, "x", "y", 3, 4]);
  });

  it("yields exactly the remaining facts after every prefix of a real run (F81)", async () => {
    const store = memory();
    const add = defineTool({
      name: "add",
      description: "Adds",
      input: { type: "object" },
      effects: "none",
      execute: () => 4,
    });
    const model = scriptedModel([{ calls: [{ name: "add", input: {} }] }, { text: "Four." }]);
    const agent = defineAgent({ name: "a", model, tools: [add] });
    const { facts } = await collect(run(agent, "2+2?", { store, session: "s1", runId: "r1" }));
    for (let after = 0; after <= facts.length; after += 1) {
      expect(await readAll(subscribe(store, { runId: "r1", after }))).toEqual(facts.slice(after));
      const options = { untilRest: true };
      expect(await readAll(subscribe(store, { sessionId: "s1", after }, options))).toEqual(
        facts.slice(after),
      );
    }
  });

  it("yields every fact once, in order and without a gap, however appends, notices and reads interleave (F81)", async () => {
    const step = fc.oneof(
      fc.record({ type: fc.constant("append" as const), count: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ type: fc.constant("say" as const) }),
      fc.record({ type: fc.constant("wait" as const) }),
      fc.record({ type: fc.constant("join" as const) }),
    );
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 25 }),
      fc.infiniteStream(fc.integer({ min: 0, max: 3 })),
      fc.integer({ min: 0, max: 100 }),
      async (steps, delays, share) => {
        const own = memory();
        const shared = withUnreliableNotices(own, () => delays.next().value ?? 0);
        const { append, publish } = await openWriter(own);
        await append(createStart("r1"));
        let [facts, names] = [1, 0];
        const readers: { readonly after: number; readonly events: Promise<Event[]> }[] = [];
        const join = () => {
          const after = Math.floor((facts * share) / 101);
          readers.push({ after, events: readAll(subscribe(shared, { runId: "r1", after })) });
        };
        join();
        for (const { type, ...rest } of steps) {
          if (type === "join") join();
          if (type === "say") publish(`${facts}:${names++};`);
          if (type === "wait") await new Promise((resolve) => setTimeout(resolve, delays.next().value ?? 0));
          if (type !== "append" || !("count" in rest)) continue;
          await append(...Array.from({ length: rest.count }, () => createWarning("r1", String(names++))));
          facts += rest.count;
        }
        await append(createDone("r1"));
        for (const { after, events } of readers) checkRead(await events, after, facts + 1);
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });

  it("skips deltas that a fact has superseded, and those of other runs", async () => {
    const store = memory();
    const { append } = await openWriter(store);
    await append(createStart("r0"), createDone("r0"), createStart("r1"));
    const stop = new AbortController();
    const events = subscribe(store, { runId: "r1" }, { signal: stop.signal });
    expect((await events.next()).value).toMatchObject({ seq: 3 });
    const next = events.next();
    await waitForReaders();
    store.publish("s1", [
      createDelta(2, "old"),
      createDelta(3, "other", "r0"),
      createDelta(3, "new"),
      createDelta(2, "late"),
    ]);
    expect((await next).value).toMatchObject({ delta: "new" });
    store.publish("s1", [createDelta(3, "overtaken")]);
    await append(createWarning("r1", "a"));
    expect((await events.next()).value).toMatchObject({ seq: 4 });
    stop.abort();
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  it("holds a delta back until the facts before it have arrived", async () => {
    const store = memory();
    const { append } = await openWriter(store);
    await append(createStart("r1"));
    const reading = readFormatted(store, { runId: "r1" });
    await waitForReaders();
    store.publish("s1", [createDelta(2, "early")]);
    await waitForReaders();
    await append(createWarning("r1", "a"));
    await waitForReaders();
    await append(createDone("r1"));
    expect(await reading).toEqual([1, 2, "early", 3]);
  });

  it("joining in the middle of a message gets all of it once, also deltas sent while it reads the facts (F81)", async () => {
    const own = memory();
    const { append, publish } = await openWriter(own);
    await append(createStart("r1"), createWarning("r1", "a"));
    for (const word of ["One ", "two ", "three "]) publish(word);
    const reads: (() => void)[] = [];
    const store: Store = {
      ...own,
      async read(sessionId, after) {
        const facts = await own.read(sessionId, after);
        await new Promise<void>((resolve) => reads.push(resolve));
        return facts;
      },
    };
    const reading = [readFormatted(store, { runId: "r1" }), readFormatted(store, { runId: "r1", after: 2 })];
    await waitForReaders();
    publish("four ");
    for (const go of reads.splice(0)) go();
    await waitForReaders();
    for (const go of reads.splice(0)) go();
    await waitForReaders();
    publish("five.");
    const late = readFormatted(store, { runId: "r1" });
    await waitForReaders();
    await append(createDone("r1"));
    const releaseTimer = setInterval(() => {
      for (const go of reads.splice(0)) go();
    }, 1);
    const [first, second] = await Promise.all(reading);
    clearInterval(releaseTimer);
    expect(first).toEqual([1, 2, "One two three ", "four ", "five.", 3]);
    expect(second).toEqual(["One two three ", "four ", "five.", 3]);
    for (const go of reads.splice(0)) go();
    expect(await late).toEqual([1, 2, 3]); // the message ended before this reader had read the earlier facts
  });

  it("joining after a message restart gets nothing from before the restart", async () => {
    const store = memory();
    const { append, publish } = await openWriter(store);
    await append(createStart("r1"));
    publish("Void");
    store.publish("s1", [
      { after: 1, delta: { ...createOrigin("r1"), type: "message_restart", reason: "cut" } },
    ]);
    for (const word of ["And ", "again."]) publish(word);
    const reading = readFormatted(store, { runId: "r1" });
    await waitForReaders();
    await append(createDone("r1"));
    expect(await reading).toEqual([1, "message_restart", "And again.", 2]);
  });

  it("joining in the middle of a long message does not count as slow (F80)", async () => {
    const store = memory();
    const { append, publish } = await openWriter(store);
    await append(createStart("r1"));
    for (let count = 0; count < 90; count += 1) publish('"'.repeat(10_000));
    const events = subscribe(store, { runId: "r1" }, { maxBuffered: 1000 });
    expect((await events.next()).value).toMatchObject({ seq: 1 });
    expect((await events.next()).value).toMatchObject({ delta: '"'.repeat(900_000) });
    publish("x".repeat(2000));
    await expect(events.next()).rejects.toMatchObject({ cursor: { seq: 1 } });
  });

  it("joining in the middle of a message gets its text so far (S1-34)", async () => {
    const store = memory();
    const firstDelta = Promise.withResolvers<void>();
    const model: Model = {
      id: "slow",
      async *stream() {
        for (const text of ["One ", "two "]) yield [{ type: "text", text }];
        await firstDelta.promise;
        yield [
          { type: "text", text: "three." },
          { type: "finish", reason: "stop" },
        ];
      },
    };
    const agent = defineAgent({ name: "a", model });
    const engine = local({ store, agents: agent });
    const running = engine.run(agent, "Count.", { session: "s1", runId: "r1" });
    for await (const event of running) if (event.type === "content_delta" && /two/.test(event.delta)) break;
    const texts: string[] = [];
    for await (const event of subscribe(store, { runId: "r1" })) {
      if (event.type === "content_delta") texts.push(event.delta);
      if (event.type === "content_delta") firstDelta.resolve();
    }
    expect(texts).toEqual(["One two ", "three."]);
    await running;
    await engine.close();
  });

  it("of a session continues across runs until it is aborted, and stops watching the store", async () => {
    const store = memory();
    const stopped: unknown[] = [];
    const watch: Store["watch"] = (sessionId, receive) => {
      const unwatch = store.watch(sessionId, receive);
      return () => {
        stopped.push(sessionId);
        unwatch();
      };
    };
    const { append } = await openWriter(store);
    const stop = new AbortController();
    const reading = readFormatted({ ...store, watch }, { sessionId: "s1" }, { signal: stop.signal });
    await append(createStart("r1"), createDone("r1"));
    await append(createStart("r2"));
    await waitForReaders();
    stop.abort();
    expect(await reading).toEqual([1, 2, 3]);
    expect(stopped).toEqual(["s1"]);
  });

  it("can be closed while it waits", async () => {
    const store = memory();
    await (await openWriter(store)).append(createStart("r1"));
    const events = subscribe(store, { runId: "r1" });
    await events.next();
    const waiting = events.next();
    await events.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  it("with untilRest ends when the run is suspended, but not at an earlier suspension", async () => {
    const store = memory();
    const { append } = await openWriter(store);
    await append(
      createStart("r1"),
      createWaiting("r1", "0"),
      createWarning("r1", "a"),
      createWaiting("r1", "1"),
    );
    expect(await readFormatted(store, { runId: "r1" }, { untilRest: true })).toEqual([1, 2, 3, 4]);
    expect(await readFormatted(store, { runId: "r1", after: 4 }, { untilRest: true })).toEqual([]);
    const reading = readFormatted(store, { runId: "r1", after: 4 });
    await append(createDone("r1"));
    expect(await reading).toEqual([5]);
  });

  it("to a waiting run yields the events after its approval (S1-34)", async () => {
    const store = memory();
    const pay = defineTool({
      name: "pay",
      description: "Pays",
      input: { type: "object" },
      needsApproval: true,
      execute: () => "paid",
    });
    const model = scriptedModel([{ calls: [{ id: "c1", name: "pay", input: {} }] }, { text: "Paid." }]);
    const agent = defineAgent({ name: "a", model, tools: [pay] });
    await run(agent, "Pay.", { store, session: "s1", runId: "r1" });
    const reading = readAll(subscribe(store, { runId: "r1" }));
    await resume(agent, { store, runId: "r1" }).approve("c1");
    expect(await reading).toEqual(await store.read("s1"));
  });

  it.each([
    ["a position in the future", { runId: "r1", after: 9 }, "invalid_input", "no fact at 9"],
    ["half a position", { runId: "r1", after: 0.5 }, "invalid_input", "no fact at 0.5"],
    ["a position before the first", { sessionId: "s1", after: -1 }, "invalid_input", "no fact at -1"],
    [
      "a position of another session",
      { runId: "r1", after: { sessionId: "s2", seq: 1 } },
      "invalid_input",
      'belongs to session "s2", not "s1"',
    ],
    ["an unknown run", { runId: "r9" }, "unknown_run", 'The store has no run "r9"'],
    ["a run of another session", { runId: "r1", sessionId: "s2" }, "unknown_run", 'session "s2" has no run'],
  ] as const)("rejects %s (F81)", async (_, subscription, code, message) => {
    const store = memory();
    await (await openWriter(store)).append(createStart("r1"));
    const reading = readAll(subscribe(store, subscription));
    await expect(reading).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });

  it("ends at once for a position after the end of its run", async () => {
    const store = memory();
    await (await openWriter(store)).append(createStart("r1"), createDone("r1"), createStart("r2"));
    expect(await readFormatted(store, { runId: "r1", after: 3 })).toEqual([]);
    expect(await readFormatted(store, { runId: "r1", after: { sessionId: "s1", seq: 1 } })).toEqual([2]);
  });

  it("drops a reader that is more than a megabyte behind, with a cursor to continue; the writer does not wait (F80)", async () => {
    const store = memory();
    const { append, publish } = await openWriter(store);
    await append(createStart("r1"));
    const events = subscribe(store, { runId: "r1" });
    await events.next();
    for (let count = 0; count < 2000; count += 1) publish("x".repeat(1000));
    const problem: SlowReader = await events.next().then(
      () => expect.unreachable(),
      (thrown) => thrown,
    );
    expect(problem).toMatchObject({ code: "aborted", retryable: true, cursor: { sessionId: "s1", seq: 1 } });
    expect(await events.next()).toEqual({ done: true, value: undefined });
    await append(createWarning("r1", "a"), createDone("r1"));
    expect(await readFormatted(store, { runId: "r1", after: problem.cursor })).toEqual([2, 3]);
  });

  it("buffers no obsolete deltas, so a paused reader only has to catch up on facts (F80)", async () => {
    const store = memory();
    const { append, publish } = await openWriter(store);
    await append(createStart("r1"));
    const events = subscribe(store, { runId: "r1" }, { maxBuffered: 1000 });
    await events.next();
    for (let count = 0; count < 50; count += 1) {
      for (let word = 0; word < 5; word += 1) publish("x".repeat(50));
      await append(createWarning("r1", String(count)));
    }
    await append(createDone("r1"));
    const rest = await readAll(events);
    expect(rest.filter(isFact).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 51 }, (_, index) => index + 2),
    );
  });

  it("receives facts that another process writes to the same file (F81)", async () => {
    const folder = mkdtempSync(join(tmpdir(), "capstan-subscribe-"));
    const file = join(folder, "capstan.db");
    const store = sqlite(file, { pollMs: 20 });
    const source = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
    const program = `
      const { sqlite } = await import(${source("../stores/sqlite/sqlite.ts")});
      const { setTimeout: pause } = await import("node:timers/promises");
      const facts = JSON.parse(process.argv[2]);
      const store = sqlite(process.argv[1]);
      const lease = await store.lease("s1", "other", 60_000);
      for (const [expected, fact] of facts.entries()) {
        await store.append([fact], { expected, lease });
        if (expected % 7 === 0) await pause(15);
      }
      await store.close();`;
    const facts = [
      createStart("r1"),
      ...Array.from({ length: 40 }, (_, index) => createWarning("r1", `${index}`)),
      createDone("r1"),
    ];
    const writing = promisify(execFile)(process.execPath, [
      ...["--conditions=capstan-source", "--input-type=module", "-e", program],
      ...[file, JSON.stringify(facts)],
    ]);
    const stop = new AbortController();
    const events = subscribe(store, { sessionId: "s1" }, { signal: stop.signal });
    const seqs: number[] = [];
    for await (const event of events) {
      if (isFact(event)) seqs.push(event.seq);
      if (event.type === "done") stop.abort();
    }
    await writing;
    expect(seqs).toEqual(facts.map((_, index) => index + 1));
    expect((await readAll(subscribe(store, { runId: "r1", after: 17 }))).map(formatEvent)).toEqual(
      seqs.slice(17),
    );
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it("rejects when the store does, and stops watching it", async () => {
    const store = memory();
    await (await openWriter(store)).append(createStart("r1"));
    const read = () => Promise.reject(new Error("disk on fire"));
    await expect(readAll(subscribe({ ...store, read }, { runId: "r1" }))).rejects.toThrow("disk on fire");
  });
});

function checkRead(events: readonly Event[], after: number, last: number): void {
  const facts = events.filter(isFact).map((fact: Fact) => fact.seq);
  expect(facts).toEqual(Array.from({ length: last - after }, (_, index) => after + index + 1));
  let position = after;
  const names: number[] = [];
  for (const event of events) {
    if (isFact(event)) position = event.seq;
    else if (event.type === "content_delta") {
      for (const each of event.delta.split(";").slice(0, -1)) {
        const [place, name] = each.split(":").map(Number);
        expect(place).toBe(position);
        names.push(name ?? -1);
      }
    }
  }
  expect(new Set(names).size).toBe(names.length);
}
