import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rejectOnAbort } from "../base/clock.ts";
import { type Agent, defineAgent } from "../kernel/agent.ts";
import { isFact } from "../kernel/event.ts";
import { toPlainText } from "../kernel/history.ts";
import type { PolicyOverrides } from "../kernel/policy.ts";
import { defineTool, type Tool } from "../kernel/tool.ts";
import { loadRunFacts } from "../runtime/load-facts.ts";
import { listQueuedRuns } from "../runtime/queue.ts";
import type { Store } from "../runtime/store.ts";
import { session } from "../sessions/session.ts";
import { subscribe } from "../sessions/subscribe.ts";
import { memory } from "../stores/memory.ts";
import { type FakeClock, fakeClock } from "../testing/fake-clock.ts";
import { type ScriptedModel, type ScriptedRequest, scriptedModel } from "../testing/scripted-model.ts";
import { type LocalEngine, type LocalOptions, local } from "./local.ts";

const leaseMs = 300;

/** Does not advance on its own, so that no lease expires because the machine is busy. */
let clock: FakeClock;
let store: Store;
beforeEach(() => {
  clock = fakeClock();
  store = memory({ clock });
});

const engines: LocalEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

/** An engine that looks like a separate process to the store. */
function openEngine(agent: Agent, more: Partial<LocalOptions> = {}): LocalEngine {
  const engine = local({ store, agents: agent, leaseMs, clock, ...more });
  engines.push(engine);
  return engine;
}

const listTexts = ({ history }: Pick<ScriptedRequest, "history">): readonly string[] =>
  history.flatMap((entry) => (entry.type === "user" ? [toPlainText(entry.content)] : []));

type Desk = { readonly agent: Agent; readonly model: ScriptedModel; open(): void };

/** An agent whose answers wait until `open` is called. */
function createDesk(tools: readonly Tool[] = []): Desk {
  const gate = Promise.withResolvers<void>();
  const model = scriptedModel(
    (request) => {
      const text = listTexts(request).at(-1) ?? "";
      const isCalled = request.history.at(-1)?.type === "result";
      if (text.startsWith("Call ") && !isCalled)
        return { calls: [{ id: `call-${text}`, name: text.slice("Call ".length) }] };
      return { text: `Re: ${text.slice(0, 100)}`, delayMs: 0 };
    },
    { wait: (_, signal) => rejectOnAbort(gate.promise, signal) },
  );
  return { agent: defineAgent({ name: "desk", model, tools }), model, open: gate.resolve };
}

const queue = (runId: string, onBusy?: PolicyOverrides["onBusy"]) => ({
  ...{ session: "s", runId },
  ...(onBusy && { policy: { onBusy } }),
});

/** The ends of the runs of the session, in order. */
async function listEnds(): Promise<readonly string[]> {
  const facts = await session(store, "s").facts();
  return facts.flatMap((fact) =>
    fact.type === "done" ? [`${fact.runId} ${fact.status}: ${fact.text}`] : [],
  );
}

const listQueue = async () => (await listQueuedRuns(store, "s")).map(({ runId }) => runId);

