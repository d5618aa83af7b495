import { describe, expect, it } from "vitest";
import { sleep } from "../../base/clock.ts";
import { defineAgent } from "../../kernel/agent.ts";
import { computeRemainingMs, findSpentBudget, hasSpentCalls } from "../../kernel/budget.ts";
import type { Fact } from "../../kernel/event.ts";
import type { Usage } from "../../kernel/model.ts";
import { type PolicyOverrides, resolvePolicy } from "../../kernel/policy.ts";
import { defineTool, type Tool } from "../../kernel/tool.ts";
import { fold } from "../../runtime/facts.ts";
import type { Result } from "../../runtime/result.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { type Script, type ScriptedModel, scriptedModel } from "../../testing/scripted-model.ts";
import { buildBudgetNote, buildBudgetWarnings } from "./rules.ts";

type Parts = { script?: Script; usage?: Usage | null; toolMs?: number; tools?: Tool[] };

/** A model that never stops calling, on a clock that moves by `toolMs` in each call. */
async function runWith(
  policy: PolicyOverrides,
  { script, usage, toolMs = 0, tools }: Parts = {},
): Promise<{ model: ScriptedModel; facts: Fact[]; result: Result }> {
  const clock = fakeClock();
  const look = defineTool({
    name: "look",
    description: "Looks.",
    input: { type: "object" },
    async execute() {
      await undefined; // time passes while it waits, not while it blocks
      await clock.advance(toolMs);
      return "Seen.";
    },
  });
  const restless: Script = (_request, n) => ({
    calls: [{ name: "look", input: { n } }],
    ...(usage !== undefined && { usage }),
  });
  const model = scriptedModel(script ?? restless);
  const agent = defineAgent({ name: "helper", model, instructions: "Base.", tools: tools ?? [look], policy });
  const options = { store: memory(), session: "s", runId: "r", clock };
  const { facts, result } = await collect(run(agent, "Go.", options));
  return { model, facts, result };
}

const listCodes = (facts: readonly Fact[]) =>
  facts.flatMap((fact) =>
    fact.type === "warning" ||
    fact.type === "limit_reached" ||
    fact.type === "done" ||
    fact.type === "turn_end"
      ? [fact.type === "turn_end" || fact.type === "done" ? fact.type : fact.code]
      : [],
  );

describe("a spent budget", () => {
  it.each<[string, PolicyOverrides["budget"] & object, Parts, number, string]>([
    ["tokens", { tokens: 60 }, {}, 4, "The budget of 60 tokens is used up."],
    [
      "cost",
      { cost: 0.4 },
      { usage: { inputTokens: 1, outputTokens: 1, cost: 0.1 } },
      4,
      "The budget of 0.4 US dollars is used up.",
    ],
    ["seconds", { seconds: 20 }, { toolMs: 5000 }, 4, "The budget of 20 seconds is used up."],
  ])("of %s ends the run at once, with a text and the reason (S3-42, F34)", async (kind, budget, parts, turns, message) => {
    const { model, facts, result } = await runWith({ budget }, parts);
    expect(model.requests).toHaveLength(turns);
    expect(result).toMatchObject({ status: "limit", turns, error: { code: `budget_${kind}`, message } });
    expect(result.text).toContain(`I could not finish this: ${message}`);
    expect(facts.at(-2)).toMatchObject({ type: "limit_reached", code: `budget_${kind}`, message, turns });
  });

  it.each<[string, PolicyOverrides["budget"] & object, Parts]>([
    ["budget_tokens", { tokens: 100 }, {}],
    ["budget_cost", { cost: 1 }, { usage: { inputTokens: 1, outputTokens: 1, cost: 0.15 } }],
    ["budget_seconds", { seconds: 100 }, { toolMs: 15_000 }],
  ])("triggers one warning before it is spent (%s) (S3-42)", async (code, budget, parts) => {
    const { facts, model } = await runWith({ budget }, parts);
    // 15 of 100 per turn: 80 is passed in the sixth, 100 in the seventh.
    expect(listCodes(facts)).toEqual([
      ...Array(5).fill("turn_end"),
      "turn_end",
      `${code}_near`,
      "turn_end",
      code,
      "done",
    ]);
    const told = model.requests.map(({ instructions }) =>
      /the budget of .* is nearly used up/.test(instructions),
    );
    expect(told).toEqual([false, false, false, false, false, false, true]);
  });

  it("says in the warning how much is used (S3-42)", async () => {
    const { facts } = await runWith({ budget: { tokens: 100 } });
    expect(facts.find((fact) => fact.type === "warning")).toMatchObject({
      code: "budget_tokens_near",
      message: "90 % of the budget of 100 tokens is used.",
    });
  });

  it("triggers a warning even when one turn uses all of it (S3-42)", async () => {
    const { facts } = await runWith({ budget: { tokens: 15 } });
    expect(listCodes(facts)).toEqual(["turn_end", "budget_tokens_near", "budget_tokens", "done"]);
  });

  it("does not discard the answer that used it up", async () => {
    const { result } = await runWith({ budget: { tokens: 1 } }, { script: [{ text: "There." }] });
    expect(result).toMatchObject({ status: "done", text: "There." });
  });

  it("skips calls, each with a result that says why (S3-42)", async () => {
    const { result } = await runWith({ budget: { tokens: 15 } });
    expect(result.toolCalls).toMatchObject([
      {
        status: "skipped",
        attempts: 0,
        result: "The budget of 15 tokens is used up. The call was not made.",
      },
    ]);
  });

  it("of zero ends the run before the model is called", async () => {
    const { model, result } = await runWith({ budget: { tokens: 0 } });
    expect(model.requests).toHaveLength(0);
    expect(result).toMatchObject({ status: "limit", error: { code: "budget_tokens" } });
    expect(result.text).toMatch(/^I could not finish this/);
  });

  it("starts at zero in the next run of the session", async () => {
    const model = scriptedModel(() => ({ text: "Yes." }));
    const agent = defineAgent({ name: "helper", model, policy: { budget: { tokens: 15 } } });
    const options = { store: memory(), session: "s" };
    await run(agent, "One?", options);
    expect(await run(agent, "Two?", options)).toMatchObject({ status: "done" });
  });
});

