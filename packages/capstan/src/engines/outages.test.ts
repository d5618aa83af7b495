import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { AgentError, type ErrorCode } from "../base/errors.ts";
import { agentTool } from "../features/nested/agent-tool.ts";
import { type Agent, defineAgent } from "../kernel/agent.ts";
import type { Model } from "../kernel/model.ts";
import { defineTool } from "../kernel/tool.ts";
import type { Result } from "../runtime/result.ts";
import type { Store } from "../runtime/store.ts";
import { memory } from "../stores/memory.ts";
import { type FakeClock, fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { type LocalEngine, type LocalOptions, local } from "./local.ts";

const engines: LocalEngine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
});

/** A provider that throws an error until it is `up`, and notes the time of each call. */
function createProvider(clock: FakeClock, code: ErrorCode = "model_overloaded") {
  const provider = { up: false, calls: [] as number[], model: undefined as unknown as Model };
  provider.model = {
    id: "acme",
    async *stream() {
      provider.calls.push(clock.now());
      if (!provider.up) throw new AgentError(code, "Down.");
      yield [
        { type: "text", text: "Here I am." },
        { type: "finish", reason: "stop" },
      ];
    },
  };
  return provider;
}

function openEngine(store: Store, clock: FakeClock, agents: Agent, more: Partial<LocalOptions> = {}) {
  const engine = local({ store, agents, clock, getResumeOptions: () => ({ clock }), ...more });
  engines.push(engine);
  return engine;
}

function setUp(code?: ErrorCode) {
  const clock = fakeClock();
  const store = memory({ clock });
  const provider = createProvider(clock, code);
  const agent = defineAgent({ name: "a", model: provider.model });
  const engine = openEngine(store, clock, agent);
  const start = (runId: string) => engine.run(agent, "Hi.", { runId, session: runId, clock });
  return { clock, store, provider, agent, engine, start };
}

/** Advances in small steps, so that what is due happens in between. */
async function pass(clock: FakeClock, ms: number): Promise<void> {
  const stepMs = Math.max(100, ms / 500);
  for (let passed = 0; passed < ms; passed += stepMs) await clock.advance(Math.min(stepMs, ms - passed));
}

