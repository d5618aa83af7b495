import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AgentError } from "../base/errors.ts";
import { type Agent, defineAgent } from "../kernel/agent.ts";
import type { Event, Fact } from "../kernel/event.ts";
import type { Model } from "../kernel/model.ts";
import { defineTool, type Tool } from "../kernel/tool.ts";
import type { Store } from "../runtime/store.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { type FakeClock, fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { type LocalEngine, type LocalOptions, local } from "./local.ts";

const leaseMs = 300;

/** Does not advance on its own, so that no lease expires because the machine is busy. */
let clock: FakeClock;
beforeEach(() => {
  clock = fakeClock();
});

const engines: LocalEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

/** An engine that looks like a separate process to the store. */
function openEngine(store: Store, agents: Agent, more: Partial<LocalOptions> = {}): LocalEngine {
  const engine = local({ store, agents, leaseMs, clock, ...more });
  engines.push(engine);
  return engine;
}

/** Calls its tool once, then answers with the tool's result. Stateless, so any process can resume it. */
function createToolAgent(tool: Tool): Agent {
  const model = scriptedModel(({ history }) => {
    const result = history.findLast((entry) => entry.type === "result");
    return result ? { text: `It says: ${result.content}` } : { calls: [{ name: tool.name, input: {} }] };
  });
  return defineAgent({ name: "worker", model, tools: [tool] });
}

function createDeleteTool(removed: string[]): Tool {
  return defineTool({
    name: "remove",
    description: "Removes a thing.",
    input: {},
    effects: "state",
    needsApproval: true,
    execute(_, { idempotencyKey }) {
      removed.push(idempotencyKey);
      return "Removed.";
    },
  });
}

/** A store that stops responding to one process, as after a kill. */
function createKillableStore(store: Store): { readonly store: Store; kill(): void } {
  let isDead = false;
  const dead = () => new Promise<never>(() => undefined);
  const guard = <Method extends (...given: never[]) => Promise<unknown>>(method: Method): Method =>
    ((...given: Parameters<Method>) => (isDead ? dead() : method(...given))) as Method;
  return {
    kill() {
      isDead = true;
    },
    store: {
      ...store,
      append: guard(store.append),
      renew: guard(store.renew),
      release: guard(store.release),
      lease: guard(store.lease),
      listOrphans: guard(store.listOrphans),
    },
  };
}

async function loadRunFacts(store: Store, runId: string): Promise<readonly Fact[]> {
  return store.read((await store.findSession(runId)) ?? "");
}

async function findLastFactType(store: Store, runId: string): Promise<Fact["type"] | undefined> {
  return (await loadRunFacts(store, runId)).at(-1)?.type;
}

describe("a run on the local engine", () => {
  it("ends as any run does, and can be opened from its store", async () => {
    const store = memory({ clock });
    const agent = defineAgent({ name: "greeter", model: scriptedModel([{ text: "Hello.", split: 2 }]) });
    const engine = openEngine(store, agent);
    const started = engine.run(agent, "Hi.");
    const live: Event[] = [];
    for await (const event of engine.open((await started).runId)) live.push(event);
    expect(await started).toMatchObject({ status: "done", text: "Hello." });
    expect(await engine.open((await started).runId)).toMatchObject({ status: "done", text: "Hello." });
    expect(live).toEqual(await loadRunFacts(store, (await started).runId));
  });

  it("must use an agent that every process knows", () => {
    const agent = defineAgent({ name: "a", model: scriptedModel([]) });
    const engine = openEngine(memory({ clock }), defineAgent({ name: "b", model: scriptedModel([]) }));
    expect(() => engine.run(agent, "Hi.")).toThrow(/"a" was not passed to the engine/);
  });

  it("streams its deltas to callers that open it meanwhile (S1-34)", async () => {
    const store = memory({ clock });
    const isOpened = Promise.withResolvers<void>();
    const model: Model = {
      id: "talker",
      async *stream() {
        yield [{ type: "text", text: "one " }];
        await isOpened.promise;
        yield [{ type: "text", text: "two three" }];
        yield [{ type: "finish", reason: "stop" }];
      },
    };
    const agent = defineAgent({ name: "talker", model });
    const engine = openEngine(store, agent);
    const started = engine.run(agent, "Talk.", { runId: "run_1" });
    await expect.poll(() => store.findSession("run_1")).toBeDefined();
    let text = "";
    for await (const event of engine.open("run_1")) {
      if (event.type !== "content_delta") continue;
      text += event.delta;
      isOpened.resolve();
    }
    expect(text).toBe("one two three");
    await started;
  });
});