describe("the budget of seconds", () => {
  const approved = defineTool({
    name: "pay",
    description: "Pays.",
    input: { type: "object" },
    needsApproval: true,
    execute: () => "Paid.",
  });
  const script = [{ calls: [{ id: "c1", name: "pay" }] }, { text: "Done." }];
  const policy = { budget: { seconds: 10 } };

  it("does not count the time spent waiting for the user (S3-42)", async () => {
    const clock = fakeClock();
    const agent = defineAgent({ name: "helper", model: scriptedModel(script), tools: [approved], policy });
    const running = run(agent, "Pay.", { store: memory(), clock });
    expect(await running).toMatchObject({ status: "waiting" });
    await clock.advance(3_600_000);
    expect(await running.approve("c1")).toMatchObject({ status: "done", text: "Done." });
  });

  it("does not count the time in which an event consumer asks the user (S3-42)", async () => {
    const clock = fakeClock();
    const agent = defineAgent({ name: "helper", model: scriptedModel(script), tools: [approved], policy });
    const running = run(agent, "Pay.", { store: memory(), clock });
    for await (const event of running) {
      if (event.type !== "approval_required") continue;
      await clock.advance(3_600_000);
      running.approve(event.callId);
    }
    expect(await running).toMatchObject({ status: "done", text: "Done." });
  });

  it("does not count the time in which a client runs a tool", async () => {
    const clock = fakeClock();
    const show = defineTool({ name: "pay", description: "Is the client's.", input: { type: "object" } });
    const agent = defineAgent({ name: "helper", model: scriptedModel(script), tools: [show], policy });
    const running = run(agent, "Pay.", { store: memory(), clock });
    expect(await running).toMatchObject({ status: "waiting", pending: [{ needs: "answer" }] });
    await clock.advance(3_600_000);
    expect(await running.answer("c1", "Paid.")).toMatchObject({ status: "done", text: "Done." });
  });

  it("counts the time before and after the wait (S3-42)", async () => {
    const clock = fakeClock();
    const slow = defineTool({
      name: "look",
      description: "Takes six seconds.",
      input: { type: "object" },
      async execute() {
        await undefined;
        await clock.advance(6000);
        return "Seen.";
      },
    });
    const steps = [
      { calls: [{ name: "look", input: { n: 1 } }] },
      { calls: [{ id: "c1", name: "pay" }] },
      { calls: [{ name: "look", input: { n: 2 } }] },
    ];
    const agent = defineAgent({
      name: "helper",
      model: scriptedModel(steps),
      tools: [approved, slow],
      policy,
    });
    const running = run(agent, "Pay.", { store: memory(), clock });
    await running;
    await clock.advance(3_600_000);
    expect(await running.approve("c1")).toMatchObject({
      status: "limit",
      turns: 3,
      error: { code: "budget_seconds" },
    });
  });

  it("aborts a tool that would exceed it", async () => {
    const { result } = await runWith({ budget: { seconds: 10 } }, { toolMs: 60_000 });
    expect(result.toolCalls).toMatchObject([{ status: "error", ms: 10_000 }]);
    expect(result).toMatchObject({ status: "limit", error: { code: "budget_seconds" } });
  });

  it("is not exceeded by the repeated attempts of a tool", async () => {
    const clock = fakeClock();
    const startedAt = clock.now();
    const stuck = defineTool({
      name: "look",
      description: "Never ends.",
      input: { type: "object" },
      effects: "none",
      execute: (_input, { signal }) => sleep(clock, 3_600_000, signal),
    });
    const agent = defineAgent({
      name: "helper",
      model: scriptedModel([{ calls: [{ name: "look" }] }]),
      tools: [stuck],
      policy,
    });
    const running = run(agent, "Go.", { store: memory(), clock });
    const { facts, result } = await advanceUntilEnd(running, clock);
    expect(result).toMatchObject({ status: "limit", error: { code: "budget_seconds" } });
    expect((facts.at(-1)?.at ?? 0) - startedAt).toBeLessThanOrEqual(11_000);
  });

  it("aborts a model that would exceed it, as a limit (S3-42)", async () => {
    const clock = fakeClock();
    const startedAt = clock.now();
    const model = scriptedModel(() => ({ text: "Hm", hang: true }));
    const agent = defineAgent({ name: "helper", model, policy });
    const { facts, result } = await advanceUntilEnd(run(agent, "Go.", { store: memory(), clock }), clock);
    expect(result).toMatchObject({ status: "limit", error: { code: "budget_seconds" } });
    expect((facts.at(-1)?.at ?? 0) - startedAt).toBeLessThanOrEqual(11_000);
  });
});

