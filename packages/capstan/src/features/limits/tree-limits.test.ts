import { describe, expect, it } from "vitest";
import { type Agent, defineAgent } from "../../kernel/agent.ts";
import type { Fact } from "../../kernel/event.ts";
import { defaultPolicy, type PolicyOverrides } from "../../kernel/policy.ts";
import { defineTool } from "../../kernel/tool.ts";
import { fold } from "../../runtime/facts.ts";
import { resume, run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { agentTool } from "../nested/agent-tool.ts";

type Budget = NonNullable<PolicyOverrides["budget"]>;

/** An agent that is its own tool. Its model calls it in every turn that offers tools, and answers in the others. */
function createSelfCaller(width: number, options: { background?: boolean; budget?: Budget } = {}) {
  const { background = false, budget } = options;
  const model = scriptedModel(({ tools }, index) => {
    const calls = Array.from({ length: width }, (_, n) => ({
      name: "self",
      input: { prompt: `${index}.${n}` },
    }));
    return tools.length > 0 ? { calls } : { text: "Enough." };
  });
  const self: Agent = defineAgent({
    name: "self",
    model,
    tools: () => [agentTool(self, { background })],
    ...(budget && { policy: { budget } }),
  });
  return { self, model };
}

const countStarts = (facts: readonly Fact[]) =>
  facts.filter((fact) => fact.type === "run_start" && fact.parentRunId !== undefined).length;
const countCalls = (facts: readonly Fact[]) => facts.filter((fact) => fact.type === "message").length;

describe("a tree of runs without limits of its own", () => {
  it("ends with an answer when an agent calls itself forever", async () => {
    const { self, model } = createSelfCaller(3);
    const { facts, result } = await collect(run(self, "Go."));
    const { modelCalls, agents } = defaultPolicy.budget;
    expect(model.requests.length).toBeLessThanOrEqual(Number(modelCalls));
    expect(countStarts(facts)).toBeLessThanOrEqual(Number(agents));
    expect(["done", "limit"]).toContain(result.status);
    expect(result.text).not.toBe("");
  });
});

describe("a budget of model calls", () => {
  it.each([
    1, 7, 20,
  ])("of %i is never exceeded by parallel sub-agents, and ends the run with an answer", async (modelCalls) => {
    const { self, model } = createSelfCaller(4);
    const result = await run(self, "Go.", { policy: { budget: { modelCalls } } });
    expect(model.requests).toHaveLength(modelCalls);
    expect(result).toMatchObject({
      status: "limit",
      error: { code: "budget_model_calls", message: `The budget of ${modelCalls} model calls is used up.` },
      text: expect.stringContaining("I could not finish this"),
    });
  });

  it("counts calls of background agents, and of agents that were handed to", async () => {
    const background = createSelfCaller(2, { background: true });
    await run(background.self, "Go.", { policy: { budget: { modelCalls: 12 } } });
    expect(background.model.requests).toHaveLength(12);
    const target = scriptedModel(() => ({ calls: [{ name: "missing" }] }));
    const specialist = defineAgent({ name: "specialist", model: target });
    const first = scriptedModel([{ calls: [{ name: "handoff", input: { agent: "specialist" } }] }]);
    const agent = defineAgent({ name: "first", model: first, handoffs: [specialist] });
    const result = await run(agent, "Go.", { policy: { budget: { modelCalls: 2 } } });
    expect(target.requests).toHaveLength(1);
    expect(result).toMatchObject({ status: "limit", error: { code: "budget_model_calls" } });
  });

  it("counts from the facts: a resumed run goes on where it was", async () => {
    const ask = defineTool({
      ...{ name: "ask", description: "Asks.", input: { type: "object" }, effects: "none" },
      needsApproval: true,
      execute: () => "Yes.",
    });
    const model = scriptedModel((_request, n) => ({ calls: [{ name: "ask", input: { n } }] }));
    const child = defineAgent({ name: "child", model, tools: [ask] });
    const parentModel = scriptedModel([{ calls: [{ name: "child", input: { prompt: "Ask." } }] }]);
    const parent = defineAgent({ name: "parent", model: parentModel, tools: [agentTool(child)] });
    const store = memory();
    const options = { store, session: "s", runId: "r", policy: { budget: { modelCalls: 4 } } };
    let result = await run(parent, "Go.", options);
    while (result.status === "waiting")
      result = await resume(parent, { store, runId: "r" }).approve(result.pending[0]?.callId ?? "");
    expect(result).toMatchObject({ status: "limit", error: { code: "budget_model_calls" } });
    const facts = await store.read("s");
    expect([countCalls(facts), fold("s", facts).run?.modelCalls]).toEqual([4, 4]);
  });

  it("does not limit a run of an earlier version, which has none", async () => {
    const { modelCalls: _calls, agents: _agents, ...budget } = defaultPolicy.budget;
    const store = memory();
    const { append } = store;
    store.append = (facts, options) =>
      append(
        facts.map((fact) =>
          fact.type === "run_start" ? ({ ...fact, policy: { ...fact.policy, budget } } as Fact) : fact,
        ),
        options,
      );
    const child = defineAgent({ name: "child", model: scriptedModel([{ text: "Yes." }]) });
    const model = scriptedModel([{ calls: [{ name: "child", input: { prompt: "?" } }] }, { text: "Over." }]);
    const parent = defineAgent({ name: "parent", model, tools: [agentTool(child)] });
    await run(parent, "Go.", { store, session: "s" });
    const again = defineAgent({ name: "parent", model: scriptedModel([{ text: "On." }]) });
    expect((await run(again, "On.", { store, session: "s" })).text).toBe("On.");
  });
});

describe("a budget of agents", () => {
  it.each([
    false,
    true,
  ])("is never exceeded by parallel calls; the model answers without more (background: %s)", async (background) => {
    const { self } = createSelfCaller(4, { background });
    const { facts, result } = await collect(run(self, "Go.", { policy: { budget: { agents: 6 } } }));
    expect(countStarts(facts)).toBe(6);
    expect(result).toMatchObject({ status: "done", text: "Enough." });
    const refused = facts.filter(
      (fact) => fact.type === "tool_call_result" && fact.error?.code === "budget_agents",
    );
    const warnings = facts.filter((fact) => fact.type === "warning" && fact.code === "budget_agents");
    expect([refused.length > 0, warnings.length > 0]).toEqual([true, true]);
  });

  it("ends the run with an answer if the model does not stop to call agents", async () => {
    const model = scriptedModel((_request, n) => ({
      calls: [{ name: "helper", input: { prompt: `${n}` } }],
    }));
    const helper = defineAgent({ name: "helper", model: scriptedModel([{ text: "Yes." }]) });
    const agent = defineAgent({ name: "main", model, tools: [agentTool(helper)] });
    const result = await run(agent, "Go.", { policy: { budget: { agents: 1 } } });
    expect(result).toMatchObject({ status: "limit", error: { code: "budget_agents" } });
    expect([model.requests.length, result.text]).toEqual([3, expect.stringContaining("Yes.")]);
  });

  it("of a sub-agent counts only what it starts itself", async () => {
    const { self } = createSelfCaller(1, { budget: { agents: 2 } });
    const { facts } = await collect(run(self, "Go."));
    expect(countStarts(facts)).toBe(2);
  });
});