describe("a run that waits", () => {
  it("is resumed by any process that receives the answer, once per key (S4-60, F84)", async () => {
    const store = memory({ clock });
    const removed: string[] = [];
    const agent = createToolAgent(createDeleteTool(removed));
    const waiting = await openEngine(store, agent).run(agent, "Remove it.");
    expect(waiting.status).toBe("waiting");
    const elsewhere = openEngine(store, createToolAgent(createDeleteTool(removed)));
    const approval = { key: "click", type: "approve", callId: waiting.pending[0]?.callId ?? "" } as const;
    await elsewhere.send(waiting.runId, approval);
    await elsewhere.send(waiting.runId, approval);
    expect(await elsewhere.open(waiting.runId)).toMatchObject({ status: "done", text: "It says: Removed." });
    expect(removed).toHaveLength(1);
  });

  it("resumes through the handle from `open`, which streams the remaining events", async () => {
    const store = memory({ clock });
    const removed: string[] = [];
    const agent = createToolAgent(createDeleteTool(removed));
    const engine = openEngine(store, agent);
    const { runId, pending } = await engine.run(agent, "Remove it.");
    const opened = engine.open(runId);
    expect((await opened).status).toBe("waiting");
    opened.deny(pending[0]?.callId ?? "", "No.");
    const result = await opened;
    expect(result.toolCalls[0]).toMatchObject({ status: "denied" });
    expect(removed).toEqual([]);
  });

  it("records an invalid message and keeps waiting", async () => {
    const store = memory({ clock });
    const agent = createToolAgent(createDeleteTool([]));
    const engine = openEngine(store, agent);
    const { runId } = await engine.run(agent, "Remove it.");
    await engine.send(runId, { key: "odd", type: "approve", callId: "nobody" });
    await vi.waitFor(async () => {
      const facts = await loadRunFacts(store, runId);
      expect(facts.some((fact) => fact.type === "warning" && fact.code === "message_ignored")).toBe(true);
      expect(facts.at(-1)?.type).toBe("waiting");
    }, 30_000);
    expect(await store.listMessages(runId)).toEqual([]);
  });

  it("can be cancelled while it waits for its model provider", async () => {
    const error = new AgentError("model_rate_limited", "Too many requests.", { retryAfterMs: 3_600_000 });
    const agent = defineAgent({ name: "worker", model: scriptedModel([{ error }]) });
    const engine = openEngine(memory(), agent);
    const parked = await engine.run(agent, "Go.");
    expect(parked).toMatchObject({ status: "waiting", until: expect.any(Number) });
    expect(await engine.open(parked.runId).cancel()).toMatchObject({ status: "cancelled" });
  });

  it("calls its model before the time it waits for whenever it is retried", async () => {
    const error = new AgentError("model_rate_limited", "Too many requests.", { retryAfterMs: 3_600_000 });
    let isBack = false;
    const model = scriptedModel(() => (isBack ? { text: "Back." } : { error }));
    const agent = defineAgent({ name: "worker", model });
    const engine = openEngine(memory({ clock }), agent, { getResumeOptions: () => ({ clock }) });
    const { runId } = await engine.run(agent, "Go.", { clock });
    expect(await engine.open(runId).retry()).toMatchObject({ status: "waiting" });
    expect(model.requests).toHaveLength(2);
    expect(await engine.checkMessage(runId, { type: "retry", key: "k" })).toEqual({ isNew: true });
    isBack = true;
    expect(await engine.open(runId).retry()).toMatchObject({ status: "done", text: "Back." });
    expect(clock.now()).toBe(Date.UTC(2026, 0, 1));
  });

  it("can be cancelled by another process", async () => {
    const store = memory({ clock });
    const agent = createToolAgent(createDeleteTool([]));
    const { runId } = await openEngine(store, agent).run(agent, "Remove it.");
    const opened = openEngine(store, createToolAgent(createDeleteTool([]))).open(runId);
    opened.cancel("Enough.");
    expect(await opened).toMatchObject({ status: "cancelled" });
  });
});