describe("a run whose provider is down", () => {
  it("suspends after three calls and says for what it waits", async () => {
    const { clock, provider, start } = setUp();
    let result: Result | undefined;
    start("r").then(
      (value) => (result = value),
      () => undefined,
    );
    while (!result) await pass(clock, 100);
    expect(result).toMatchObject({
      status: "waiting",
      until: expect.any(Number),
      outage: { model: "acme", error: { code: "model_overloaded", message: "Down." } },
      text: expect.stringMatching(/^Waiting until .*: Down\.$/),
    });
    expect(provider.calls).toHaveLength(3);
  });

  it("continues within seconds of its return, long before its own time", async () => {
    const { clock, provider, engine, start } = setUp();
    start("r").then(undefined, () => undefined);
    await pass(clock, 120_000);
    const { until = 0 } = await engine.getResult("r");
    expect(until - clock.now()).toBeGreaterThan(20_000);
    provider.up = true;
    await pass(clock, 30_200);
    expect(await engine.getResult("r")).toMatchObject({ status: "done", text: "Here I am." });
  });

  it("is called by one run at a time, and by the others gradually after its return", async () => {
    const { clock, provider, engine, start } = setUp();
    for (let index = 0; index < 60; index++) start(`r${index}`).then(undefined, () => undefined);
    await pass(clock, 3_000);
    const before = provider.calls.length;
    await pass(clock, 20_000);
    const during = provider.calls.slice(before);
    // Each run also calls once when its own time has come: after two and a half to five seconds, then later each time.
    expect(during.length).toBeLessThan(60 * 3 + 10);
    provider.up = true;
    const backAt = clock.now();
    await pass(clock, 40_000);
    const perSecond = Map.groupBy(
      provider.calls.filter((at) => at >= backAt),
      (at) => Math.floor((at - backAt) / 1000),
    );
    expect(Math.max(...[...perSecond.values()].map(({ length }) => length))).toBeLessThanOrEqual(55);
    for (let index = 0; index < 60; index++)
      expect(await engine.getResult(`r${index}`)).toMatchObject({ status: "done" });
  });

  it("holds no memory while it is suspended, and any other process continues it at its time", async () => {
    const { clock, store, provider, agent, engine, start } = setUp();
    start("r").then(undefined, () => undefined);
    await pass(clock, 2_000);
    await engine.close();
    provider.up = true;
    const next = openEngine(store, clock, agent);
    await pass(clock, 60_000);
    expect(await next.getResult("r")).toMatchObject({ status: "done" });
  });

  it("can be cancelled at once", async () => {
    const { clock, engine, start } = setUp();
    start("r").then(undefined, () => undefined);
    await pass(clock, 60_000);
    await engine.send("r", { type: "cancel", key: "k" });
    await expect
      .poll(() => engine.getResult("r"), { timeout: 30_000 })
      .toMatchObject({ status: "cancelled" });
  });

  it("is not woken once it was cancelled, also when it is opened after its wait", async () => {
    const { clock, store, engine, start } = setUp();
    start("r").then(undefined, () => undefined);
    await pass(clock, 5_000);
    await engine.send("r", { type: "cancel", key: "k" });
    await expect.poll(async () => (await store.read("r")).at(-1)?.type).toBe("done");
    await pass(clock, 600_000);
    expect(await start("r")).toMatchObject({ status: "cancelled" });
    expect((await store.read("r")).at(-1)?.type).toBe("done");
  });

  it.each<ErrorCode>([
    "model_auth",
    "model_rejected",
    "model_not_found",
  ])("fails at once after %s", async (code) => {
    const { provider, start } = setUp(code);
    expect(await start("r")).toMatchObject({ status: "failed", canRetry: true, error: { code } });
    expect(provider.calls).toHaveLength(1);
  });

  it("fails when its patience is over, and can be retried then", async () => {
    const { clock, provider, agent, engine } = setUp();
    const policy = { modelRetry: { patienceMs: 60_000 } };
    engine.run(agent, "Hi.", { runId: "r", session: "r", clock, policy }).then(undefined, () => undefined);
    await pass(clock, 120_000);
    expect(await engine.getResult("r")).toMatchObject({
      status: "failed",
      error: { code: "model_overloaded" },
    });
    provider.up = true;
    await engine.send("r", { type: "retry", key: "k" });
    await expect.poll(() => engine.getResult("r"), { timeout: 30_000 }).toMatchObject({ status: "done" });
  });

  it("has all of its patience again in the next turn", async () => {
    const clock = fakeClock();
    let isDown = true;
    const model = scriptedModel(({ history }) => {
      if (isDown) return { error: "model_overloaded" };
      return history.at(-1)?.type === "result" ? { text: "Done." } : { calls: [{ name: "work" }] };
    });
    const execute = () => new Promise<string>((resolve) => clock.after(30_000, () => resolve("Worked.")));
    const work = defineTool({ name: "work", description: "", input: {}, execute });
    const policy = { modelRetry: { attempts: 1, patienceMs: 20_000 } };
    const agent = defineAgent({ name: "a", model, tools: [work], policy });
    const engine = openEngine(memory({ clock }), clock, agent);
    engine.run(agent, "Hi.", { runId: "r", clock }).then(undefined, () => undefined);
    await pass(clock, 5_000);
    isDown = false;
    await pass(clock, 10_000);
    isDown = true;
    await pass(clock, 30_000);
    expect(await engine.getResult("r")).toMatchObject({ status: "waiting", outage: { model: "scripted" } });
    isDown = false;
    await pass(clock, 10_000);
    expect(await engine.getResult("r")).toMatchObject({ status: "done", text: "Done." });
  });

  it("uses the next model of its chain, and waits if none can answer", async () => {
    const { clock, store, provider } = setUp();
    const spare = scriptedModel([{ text: "Spare." }, { error: "model_auth" }]);
    const agent = defineAgent({ name: "chain", model: [provider.model, spare] });
    const engine = openEngine(store, clock, agent);
    const first = engine.run(agent, "Hi.", { runId: "c1", session: "c1", clock }).then((result) => result);
    await pass(clock, 3_000);
    expect(await first).toMatchObject({ status: "done", text: "Spare." });
    const second = engine.run(agent, "Hi.", { runId: "c2", session: "c2", clock }).then((result) => result);
    await pass(clock, 3_000);
    expect(await second).toMatchObject({ status: "waiting" });
  });

  it("suspends the root run if it is the provider of a nested run, whose calls are not repeated", async () => {
    const { clock, store, provider } = setUp();
    let bookings = 0;
    const book = defineTool({
      name: "book",
      description: "Books.",
      input: z.object({}),
      effects: "state",
      execute: () => `Booked ${++bookings}.`,
    });
    const booking = scriptedModel([{ calls: [{ name: "book" }] }]);
    let isFirst = true;
    const model: Model = {
      id: "acme",
      stream(request, options) {
        const chosen = isFirst ? booking : provider.model;
        isFirst = false;
        return chosen.stream(request, options);
      },
    };
    const clerk = defineAgent({ name: "clerk", model, tools: [book] });
    const desk = defineAgent({
      name: "desk",
      model: scriptedModel([{ calls: [{ name: "clerk", input: { prompt: "Book." } }] }, { text: "Done." }]),
      tools: [agentTool(clerk, { description: "Books." })],
    });
    const engine = openEngine(store, clock, desk);
    const started = engine.run(desk, "Book.", { runId: "n", session: "n", clock }).then((result) => result);
    await pass(clock, 3_000);
    expect(await started).toMatchObject({ status: "waiting", outage: { model: "acme" }, pending: [] });
    await pass(clock, 600_000);
    expect(await engine.getResult("n")).toMatchObject({ status: "waiting" });
    provider.up = true;
    await pass(clock, 31_000);
    expect(await engine.getResult("n")).toMatchObject({ status: "done", text: "Done." });
    expect(bookings).toBe(1);
  });
});