/** Advances the clock second by second until the run has ended. */
async function advanceUntilEnd(
  running: ReturnType<typeof run>,
  clock: ReturnType<typeof fakeClock>,
): ReturnType<typeof collect> {
  let ended = false;
  const collected = collect(running).finally(() => {
    ended = true;
  });
  for (let second = 0; second < 600 && !ended; second++) await clock.advance(1000);
  return collected;
}

describe("the budget of tool calls", () => {
  it("withdraws the tools when it is spent, and the model answers (S3-42, S0-47)", async () => {
    const { model, facts, result } = await runWith(
      { budget: { toolCalls: 2 } },
      {
        script: ({ tools }, n) =>
          tools.length > 0 ? { calls: [{ name: "look", input: { n } }] } : { text: "From two looks." },
      },
    );
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 1, 0]);
    expect(result).toMatchObject({ status: "done", text: "From two looks." });
    expect(listCodes(facts)).toEqual(["turn_end", "turn_end", "budget_tool_calls_near", "turn_end", "done"]);
  });

  it("warns once before it is spent (S3-42)", async () => {
    const { facts, model } = await runWith(
      { budget: { toolCalls: 5 } },
      {
        script: ({ tools }, n) =>
          tools.length > 0 ? { calls: [{ name: "look", input: { n } }] } : { text: "Enough." },
      },
    );
    expect(listCodes(facts).filter((code) => code === "budget_tool_calls_near")).toHaveLength(1);
    expect(facts.find((fact) => fact.type === "warning")).toMatchObject({
      turn: 4,
      message: "80 % of the budget of 5 tool calls is used.",
    });
    expect(model.requests[4]?.instructions).toContain("the budget of tool calls is nearly used up");
  });

  it("refuses the calls of a turn beyond it, in call order (S3-42)", async () => {
    const { result } = await runWith(
      { budget: { toolCalls: 2 } },
      {
        script: [{ calls: [1, 2, 3].map((n) => ({ name: "look", input: { n } })) }, { text: "Two." }],
      },
    );
    expect(result.history.filter((entry) => entry.type === "result")).toMatchObject([
      { status: "ok" },
      { status: "ok" },
      {
        status: "skipped",
        content: "The budget of 2 tool calls is used up. The call was not made.",
        error: { code: "budget_tool_calls" },
      },
    ]);
  });

  it("of zero withdraws the tools from the start, without a warning about 0 %", async () => {
    const { model, facts } = await runWith({ budget: { toolCalls: 0 } }, { script: [{ text: "Hello." }] });
    expect(model.requests[0]).toMatchObject({ tools: [], toolChoice: "none" });
    const warnings = facts.flatMap((fact) => (fact.type === "warning" ? [fact.message] : []));
    expect(warnings.filter((message) => message.startsWith("0 %"))).toEqual([]);
  });
});

