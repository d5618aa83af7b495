import { describe, expect, it } from "vitest";
import type { Clock } from "../base/clock.ts";
import { createProcessGate } from "../features/recovery/process-gate.ts";
import { defineAgent } from "../kernel/agent.ts";
import type { Fact } from "../kernel/event.ts";
import { defineTool } from "../kernel/tool.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { resume, run } from "./run.ts";
import type { Store } from "./store.ts";

/** A store whose `append` fails for facts of this type until it is repaired. */
function createBreakingStore(type: Fact["type"]): { store: Store; mend(): void } {
  const inner = memory();
  let broken = true;
  const store: Store = {
    ...inner,
    async append(facts, at) {
      if (broken && facts.some((fact) => fact.type === type)) throw new Error("disk full");
      return inner.append(facts, at);
    },
  };
  return { store, mend: () => (broken = false) };
}

function createCountingAgent() {
  const calls: string[] = [];
  const tool = defineTool({
    name: "look",
    description: "Looks",
    input: { type: "object" },
    effects: "none",
    execute: () => calls.push("look"),
  });
  const model = scriptedModel(({ history }) => {
    calls.push("model");
    return history.length > 1 ? { text: "Done." } : { calls: [{ id: "c1", name: "look" }] };
  });
  return { calls, agent: defineAgent({ name: "a", model, tools: [tool] }) };
}

describe("a store that fails", () => {
  it("rejects the run and its iteration, and is not treated as a failing tool", async () => {
    const { store } = createBreakingStore("tool_call_result");
    const { agent } = createCountingAgent();
    const started = run(agent, "Go", { session: "s", store });
    await expect(started).rejects.toThrow("disk full");
    await expect(collect(started)).rejects.toThrow("disk full");
    const types = (await store.read("s")).map((fact) => fact.type);
    expect(types).toEqual(["run_start", "turn_start", "message", "tool_call_start"]);
  });

  it("emits no event that is not stored", async () => {
    const { store } = createBreakingStore("message");
    const seen: string[] = [];
    const started = run(createCountingAgent().agent, "Go", {
      session: "s",
      store,
      hooks: { onEvent: (event) => seen.push(event.type) },
    });
    await expect(started).rejects.toThrow("disk full");
    expect(seen.filter((type) => !type.endsWith("_delta"))).toEqual(["run_start", "turn_start"]);
  });

  it("starts no tool whose intent it could not store", async () => {
    const { store } = createBreakingStore("tool_call_start");
    const { agent, calls } = createCountingAgent();
    await expect(run(agent, "Go", { session: "s", store })).rejects.toThrow("disk full");
    expect(calls).toEqual(["model"]);
  });

  it.each([
    "turn_start",
    "message",
    "tool_call_start",
    "tool_call_result",
    "turn_end",
    "done",
  ] as const)("loses nothing that was stored: after %s fails, the run is resumed and ends", async (type) => {
    const { store, mend } = createBreakingStore(type);
    const { agent, calls } = createCountingAgent();
    await expect(run(agent, "Go", { session: "s", store, runId: "r" })).rejects.toThrow("disk full");
    const stored = await store.read("s");
    const finished = stored.filter((fact) => fact.type === "message" || fact.type === "tool_call_result");
    calls.length = 0;
    mend();
    expect(await resume(agent, { store, runId: "r" })).toMatchObject({ status: "done", text: "Done." });
    expect(calls).toHaveLength(3 - finished.length);
    expect((await store.read("s")).filter((fact) => fact.type === "done")).toHaveLength(1);
  });

  it("does not crash the process when nothing awaits the run", async () => {
    const unhandled: unknown[] = [];
    const notice = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", notice);
    const { store } = createBreakingStore("message");
    void run(createCountingAgent().agent, "Go", { session: "s", store });
    await new Promise((resolve) => setTimeout(resolve, 10));
    process.off("unhandledRejection", notice);
    expect(unhandled).toEqual([]);
  });
});

describe("a run whose lease is lost", () => {
  it("rejects even before the model's first output (F75)", async () => {
    const inner = memory();
    const store: Store = { ...inner, renew: async () => false };
    const agent = defineAgent({ name: "a", model: scriptedModel([{ text: "Too late.", delayMs: 60_000 }]) });
    const ticks: (() => void)[] = [];
    const clock: Clock = {
      now: () => 0,
      monotonic: () => 0,
      after(_, fire) {
        ticks.push(fire);
        return () => undefined;
      },
    };
    const gate = createProcessGate(clock, 1000);
    const started = run(agent, "Go.", { store, shared: { owner: "ann", leaseMs: 1000, gate, clock } });
    for await (const event of started) {
      if (event.type !== "turn_start") continue;
      setImmediate(() => ticks[0]?.());
      break;
    }
    await expect(started).rejects.toMatchObject({ code: "lease_lost" });
  });
});
