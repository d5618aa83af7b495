import { describe, expect, it } from "vitest";
import { defineAgent } from "../../kernel/agent.ts";
import type { Fact } from "../../kernel/event.ts";
import type { PolicyOverrides } from "../../kernel/policy.ts";
import { defineTool } from "../../kernel/tool.ts";
import type { Result } from "../../runtime/result.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import {
  type Script,
  type ScriptedModel,
  type ScriptedRequest,
  type ScriptedStep,
  scriptedModel,
} from "../../testing/scripted-model.ts";

const callForever = (_request: ScriptedRequest, index: number): ScriptedStep => ({
  calls: [{ name: "look", input: { n: index } }],
});

async function runWith(
  policy: PolicyOverrides,
  script: Script = callForever,
): Promise<{ model: ScriptedModel; facts: Fact[]; result: Result }> {
  const model = scriptedModel(script);
  const look = defineTool({
    name: "look",
    description: "Looks.",
    input: { type: "object" },
    execute: ({ n }) => `Seen ${n}.`,
  });
  const agent = defineAgent({ name: "helper", model, tools: [look], policy });
  const { facts, result } = await collect(run(agent, "Go.", { store: memory(), session: "s", runId: "r" }));
  return { model, facts, result };
}

describe("the turn limit", () => {
  it.each([1, 2, 3, 4, 5, 10])("calls the model exactly %i times (S2-45, C-01)", async (maxTurns) => {
    const { model, result } = await runWith({ maxTurns, finalTurn: "keep-tools" });
    expect(model.requests).toHaveLength(maxTurns);
    expect(result).toMatchObject({ status: "limit", turns: maxTurns, error: { code: "max_turns" } });
    expect(result.toolCalls).toHaveLength(maxTurns);
  });

  it("is 10 by default (S0-05, C-01)", async () => {
    const { model } = await runWith({});
    expect(model.requests).toHaveLength(10);
  });

  it("is recorded as a fact between the end of the last turn and the end of the run (S3-40, S3-61)", async () => {
    const { facts } = await runWith({ maxTurns: 2, finalTurn: "keep-tools" });
    expect(facts.slice(-3)).toMatchObject([
      { type: "turn_end", turn: 2 },
      { type: "limit_reached", code: "max_turns", turns: 2, message: "The limit of 2 turns was reached." },
      { type: "done", status: "limit" },
    ]);
    expect(facts.filter(({ type }) => type === "limit_reached")).toHaveLength(1);
  });

  it("applies when the run ends on tool results, and there is still an answer (D-14)", async () => {
    const { result } = await runWith({ maxTurns: 3, finalTurn: "keep-tools" });
    expect(result.toolCalls.map(({ result }) => result)).toEqual(["Seen 0.", "Seen 1.", "Seen 2."]);
    expect(result.text).toContain("- Used look: Seen 2.");
  });

  it("does not affect an answer in the last turn", async () => {
    const { facts, result } = await runWith({ maxTurns: 2 }, [
      { calls: [{ name: "look" }] },
      { text: "Two." },
    ]);
    expect(result).toMatchObject({ status: "done", text: "Two.", turns: 2 });
    expect(facts.map(({ type }) => type)).not.toContain("limit_reached");
  });

  it("counts from 1 again in the next run of the session (D-01)", async () => {
    const model = scriptedModel([{ text: "One." }, { text: "Two." }]);
    const agent = defineAgent({ name: "helper", model, policy: { maxTurns: 1 } });
    const options = { store: memory(), session: "s" };
    await run(agent, "First.", options);
    expect(await run(agent, "Second.", options)).toMatchObject({ status: "done", text: "Two.", turns: 1 });
  });
});

describe("unlimited turns", () => {
  it("continue for as long as the model makes calls (C-01, S1-03)", async () => {
    const { model, facts, result } = await runWith({ maxTurns: "unlimited" }, (request, index) =>
      index === 40 ? { text: "At last." } : callForever(request, index),
    );
    expect(model.requests).toHaveLength(41);
    expect(result).toMatchObject({ status: "done", text: "At last.", turns: 41 });
    expect(facts.find(({ type }) => type === "turn_start")).toMatchObject({ maxTurns: "unlimited" });
  });

  it("still end when the model repeats itself (C-01)", async () => {
    const { model, result } = await runWith({ maxTurns: "unlimited" }, () => ({ calls: [{ name: "look" }] }));
    expect(model.requests).toHaveLength(3);
    expect(result).toMatchObject({ status: "limit", error: { code: "stuck_loop" } });
  });

  it("still end when a budget is spent (C-01, S3-42)", async () => {
    const { model, result } = await runWith({ maxTurns: "unlimited", budget: { tokens: 300 } });
    expect(model.requests).toHaveLength(20);
    expect(result).toMatchObject({ status: "limit", error: { code: "budget_tokens" } });
  });

  it("still end when the tool calls are used up and the model does not answer (C-01)", async () => {
    const { model, result } = await runWith(
      { maxTurns: "unlimited", budget: { toolCalls: 2 } },
      (request, index) => (index >= 30 ? { text: "Nobody stopped me." } : callForever(request, index)),
    );
    expect(result).toMatchObject({ status: "limit", error: { code: "budget_tool_calls" } });
    expect(model.requests.length).toBeLessThan(10);
  });

  it("still end when the run is cancelled (C-01)", async () => {
    const model = scriptedModel(callForever);
    const look = defineTool({
      name: "look",
      description: "Looks.",
      input: { type: "object" },
      execute({ n }) {
        if (n === 12) running.cancel("Enough.");
        return "Seen.";
      },
    });
    const agent = defineAgent({ name: "helper", model, tools: [look], policy: { maxTurns: "unlimited" } });
    const running = run(agent, "Go.", { store: memory() });
    expect(await running).toMatchObject({ status: "cancelled", turns: 13, error: { message: "Enough." } });
  });
});

describe("a single turn", () => {
  it("has no tools, and a call made anyway is refused (S0-22, C-02)", async () => {
    const { model, result } = await runWith({ maxTurns: 1 });
    expect(model.requests[0]).toMatchObject({ tools: [], toolChoice: "none" });
    expect(result.toolCalls).toMatchObject([{ status: "skipped", attempts: 0 }]);
    expect(result).toMatchObject({ status: "limit", error: { code: "max_turns" } });
  });
});