describe("an active run", () => {
  it("receives messages from another process (S0-18)", async () => {
    const store = memory({ clock });
    const going = Promise.withResolvers<string>();
    const slow = defineTool({ name: "slow", description: "", input: {}, execute: () => going.promise });
    const agent = createToolAgent(slow);
    const engine = openEngine(store, agent);
    const started = engine.run(agent, "Go.", { runId: "run_1" });
    await expect.poll(() => findLastFactType(store, "run_1")).toBe("tool_call_start");
    await openEngine(store, createToolAgent(slow)).send("run_1", {
      key: "k",
      type: "steer",
      text: "Be short.",
    });
    going.resolve("Went.");
    const result = await started;
    expect(result.history).toContainEqual({ type: "user", content: "Be short." });
    expect(await store.listMessages("run_1")).toEqual([]);
  });

  it("is cancelled by another process in the middle of a call", async () => {
    const store = memory({ clock });
    const slow = defineTool({
      name: "slow",
      description: "",
      input: {},
      execute: () => new Promise(() => undefined),
    });
    const agent = createToolAgent(slow);
    const started = openEngine(store, agent).run(agent, "Go.", { runId: "run_1" });
    await expect.poll(() => findLastFactType(store, "run_1")).toBe("tool_call_start");
    openEngine(store, createToolAgent(slow)).open("run_1").cancel();
    expect(await started).toMatchObject({ status: "cancelled" });
  });

  it("is released when its engine closes, and another engine resumes it (F82)", async () => {
    const store = memory({ clock });
    const going = Promise.withResolvers<string>();
    const slow = defineTool({ name: "slow", description: "", input: {}, execute: () => going.promise });
    const agent = createToolAgent(slow);
    const engine = openEngine(store, agent);
    const started = engine.run(agent, "Go.", { runId: "run_1" });
    const left = expect(started).rejects.toMatchObject({ code: "aborted" });
    await expect.poll(() => findLastFactType(store, "run_1")).toBe("tool_call_start");
    const closed = engine.close();
    going.resolve("Went.");
    await closed;
    await left;
    const next = openEngine(store, createToolAgent(slow));
    expect(await next.open("run_1")).toMatchObject({ status: "done", text: "It says: Went." });
    const starts = (await loadRunFacts(store, "run_1")).filter((fact) => fact.type === "tool_call_start");
    expect(starts).toHaveLength(1);
  });

  it("is released when its engine closes after an answer on its handle has continued it (F82)", async () => {
    const store = memory({ clock });
    const going = Promise.withResolvers<string>();
    const slow = defineTool({
      name: "slow",
      description: "",
      input: {},
      needsApproval: true,
      execute: () => going.promise,
    });
    const agent = createToolAgent(slow);
    const engine = openEngine(store, agent);
    const started = engine.run(agent, "Go.", { runId: "run_1" });
    const { pending } = await started;
    started.approve(pending[0]?.callId ?? "");
    await expect.poll(() => findLastFactType(store, "run_1")).toBe("tool_call_start");
    setImmediate(() => going.resolve("Went."));
    await engine.close();
    expect(await store.listOrphans()).toMatchObject([{ runId: "run_1" }]);
  });
});

