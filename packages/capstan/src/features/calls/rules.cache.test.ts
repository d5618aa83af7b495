import { describe, expect, it } from "vitest";
import { defineAgent } from "../../kernel/agent.ts";
import type { PolicyOverrides } from "../../kernel/policy.ts";
import { defineTool } from "../../kernel/tool.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import { type FakeClock, fakeClock } from "../../testing/fake-clock.ts";
import { type ScriptedCall, scriptedModel } from "../../testing/scripted-model.ts";

type Setting = {
  cacheMs?: number;
  needsApproval?: boolean;
  failsAt?: number;
  policy?: PolicyOverrides;
  clock?: FakeClock;
};

/** One agent in one session; each run makes these calls and then answers. */
function conversation({
  cacheMs,
  needsApproval = false,
  failsAt,
  policy = {},
  clock = fakeClock(),
}: Setting = {}) {
  let made = 0;
  const price = defineTool({
    name: "price",
    description: "The price of a thing.",
    input: { type: "object", properties: { thing: { type: "string" }, of: { type: "object" } } },
    effects: "none",
    retry: { maxAttempts: 1 },
    needsApproval,
    ...(cacheMs !== undefined && { cacheMs }),
    execute() {
      made += 1;
      if (made === failsAt) throw new Error("closed");
      return { price: made, contexts: [] };
    },
  });
  const store = memory();
  const asking = (calls: readonly ScriptedCall[], session = "s") => {
    const model = scriptedModel([{ calls }, { text: "Done." }]);
    const agent = defineAgent({ name: "shop", model, tools: [price], policy });
    return run(agent, "How much?", { store, session, clock });
  };
  return { asking, clock, made: () => made };
}

const lamp = { name: "price", input: { thing: "lamp" } };

describe("a tool with cacheMs", () => {
  it("answers an identical call without running, and the event says so (S2-37, S2-42)", async () => {
    const { asking, made } = conversation({ cacheMs: 1000 });
    const first = await asking([lamp]);
    const { facts, result } = await collect(asking([lamp]));
    expect(made()).toBe(1);
    expect(result.toolCalls).toMatchObject([{ status: "ok", attempts: 0 }]);
    expect(result.toolCalls[0]?.result).toBe(first.toolCalls[0]?.result);
    expect(facts.find((fact) => fact.type === "tool_call_result")).toMatchObject({
      cached: true,
      is_error: false,
    });
    expect(facts.some((fact) => fact.type === "tool_call_start")).toBe(false);
  });

  it("compares arguments regardless of key order (S2-37)", async () => {
    const { asking, made } = conversation({ cacheMs: 1000 });
    await asking([{ name: "price", input: { thing: "lamp", of: { a: 1, b: 2 } } }]);
    await asking([{ name: "price", input: { of: { b: 2, a: 1 }, thing: "lamp" } }]);
    expect(made()).toBe(1);
    await asking([{ name: "price", input: { thing: "lamp", of: { a: 1, b: 3 } } }]);
    expect(made()).toBe(2);
  });

  it("runs again when the time has expired (S2-37, S2-42)", async () => {
    const { asking, made, clock } = conversation({ cacheMs: 1000 });
    await asking([lamp]);
    await clock.advance(999);
    await asking([lamp]);
    expect(made()).toBe(1);
    await clock.advance(1);
    await asking([lamp]);
    expect(made()).toBe(2);
  });

  it("caches within a session only (S2-42)", async () => {
    const { asking, made } = conversation({ cacheMs: 1000 });
    await asking([lamp]);
    await asking([lamp], "another");
    expect(made()).toBe(2);
  });

  it("does not cache a failure", async () => {
    const { asking, made } = conversation({ cacheMs: 1000, failsAt: 1 });
    await asking([lamp]);
    const result = await asking([lamp]);
    expect(made()).toBe(2);
    expect(result.toolCalls).toMatchObject([{ status: "ok" }]);
  });

  it("still requires approval", async () => {
    const { asking, made } = conversation({ cacheMs: 1000, needsApproval: true });
    const first = asking([lamp]);
    const { pending } = await first;
    await first.approve(pending[0]?.callId ?? "");
    const second = asking([lamp]);
    expect(await second).toMatchObject({ status: "waiting" });
    await second.approve((await second).pending[0]?.callId ?? "");
    expect(await second).toMatchObject({ status: "done", toolCalls: [{ status: "ok", attempts: 0 }] });
    expect(made()).toBe(1);
  });

  it("does not count reused results against the budget of tool calls", async () => {
    const { asking } = conversation({ cacheMs: 1000, policy: { budget: { toolCalls: 1 } } });
    await asking([lamp]);
    const result = await asking([lamp, { name: "price", input: { thing: "chair" } }]);
    expect(result.toolCalls).toMatchObject([
      { status: "ok", attempts: 0 },
      { status: "ok", attempts: 1 },
    ]);
  });
});

it("without cacheMs, a tool runs for every call", async () => {
  const { asking, made } = conversation();
  await asking([lamp]);
  await asking([lamp]);
  expect(made()).toBe(2);
});