describe("a message to a busy session of an engine", () => {
  it("is stored at once, and becomes a run when those before it have ended", async () => {
    const { agent, open } = createDesk();
    const engine = openEngine(agent);
    const states = [];
    for (const text of ["a", "b", "c"]) states.push(await engine.enqueue(agent, text, queue(text)));
    expect(states).toEqual([
      { runId: "a", sessionId: "s", state: "started" },
      { runId: "b", sessionId: "s", state: "queued" },
      { runId: "c", sessionId: "s", state: "queued" },
    ]);
    expect(await listQueue()).toEqual(["b", "c"]);
    const events = Array.fromAsync(subscribe(store, { runId: "c" }));
    open();
    expect(await engine.open("c")).toMatchObject({ status: "done", text: "Re: c" });
    expect(await listEnds()).toEqual(["a done: Re: a", "b done: Re: b", "c done: Re: c"]);
    expect((await events).filter(isFact)).toEqual(await loadRunFacts(store, "c"));
    expect(await listQueue()).toEqual([]);
    expect(await store.listRecords("queue")).toEqual([]);
  });

  it("on a handle begins its events when its turn comes, with the options of its caller", async () => {
    const seen: unknown[] = [];
    const look = defineTool({
      name: "look",
      description: "",
      input: {},
      execute: (_, { context }) => void seen.push(context),
    });
    const { agent, open } = createDesk([look]);
    const engine = openEngine(agent);
    const first = engine.run(agent, "a", { session: "s" });
    await expect.poll(async () => (await store.read("s")).length).toBeGreaterThan(0);
    const second = engine.run(agent, "Call look", { session: "s", context: { user: "Ada" } });
    const types: string[] = [];
    const reading = (async () => {
      for await (const { type } of second) types.push(type);
    })();
    await expect.poll(listQueue).toHaveLength(1);
    expect(types).toEqual([]);
    open();
    await reading;
    expect((await first).status).toBe("done");
    expect(types.filter((type) => type === "run_start" || type === "done")).toEqual(["run_start", "done"]);
    expect((await second).runId).toBe(second.id);
    expect(seen).toEqual([{ user: "Ada" }]);
  });

  it("never overtakes queued messages, not even when the session is idle for a moment", async () => {
    const { agent, open } = createDesk();
    const engine = openEngine(agent);
    open();
    const ids = Array.from({ length: 60 }, (_, index) => `r${index}`);
    for (const [index, id] of ids.entries()) {
      await engine.enqueue(agent, id, queue(id));
      // After a different number of steps each time, also while one run ends and the next one starts.
      for (let step = 0; step < (index * 7) % 40; step++) await Promise.resolve();
      if (index % 10 === 9) await engine.open(id);
    }
    expect((await listEnds()).map((end) => end.split(" ")[0])).toEqual(ids);
  });

  it("waits for a run that waits for the user", async () => {
    const sign = defineTool({
      name: "sign",
      description: "",
      input: {},
      needsApproval: true,
      execute: () => "Signed.",
    });
    const { agent, open } = createDesk([sign]);
    const engine = openEngine(agent);
    open();
    expect((await engine.run(agent, "Call sign", queue("a"))).status).toBe("waiting");
    expect(await engine.enqueue(agent, "b", queue("b"))).toMatchObject({ state: "queued" });
    await clock.advance(10 * leaseMs);
    expect(await listQueue()).toEqual(["b"]);
    await engine.send("a", { type: "approve", callId: "call-Call sign", key: "k" });
    expect((await engine.open("b")).text).toBe("Re: b");
  });

  it("that is cancelled before its turn ends without a model call, and its id is not used again", async () => {
    const { agent, model, open } = createDesk();
    const engine = openEngine(agent);
    await engine.enqueue(agent, "a", queue("a"));
    await engine.enqueue(agent, "b", queue("b"));
    await engine.send("b", { type: "cancel", reason: "Never mind.", key: "k" });
    expect(await engine.enqueue(agent, "b", queue("b"))).toMatchObject({ state: "queued" });
    await expect(engine.send("b", { type: "steer", text: "x", key: "l" })).rejects.toMatchObject({
      code: "invalid_input",
    });
    open();
    expect(await engine.open("b")).toMatchObject({ status: "cancelled", turns: 0 });
    expect(model.requests).toHaveLength(1);
    expect(await engine.enqueue(agent, "b", queue("b"))).toMatchObject({ state: "found" });
    expect(model.requests).toHaveLength(1);
  });

  it("is queued once for one id, and refused for the same id with another text", async () => {
    const { agent, open } = createDesk();
    const engine = openEngine(agent);
    await engine.enqueue(agent, "a", queue("a"));
    await Promise.all([1, 2, 3].map(() => engine.enqueue(agent, "b", queue("b"))));
    expect(await listQueue()).toEqual(["b"]);
    await expect(engine.enqueue(agent, "other", queue("b"))).rejects.toMatchObject({ code: "invalid_input" });
    open();
    await engine.open("b");
    expect(await listEnds()).toHaveLength(2);
  });

  it("is refused when 20 are waiting", async () => {
    const { agent, open } = createDesk();
    const engine = openEngine(agent);
    await engine.enqueue(agent, "a", queue("a"));
    const texts = Array.from({ length: 30 }, (_, index) => `t${index}`);
    const accepted = await Promise.allSettled(texts.map((text) => engine.enqueue(agent, text, queue(text))));
    const refusals = accepted.flatMap((each) => (each.status === "rejected" ? [each.reason.code] : []));
    expect(refusals).toEqual(Array.from({ length: 10 }, () => "queue_full"));
    open();
    const last = (await listQueue()).at(-1) ?? "";
    await engine.open(last);
    expect(await listEnds()).toHaveLength(21);
  });

  it("may be long: its start is a blob of the session", async () => {
    const { agent, model, open } = createDesk();
    const engine = openEngine(agent);
    const text = "Long. ".repeat(200_000);
    await engine.enqueue(agent, "a", queue("a"));
    await engine.enqueue(agent, text, queue("b"));
    open();
    await engine.open("b");
    expect(listTexts(model.requests[1] ?? { history: [] })).toEqual(["a", text]);
  });

  it("of a removed session is dropped, and does not bring the session back", async () => {
    const { agent, model, open } = createDesk();
    const engine = openEngine(agent);
    await engine.enqueue(agent, "a", queue("a"));
    await engine.enqueue(agent, "b", queue("b"));
    await store.remove("s");
    open();
    await clock.advance(2 * leaseMs);
    await expect.poll(() => store.listRecords("queue")).toEqual([]);
    expect(model.requests).toHaveLength(1);
    expect(await store.getSession("s")).toBeUndefined();
  });
});

