import { describe, expect, it } from "vitest";
import { defineAgent } from "../../kernel/agent.ts";
import type { Fact } from "../../kernel/event.ts";
import type { Usage } from "../../kernel/model.ts";
import type { PolicyOverrides } from "../../kernel/policy.ts";
import { defineTool } from "../../kernel/tool.ts";
import type { Result } from "../../runtime/result.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { agentTool } from "../nested/agent-tool.ts";

const callUsage: Usage = { inputTokens: 60, outputTokens: 40, cost: 0.1 };

type FamilyOptions = {
  readonly budget: NonNullable<PolicyOverrides["budget"]>;
  readonly children?: number;
  readonly settings?: { readonly maxOutputTokens: number };
  readonly usage?: Usage;
};

/** Runs an agent whose sub-agents work in parallel and never stop by themselves. */
async function runFamily({ budget, children = 4, settings, usage = callUsage }: FamilyOptions): Promise<{
  facts: Fact[];
  result: Result;
  maxParallel: number;
}> {
  let executing = 0;
  let maxParallel = 0;
  const look = defineTool({
    name: "look",
    description: "Looks.",
    input: { type: "object" },
    effects: "none",
    execute: () => "Seen.",
  });
  const model = scriptedModel(
    (_request, n) => {
      executing += 1;
      maxParallel = Math.max(maxParallel, executing);
      return { calls: [{ name: "look", input: { n } }], usage, delayMs: 1 };
    },
    {
      async wait() {
        for (let tick = 0; tick < 20; tick++) await new Promise(setImmediate);
        executing -= 1;
      },
    },
  );
  const child = defineAgent({
    name: "child",
    model,
    tools: [look],
    policy: { maxTurns: "unlimited" },
    ...(settings && { settings }),
  });
  const calls = Array.from({ length: children }, (_, n) => ({ name: "child", input: { prompt: `${n}` } }));
  const parent = defineAgent({
    name: "parent",
    model: scriptedModel([
      { calls, usage },
      { text: "Over.", usage },
    ]),
    tools: [agentTool(child)],
    policy: { budget },
  });
  const store = memory();
  const { append } = store;
  store.append = async (...facts) => {
    await new Promise(setImmediate); // several runs decide before the first of their starts is stored
    return append(...facts);
  };
  const { facts, result } = await collect(run(parent, "Go.", { store, session: "s", runId: "r" }));
  return { facts, result, maxParallel };
}

describe("a budget that parallel sub-agents share", () => {
  it.each([
    2, 3, 8,
  ])("of tokens is exceeded by less than one call with %i of them (S3-42)", async (children) => {
    const { result } = await runFamily({ budget: { tokens: 1050 }, children });
    const { inputTokens, outputTokens } = result.usage;
    // The call that crosses the limit starts below it.
    expect(inputTokens + outputTokens).toBe(1100);
    expect(result).toMatchObject({ status: "limit", error: { code: "budget_tokens" } });
  });

  it("of cost is exceeded by less than one call (S3-42)", async () => {
    const { result } = await runFamily({ budget: { cost: 1.05 } });
    expect(result.cost).toBeCloseTo(1.1);
    expect(result).toMatchObject({ status: "limit", error: { code: "budget_cost" } });
  });

  it.each([5, 6, 7, 9])("of %i tool calls is never exceeded (S3-42)", async (toolCalls) => {
    const { facts } = await runFamily({ budget: { toolCalls }, children: 3 });
    const started = facts.filter((fact) => fact.type === "tool_call_start");
    expect(started).toHaveLength(toolCalls);
  });

  it("lets calls overlap as long as their reservations fit (S3-42)", async () => {
    const settings = { maxOutputTokens: 100 };
    const { maxParallel, result } = await runFamily({ budget: { tokens: 9050 }, settings, children: 3 });
    expect(maxParallel).toBe(3);
    const { inputTokens, outputTokens } = result.usage;
    expect(inputTokens + outputTokens).toBe(9100);
  });

  it("is charged for unusable answers of sub-agents, too (S3-42)", async () => {
    const child = defineAgent({
      name: "child",
      model: scriptedModel([
        { text: "", usage: callUsage },
        { text: "Found.", usage: callUsage },
      ]),
    });
    const parent = defineAgent({
      name: "parent",
      model: scriptedModel([
        { calls: [{ name: "child", input: { prompt: "Look." } }], usage: callUsage },
        { text: "Over.", usage: callUsage },
      ]),
      tools: [agentTool(child)],
    });
    const { usage } = await run(parent, "Go.", { store: memory(), clock: fakeClock({ skipUpToMs: 30_000 }) });
    expect(usage).toMatchObject({ inputTokens: 4 * 60, outputTokens: 4 * 40 });
  });

  it("lets all calls overlap without a limit of tokens or cost", async () => {
    const { maxParallel } = await runFamily({ budget: { toolCalls: 12 }, children: 3 });
    expect(maxParallel).toBe(3);
  });
});
