import { describe, expect, it } from "vitest";
import { agentTool } from "../features/nested/agent-tool.ts";
import { defineAgent } from "../kernel/agent.ts";
import type { Fact } from "../kernel/event.ts";
import { defineTool } from "../kernel/tool.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { type FakeClock, fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { fold } from "./facts.ts";
import { resume, run } from "./run.ts";
import type { Store } from "./store.ts";

const dayMs = 86_400_000;
const policy = { budget: { seconds: 20 } };

/** A tool that takes `ms`, while the clock of the machine is set by `stepMs`. */
const createTool = (clock: FakeClock, stepMs: number, ms: number, needsApproval = false) =>
  defineTool({
    name: "look",
    description: "Looks.",
    input: { type: "object" },
    needsApproval,
    async execute() {
      await undefined; // time passes while the call waits, not while it blocks
      clock.step(stepMs);
      await clock.advance(ms);
      return "Seen.";
    },
  });

const oneCall = [{ calls: [{ name: "look" }] }, { text: "Done." }];

describe("when the clock of the machine is set during a run", () => {
  it.each([
    ["forward", dayMs],
    ["back", -dayMs],
  ])("%s by a day, dates follow, and durations and budgets do not (F91)", async (_, stepMs) => {
    const clock = fakeClock();
    const startedAt = clock.now();
    const model = scriptedModel(oneCall);
    const agent = defineAgent({
      name: "helper",
      model,
      instructions: ({ now }) => `It is ${now}.`,
      tools: [createTool(clock, stepMs, 5000)],
      policy,
    });
    const { facts, result } = await collect(run(agent, "Go.", { store: memory(), session: "s", clock }));
    expect(result).toMatchObject({ status: "done", toolCalls: [{ ms: 5000 }] });
    expect(facts.at(-1)?.at).toBe(startedAt + stepMs + 5000);
    const days = model.requests.map(({ instructions }) => /\d+ [A-Z][a-z]+ 20\d\d/.exec(instructions)?.[0]);
    expect(days).toEqual(["1 January 2026", stepMs > 0 ? "2 January 2026" : "31 December 2025"]);
    expect(facts.filter(({ elapsedMs }) => elapsedMs !== undefined)).toMatchObject([
      { type: "tool_call_result", elapsedMs: 5000 },
    ]);
    expect(fold("s", facts).elapsedMs).toBe(5000);
  });

  it.each([
    dayMs,
    -dayMs,
  ])("by %i ms in every call, the budget of seconds ends it on time (F34)", async (stepMs) => {
    const clock = fakeClock();
    const model = scriptedModel((_, n) => ({ calls: [{ name: "look", input: { n } }] }));
    const agent = defineAgent({ name: "helper", model, tools: [createTool(clock, stepMs, 5000)], policy });
    const result = await run(agent, "Go.", { store: memory(), clock });
    expect(result).toMatchObject({ status: "limit", turns: 4, error: { code: "budget_seconds" } });
  });

  it("the budget of a nested run is as little affected as that of its parent", async () => {
    const clock = fakeClock();
    const inner = defineAgent({
      name: "inner",
      model: scriptedModel(oneCall),
      tools: [createTool(clock, dayMs, 5000)],
      policy,
    });
    const outer = defineAgent({
      name: "outer",
      model: scriptedModel([{ calls: [{ name: "inner", input: { prompt: "Go." } }] }, { text: "Over." }]),
      tools: [agentTool(inner)],
      policy,
    });
    const { facts, result } = await collect(run(outer, "Go.", { store: memory(), session: "s", clock }));
    expect(result).toMatchObject({ status: "done", text: "Over.", toolCalls: [{ status: "ok" }] });
    expect(fold("s", facts).elapsedMs).toBe(5000);
  });

  it("a step while the run waits for the user changes nothing", async () => {
    const clock = fakeClock();
    const tools = [createTool(clock, 0, 5000, true)];
    const agent = defineAgent({ name: "helper", model: scriptedModel(oneCall), tools, policy });
    const running = run(agent, "Go.", { store: memory(), clock });
    const [{ callId } = { callId: "" }] = (await running).pending;
    clock.step(-dayMs);
    expect(await running.approve(callId)).toMatchObject({ status: "done", toolCalls: [{ ms: 5000 }] });
  });
});

describe("a run that is resumed a day after its process crashed", () => {
  it("has as much of its time left as before", async () => {
    const clock = fakeClock();
    const crashedStore = memory();
    const createAgent = (reply: { text: string; hang?: true }) =>
      defineAgent({ name: "helper", model: scriptedModel([reply]), policy });
    const options = { store: crashedStore, session: "s", runId: "r", clock };
    const crashed = run(createAgent({ text: "Half", hang: true }), "Go.", options);
    crashed.then(undefined, () => undefined);
    await expect.poll(async () => (await crashedStore.read("s")).at(-1)?.type).toBe("turn_start");
    const store = await copyFacts(await crashedStore.read("s"));
    await clock.advance(dayMs);
    const resumed = await resume([createAgent({ text: "Done." })], { store, runId: "r" }, { clock });
    expect(resumed).toMatchObject({ status: "done", text: "Done." });
    expect(fold("s", await store.read("s"))).toMatchObject({ at: clock.now(), elapsedMs: 0 });
  });
});

async function copyFacts(facts: readonly Fact[]): Promise<Store> {
  const store = memory();
  const lease = await store.lease("s", "copy", 60_000);
  if (!lease) throw new Error("No lease.");
  await store.append(facts, { expected: 0, lease });
  await store.release(lease);
  return store;
}