describe("with `steer`, a message to a busy session of an engine", () => {
  it("reaches the unfinished run, which the caller gets", async () => {
    const { agent, open } = createDesk();
    const engine = openEngine(agent);
    await engine.enqueue(agent, "a", queue("a"));
    expect(await engine.enqueue(agent, "b", queue("b", "steer"))).toEqual({
      ...{ runId: "a", sessionId: "s", state: "steered" },
    });
    const third = engine.run(agent, "c", queue("c", "steer"));
    open();
    expect(await third).toMatchObject({ runId: "a", text: "Re: c" });
    expect(await listEnds()).toEqual(["a done: Re: c"]);
    await expect.poll(() => store.listRecords("queue")).toEqual([]);
  });

  it("becomes a run of its own if the unfinished run ends before it takes the message", async () => {
    const { agent, open } = createDesk();
    const engine = openEngine(agent);
    const first = engine.run(agent, "a", queue("a"));
    await expect.poll(async () => (await store.read("s")).length).toBeGreaterThan(1);
    const [second] = await Promise.all([
      engine.run(agent, "b", queue("b", "steer")),
      (async () => {
        await expect.poll(() => store.listMessages("a").then((all) => all.length)).toBeGreaterThanOrEqual(0);
        first.cancel();
        open();
      })(),
    ]);
    expect((await first).status).toBe("cancelled");
    expect(second).toMatchObject({ runId: "b", text: "Re: b" });
    expect(await listEnds()).toHaveLength(2);
  });

  it("becomes a run of its own if it is more than a text of the user", async () => {
    const { agent, open } = createDesk();
    const engine = openEngine(agent);
    await engine.enqueue(agent, "a", queue("a"));
    const image = { type: "image", mediaType: "image/png", data: "AAAA" } as const;
    const parts = [{ type: "text", text: "b" } as const, image];
    expect(await engine.enqueue(agent, parts, queue("b", "steer"))).toMatchObject({ state: "queued" });
    const entry = { type: "user", content: "c", provenance: "external" } as const;
    expect(await engine.enqueue(agent, [entry], queue("c", "steer"))).toMatchObject({ state: "queued" });
    open();
    expect((await engine.open("c")).text).toBe("Re: c");
    expect(await listEnds()).toHaveLength(3);
  });
});

describe("with `interrupt`, a message to a busy session of an engine", () => {
  it("cancels the unfinished run, keeps its history, and is next", async () => {
    const { agent, model, open } = createDesk();
    const engine = openEngine(agent);
    await engine.enqueue(agent, "a", queue("a"));
    await engine.enqueue(agent, "queued", queue("queued"));
    await Promise.all(["b", "c"].map((text) => engine.enqueue(agent, text, queue(text, "interrupt"))));
    open();
    expect((await engine.open("queued")).text).toBe("Re: queued");
    const ends = (await listEnds()).map((end) => end.split(":")[0]);
    expect(ends[0]).toBe("a cancelled");
    expect(ends.slice(1, 3).toSorted()).toEqual(expect.arrayContaining([expect.stringContaining("done")]));
    expect(ends[3]).toBe("queued done");
    expect(listTexts(model.requests.at(-1) ?? { history: [] }).toSorted()).toEqual(["a", "b", "c", "queued"]);
  });

  it("cancels a run that waits for the user", async () => {
    const sign = defineTool({
      name: "sign",
      description: "",
      input: {},
      needsApproval: true,
      execute: () => "",
    });
    const { agent, open } = createDesk([sign]);
    const engine = openEngine(agent);
    open();
    await engine.run(agent, "Call sign", queue("a"));
    expect(await engine.run(agent, "b", queue("b", "interrupt"))).toMatchObject({ text: "Re: b" });
    expect((await listEnds()).map((end) => end.split(":")[0])).toEqual(["a cancelled", "b done"]);
  });
});

describe("queued runs of a process that is gone", () => {
  it("are started by another one, in order and once", async () => {
    const dead = createDesk();
    const { store: ownStore, kill } = createKillableStore(store);
    const engine = local({ store: ownStore, agents: dead.agent, leaseMs, clock }); // never closed
    for (const text of ["a", "b", "c"]) await engine.enqueue(dead.agent, text, queue(text));
    kill();
    const { agent, open } = createDesk();
    open();
    const other = openEngine(agent);
    await clock.advance(2 * leaseMs);
    expect((await other.open("c")).text).toBe("Re: c");
    expect(await listEnds()).toEqual(["a done: Re: a", "b done: Re: b", "c done: Re: c"]);
  });

  it("are left to a process that has their agent", async () => {
    const { agent, open } = createDesk();
    const first = openEngine(agent);
    await first.enqueue(agent, "a", queue("a"));
    await first.enqueue(agent, "b", queue("b"));
    const stranger = openEngine(defineAgent({ name: "stranger", model: scriptedModel([]) }));
    await stranger.recover();
    expect(await listQueue()).toEqual(["b"]);
    open();
    expect((await first.open("b")).text).toBe("Re: b");
  });
});

/** A store that stops responding to one process, as after a kill. */
function createKillableStore(given: Store): { readonly store: Store; kill(): void } {
  let isDead = false;
  const guarded = Object.entries(given).map(([name, method]) => [
    name,
    (...args: unknown[]) =>
      isDead && name !== "watch" && name !== "publish" && name !== "close"
        ? new Promise<never>(() => undefined)
        : (method as (...values: unknown[]) => unknown)(...args),
  ]);
  return {
    store: Object.fromEntries(guarded),
    kill() {
      isDead = true;
    },
  };
}