describe("a run whose model asks for a long wait", () => {
  it("suspends until then without a process, and any engine resumes it (F10)", async () => {
    const store = memory({ clock });
    const leaseMs = 300_000;
    let asked = 0;
    const model = (isBack: boolean): Model => ({
      id: "busy",
      async *stream() {
        asked += 1;
        if (!isBack) throw new AgentError("model_rate_limited", "Later.", { retryAfterMs: 3_600_000 });
        yield [
          { type: "text", text: "Here I am." },
          { type: "usage", usage: { inputTokens: 1, outputTokens: 1 } },
          { type: "finish", reason: "stop" },
        ];
      },
    });
    const agent = defineAgent({ name: "a", model: model(false) });
    const engine = openEngine(store, agent, { leaseMs });
    const result = await engine.run(agent, "Hi.", { runId: "run_1", clock });
    expect(result).toMatchObject({ status: "waiting", until: clock.now() + 3_600_000, pending: [] });
    expect(result.text).toMatch(/^Waiting until 2026-01-01T01:00:00/);
    await engine.close();
    const next = openEngine(store, defineAgent({ name: "a", model: model(true) }), {
      leaseMs,
      getResumeOptions: () => ({ clock }),
    });
    await clock.advance(1_800_000);
    expect([asked, (await loadRunFacts(store, "run_1")).at(-1)?.type]).toEqual([1, "waiting"]);
    await clock.advance(1_900_000);
    await expect.poll(() => findLastFactType(store, "run_1")).toBe("done");
    expect(await next.open("run_1")).toMatchObject({ status: "done", text: "Here I am." });
    const types = (await loadRunFacts(store, "run_1")).map((fact) => fact.type);
    expect(types).toEqual([
      "run_start",
      "turn_start",
      "model_failed",
      "waiting",
      "woken",
      "message",
      "turn_end",
      "done",
    ]);
  });

  it("resumes at the next poll when the machine slept past that time", async () => {
    const store = memory({ clock });
    let isBack = false;
    const agent = defineAgent({
      name: "a",
      model: {
        id: "busy",
        async *stream() {
          if (!isBack) throw new AgentError("model_rate_limited", "Later.", { retryAfterMs: 6 * 3_600_000 });
          yield [
            { type: "text", text: "Here I am." },
            { type: "finish", reason: "stop" },
          ];
        },
      },
    });
    const engine = openEngine(store, agent, { leaseMs, getResumeOptions: () => ({ clock }) });
    const { until } = await engine.run(agent, "Hi.", { runId: "run_1", clock });
    expect(until).toBe(clock.now() + 6 * 3_600_000);
    isBack = true;
    clock.step(6 * 3_600_000); // the timer for six hours has not moved
    await clock.advance(leaseMs);
    await expect.poll(() => findLastFactType(store, "run_1")).toBe("done");
  });
});

describe("a failed run that is retried", () => {
  it("ignores a cancel message that it had not received before it failed", async () => {
    const store = memory({ clock });
    // The process that executes the run does not notice messages.
    const deaf: Store = { ...store, listMessages: async () => [], watch: () => () => undefined };
    const failing: Model = {
      id: "failing",
      // biome-ignore lint/correctness/useYield: it fails before its first chunk
      async *stream() {
        await store.sendMessage("run_1", { key: "late", type: "cancel" });
        throw new AgentError("model_auth", "No key.");
      },
    };
    const agent = defineAgent({ name: "a", model: failing });
    const first = openEngine(deaf, agent);
    expect(await first.run(agent, "Hi.", { runId: "run_1" })).toMatchObject({
      status: "failed",
      canRetry: true,
    });
    await first.close();
    const next = openEngine(store, defineAgent({ name: "a", model: scriptedModel([{ text: "Hello." }]) }));
    await next.send("run_1", { key: "again", type: "retry" });
    expect(await next.open("run_1")).toMatchObject({ status: "done", text: "Hello." });
    expect(await store.listMessages("run_1")).toEqual([]);
  });
});