describe("implausible usage", () => {
  it.each<[string, Usage | null]>([
    ["is missing", null],
    ["is negative", { inputTokens: -1_000_000, outputTokens: -5 }],
    ["is absurd", { inputTokens: 1e12, outputTokens: 1 }],
    ["is not a number", { inputTokens: Number.NaN, outputTokens: 1 }],
    ["has a negative cost", { inputTokens: 1, outputTokens: 1, cost: -100 }],
  ])("is estimated, and flagged, when it %s (F36)", async (_what, usage) => {
    const { facts, result } = await runWith({ maxTurns: 2 }, { script: [{ text: "A".repeat(40), usage }] });
    expect(result.usage).toEqual({ inputTokens: expect.any(Number), outputTokens: 10, estimated: true });
    expect(result.usage.inputTokens).toBeGreaterThan(0);
    expect(facts.find((fact) => fact.type === "warning")).toMatchObject({ code: "usage_estimated" });
  });

  it("never decreases the amount spent, so the budget still ends the run (F36, S3-42)", async () => {
    const { facts, result } = await runWith(
      { budget: { tokens: 200 }, maxTurns: "unlimited" },
      { usage: { inputTokens: -1_000_000, outputTokens: -1 } },
    );
    expect(result).toMatchObject({ status: "limit", error: { code: "budget_tokens" } });
    const spent = facts.map(
      (_fact, index) => fold("s", facts.slice(0, index + 1)).run?.usage.inputTokens ?? 0,
    );
    expect(spent).toEqual([...spent].sort((left, right) => left - right));
  });
});

describe("budget calculations", () => {
  const stateAt = async (budget: PolicyOverrides["budget"] & object) => {
    const { facts } = await runWith({ maxTurns: 1, finalTurn: "keep-tools" }, { toolMs: 2000 });
    const { run: state } = fold("s", facts);
    if (!state) throw new Error("There is no run.");
    return { ...state, warned: new Set<string>(), policy: resolvePolicy({ budget }) };
  };

  it.each<[PolicyOverrides["budget"] & object, string | undefined]>([
    [{}, undefined],
    [{ tokens: 16 }, undefined],
    [{ tokens: 15 }, "budget_tokens"],
    [{ cost: 0.01 }, undefined],
    [{ seconds: 2.1 }, undefined],
    [{ seconds: 2 }, "budget_seconds"],
    [{ toolCalls: 1 }, undefined],
    [{ seconds: 2, tokens: 15 }, "budget_tokens"],
  ])("after 15 tokens, 2 seconds and 1 call, %j is spent by %s", async (budget, code) => {
    expect(findSpentBudget(await stateAt(budget))?.code).toBe(code);
  });

  it.each<[PolicyOverrides["budget"] & object, string[]]>([
    [{}, []],
    [{ tokens: 19 }, []],
    [{ tokens: 18 }, ["budget_tokens_near"]],
    [{ seconds: 2.5, toolCalls: 1 }, ["budget_seconds_near", "budget_tool_calls_near"]],
  ])("after 15 tokens, 2 seconds and 1 call, %j is near for %j", async (budget, codes) => {
    const warnings = buildBudgetWarnings(await stateAt(budget));
    expect(warnings.map((warning) => "code" in warning && warning.code)).toEqual(codes);
  });

  it("do not warn twice", async () => {
    const state = await stateAt({ tokens: 15 });
    state.warned.add("budget_tokens_near");
    expect(buildBudgetWarnings(state)).toEqual([]);
    expect(buildBudgetNote(state)).toBe(
      "Note: the budget of tokens is nearly used up. Answer now with what you have.",
    );
  });

  it("return the time left, which is never zero", async () => {
    expect(computeRemainingMs(await stateAt({ seconds: 5 }))).toBe(3000);
    expect(computeRemainingMs(await stateAt({ seconds: 1 }))).toBe(1);
    expect(computeRemainingMs(await stateAt({}))).toBe(Number.MAX_SAFE_INTEGER);
  });

  it("count a call as spent when it starts", async () => {
    expect(hasSpentCalls(await stateAt({ toolCalls: 1 }))).toBe(true);
    expect(hasSpentCalls(await stateAt({ toolCalls: 2 }))).toBe(false);
    expect(hasSpentCalls(await stateAt({}))).toBe(false);
  });
});