describe("a run whose process has died", () => {
  /** Kills the process of a run in the middle of its call. */
  async function killDuringCall(store: Store, tool: (isSecond: boolean) => Tool): Promise<LocalEngine> {
    const { store: mine, kill } = createKillableStore(store);
    const agent = createToolAgent(tool(false));
    const doomed = local({ store: mine, agents: agent, leaseMs, clock });
    doomed.run(agent, "Go.", { runId: "run_1" }).then(undefined, () => undefined);
    await expect.poll(() => findLastFactType(store, "run_1")).toBe("tool_call_start");
    kill();
    const engine = openEngine(store, createToolAgent(tool(true)), { owner: "second" });
    await clock.advance(2 * leaseMs);
    return engine;
  }

  it("is taken over when its lease expires; a repeatable call is made again with the same key (F73)", async () => {
    const store = memory({ clock });
    const keys: string[] = [];
    const engine = await killDuringCall(store, (isSecond) =>
      defineTool({
        name: "look",
        description: "",
        input: {},
        effects: "none",
        execute(_, { idempotencyKey }) {
          keys.push(idempotencyKey);
          return isSecond ? "Seen." : new Promise(() => undefined);
        },
      }),
    );
    await expect.poll(() => store.findSession("run_1")).toBeDefined();
    expect(await engine.open("run_1")).toMatchObject({ status: "done", text: "It says: Seen." });
    expect(keys).toEqual(["run_1/call_1_0", "run_1/call_1_0"]);
    expect(await loadRunFacts(store, "run_1")).toContainEqual(
      expect.objectContaining({ type: "recovered", owner: "second" }),
    );
  });

  it("is followed by a client that repeats its start, until another process takes it over (F84)", async () => {
    const store = memory({ clock });
    const { store: mine, kill } = createKillableStore(store);
    const createAgent = (isSecond: boolean) =>
      createToolAgent(
        defineTool({
          name: "look",
          description: "",
          input: {},
          effects: "none",
          execute: () => (isSecond ? "Seen." : new Promise(() => undefined)),
        }),
      );
    const first = createAgent(false);
    const doomed = local({ store: mine, agents: first, leaseMs, clock });
    doomed.run(first, "Go.", { runId: "run_1" }).then(undefined, () => undefined);
    await expect.poll(() => findLastFactType(store, "run_1")).toBe("tool_call_start");
    kill();
    const second = createAgent(true);
    const engine = openEngine(store, second, { owner: "second" });
    const repeated = engine.run(second, "Go.", { runId: "run_1" });
    repeated.steer("Be brief.");
    const events = collect(repeated);
    const other = engine.run(second, "Go elsewhere.", { runId: "run_1" });
    await expect(other).rejects.toMatchObject({ code: "invalid_input" });
    await expect.poll(() => store.listMessages("run_1")).toMatchObject([{ type: "steer" }]);
    await clock.advance(2 * leaseMs);
    expect(await repeated).toMatchObject({ status: "done", text: "It says: Seen." });
    const { facts } = await events;
    expect(facts).toEqual(await loadRunFacts(store, "run_1"));
    expect(facts.filter(({ type }) => type === "run_start" || type === "steered")).toHaveLength(2);
  });

  it("is not sent messages twice when another process has it later (F84)", async () => {
    const store = memory({ clock });
    const look = defineTool({
      name: "look",
      description: "",
      input: {},
      needsApproval: true,
      execute: () => "Seen.",
    });
    const agent = createToolAgent(look);
    const engine = openEngine(store, agent);
    const started = engine.run(agent, "Go.", { runId: "run_1" });
    started.steer("Be brief.");
    const { pending } = await started;
    const sessionId = (await store.findSession("run_1")) ?? "";
    const lease = await store.lease(sessionId, "another process", leaseMs);
    expect(lease).toBeDefined();
    await expect(started.approve(pending[0]?.callId ?? "")).rejects.toMatchObject({ code: "session_busy" });
    expect(await store.listMessages("run_1")).toEqual([]);
    if (lease) await store.release(lease);
    expect(await engine.open("run_1").approve(pending[0]?.callId ?? "")).toMatchObject({ status: "done" });
    const steered = (await loadRunFacts(store, "run_1")).filter(({ type }) => type === "steered");
    expect(steered).toHaveLength(1);
  });

  it("is refused for another run while the session is in use", async () => {
    const store = memory({ clock });
    await store.lease("s", "another process", leaseMs);
    const agent = createToolAgent(
      defineTool({ name: "look", description: "", input: {}, execute: () => "" }),
    );
    const options = { runId: "run_1", session: "s", policy: { onBusy: "reject" } } as const;
    const refused = openEngine(store, agent).run(agent, "Go.", options);
    await expect(refused).rejects.toMatchObject({ code: "session_busy" });
  });

  it("does not repeat a call that may have taken effect, and tells the model (F73)", async () => {
    const store = memory({ clock });
    let calls = 0;
    const engine = await killDuringCall(store, () =>
      defineTool({
        name: "pay",
        description: "",
        input: {},
        effects: "send",
        execute() {
          calls += 1;
          return new Promise(() => undefined);
        },
      }),
    );
    const result = await engine.open("run_1");
    expect(result.toolCalls[0]).toMatchObject({ status: "interrupted" });
    expect(calls).toBe(1);
  });

  it("does not block other runs when it cannot be resumed, and the engine keeps to its limit (F77)", async () => {
    const store = memory({ clock });
    const looking = (execute: () => unknown) =>
      createToolAgent(defineTool({ name: "look", description: "", input: {}, effects: "none", execute }));
    const { store: mine, kill } = createKillableStore(store);
    const stuck = looking(() => new Promise(() => undefined));
    const agent = looking(() => "Seen.");
    const doomed = local({ store: mine, agents: stuck, leaseMs, clock });
    const runIds = ["run_1", "run_2", "run_3", "run_4"];
    for (const runId of runIds) doomed.run(stuck, "Go.", { runId }).then(undefined, () => undefined);
    await vi.waitFor(async () => {
      for (const runId of runIds)
        expect((await loadRunFacts(store, runId)).at(-1)?.type).toBe("tool_call_start");
    }, 30_000);
    kill();
    const taken: string[] = [];
    let most = 0;
    const working = new Set<string>();
    const next = openEngine(store, agent, {
      maxRuns: 2,
      getResumeOptions({ runId }) {
        if (runId === "run_1") throw new Error("There is no such tenant any more.");
        taken.push(runId);
        working.add(runId);
        most = Math.max(most, working.size);
        return { hooks: { onEvent: (event) => void (event.type === "done" && working.delete(runId)) } };
      },
    });
    await clock.advance(leaseMs);
    await vi.waitFor(async () => {
      await clock.advance(leaseMs / 2); // polls again
      expect((await store.listOrphans()).map(({ runId }) => runId)).toEqual(["run_1"]);
    }, 30_000);
    expect(new Set(taken)).toEqual(new Set(["run_2", "run_3", "run_4"]));
    expect(most).toBeLessThanOrEqual(2);
    expect(await next.open("run_2")).toMatchObject({ status: "done" });
  });

  it("rejects the first process's writes when it wakes up, and stops its tools (F74, F75)", async () => {
    const store = memory({ clock });
    const paused = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<unknown>();
    let isPaused = true;
    // A paused process neither renews nor writes; then both happen at once.
    const sleepy: Store = {
      ...store,
      renew: (lease, ms) => (isPaused ? Promise.resolve(true) : store.renew(lease, ms)),
    };
    const going = Promise.withResolvers<string>();
    const slow = (signalled: boolean) =>
      defineTool({
        name: "slow",
        description: "",
        input: {},
        effects: "none",
        execute(_, { signal }) {
          if (!signalled) return "Second.";
          signal.addEventListener("abort", () => stopped.resolve(signal.reason));
          return going.promise;
        },
      });
    const agent = createToolAgent(slow(true));
    const first = local({ store: sleepy, agents: agent, leaseMs, clock });
    const started = first.run(agent, "Go.", { runId: "run_1" });
    const refused = expect(started).rejects.toMatchObject({ code: "lease_lost" });
    await expect.poll(() => findLastFactType(store, "run_1")).toBe("tool_call_start");
    const second = openEngine(store, createToolAgent(slow(false)));
    await clock.advance(5 * leaseMs); // the first process may claim the run once, in vain
    expect(await second.open("run_1")).toMatchObject({ status: "done", text: "It says: Second." });
    isPaused = false;
    await clock.advance(leaseMs);
    await expect(stopped.promise).resolves.toMatchObject({ code: "lease_lost" });
    going.resolve("First.");
    await refused;
    paused.resolve();
    const results = (await loadRunFacts(store, "run_1")).filter((fact) => fact.type === "tool_call_result");
    expect(results).toHaveLength(1);
    await first.close();
  });
});
