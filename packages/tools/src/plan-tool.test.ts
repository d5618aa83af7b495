import { defineAgent, defineTool, type Json, type Outcome, run } from "capstan";
import { collect, type ScriptedStep, scriptedModel } from "capstan/testing";
import { describe, expect, it } from "vitest";
import { type PlanItem, planInstructions, planTool, trackPlan } from "./plan-tool.ts";

const items = (...statuses: PlanItem["status"][]): PlanItem[] =>
  statuses.map((status, index) => ({ text: `step ${index + 1}`, status }));

const createPlanStep = (list: readonly PlanItem[]): ScriptedStep => ({
  calls: [{ name: "plan", input: { items: list } }],
});
const look: ScriptedStep = { calls: [{ name: "look" }] };
const done: ScriptedStep = { text: "Done." };

const createPlanAgent = (steps: ScriptedStep[], found: unknown = "found", settings: object = {}) => {
  const model = scriptedModel(steps);
  const tool = defineTool({
    name: "look",
    description: "Looks.",
    input: { type: "object" },
    effects: "none",
    execute: () => found,
  });
  return { model, agent: defineAgent({ name: "planner", model, tools: [planTool(), tool], ...settings }) };
};
const getResults = (history: readonly { type: string }[]) =>
  history.flatMap((entry) => (entry.type === "result" ? [(entry as { content?: unknown }).content] : []));

describe("the plan tool", () => {
  it("keeps a list that the user sees (S2-41, C-20)", async () => {
    const list = items("done", "doing", "open");
    const { facts } = await collect(run(createPlanAgent([createPlanStep(list), done]).agent, "Go."));
    expect(facts.find((fact) => fact.type === "tool_call_result")).toMatchObject({
      status: "ok",
      result: "Plan: 1 of 3 done.\n- doing: step 2\n- open: step 3",
      ui: { kind: "table", props: { title: "Plan", rows: list } },
    });
  });

  it("changes only the display, and reads nothing (C-20)", () => {
    expect(planTool()).toMatchObject({ effects: "ui", reads: [] });
    expect(planTool().needsApproval).toBeUndefined();
  });

  it.each([
    [[{ text: "a", status: "later" }]],
    [[{ text: "", status: "open" }]],
    [[{ status: "open" }]],
    [Array.from({ length: 51 }, () => ({ text: "a", status: "open" }))],
  ])("refuses an invalid list: %.40j", async (list) => {
    const { agent } = createPlanAgent([{ calls: [{ name: "plan", input: { items: list as Json } }] }, done]);
    const result = await run(agent, "Go.");
    expect(result.toolCalls).toMatchObject([{ status: "error" }]);
  });
});

describe("plan instructions", () => {
  it("explains how to proceed: need, tools, evaluation, synthesis (S3-43)", async () => {
    const { agent, model } = createPlanAgent([done], "found", {
      instructions: `You help.\n\n${planInstructions.steps}`,
    });
    await run(agent, "Go.");
    const { instructions = "" } = model.requests[0] ?? {};
    const places = ["information", "Choose the tools", "is it enough", "put the answer together"].map(
      (words) => instructions.indexOf(words),
    );
    expect(places).toEqual([...places].sort((left, right) => left - right));
    expect(places[0]).toBeGreaterThan(0);
  });

  it("has a variant with a list of sub-tasks, to be updated after every call (S3-44)", () => {
    expect(planInstructions.checklist).toMatch(
      /sub-tasks[\s\S]*choose the tools[\s\S]*After every tool call[\s\S]*answer together/,
    );
  });

  it("is not added automatically (S3-43, C-20)", async () => {
    const { agent, model } = createPlanAgent([look, done]);
    await run(agent, "Go.");
    expect(model.requests[0]?.instructions ?? "").not.toContain("How to proceed");
    expect(getResults(model.requests[1]?.history ?? [])).toEqual(["found"]);
  });
});

describe("tracking the plan", () => {
  it("appends the open items to the results of other tools (S3-45)", async () => {
    const steps = [
      look,
      createPlanStep(items("doing", "open")),
      look,
      createPlanStep(items("done", "doing")),
      look,
      done,
    ];
    const { agent, model } = createPlanAgent(steps);
    await run(agent, "Go.", { hooks: trackPlan() });
    expect(getResults(model.requests.at(-1)?.history ?? [])).toEqual([
      "found",
      "Plan: 0 of 2 done.\n- doing: step 1\n- open: step 2",
      "found\n\nPlan: 0 of 2 done.\n- doing: step 1\n- open: step 2",
      "Plan: 1 of 2 done.\n- doing: step 2",
      "found\n\nPlan: 1 of 2 done.\n- doing: step 2",
    ]);
  });

  it("appends nothing when all items are done (S3-45)", async () => {
    const { agent, model } = createPlanAgent([createPlanStep(items("done", "done")), look, done]);
    await run(agent, "Go.", { hooks: trackPlan() });
    expect(getResults(model.requests.at(-1)?.history ?? []).at(-1)).toBe("found");
  });

  it("reminds after a failure too (S3-45)", async () => {
    const steps = [createPlanStep(items("open")), { calls: [{ name: "missing" }] }, done];
    const { agent, model } = createPlanAgent(steps);
    await run(agent, "Go.", { hooks: trackPlan() });
    expect(getResults(model.requests.at(-1)?.history ?? []).at(-1)).toMatch(
      /missing[\s\S]*\n\nPlan: 0 of 1 done/,
    );
  });

  it("restores the plan from the facts of an earlier run (S3-45)", async () => {
    const first = await collect(run(createPlanAgent([createPlanStep(items("open")), done]).agent, "Go."));
    const { agent, model } = createPlanAgent([look, done]);
    await run(agent, "Go on.", { hooks: trackPlan(first.facts) });
    expect(getResults(model.requests.at(-1)?.history ?? [])).toEqual([
      "found\n\nPlan: 0 of 1 done.\n- open: step 1",
    ]);
  });

  it("keeps data valid JSON, and hidden if the model must not see it (S3-45)", async () => {
    for (const found of [{ secret: 7 }, { data: { secret: 7 }, message: "One found." }]) {
      const seen = async (settings: object) => {
        const { agent, model } = createPlanAgent(
          [createPlanStep(items("open")), look, done],
          found,
          settings,
        );
        await run(agent, "Go.", { hooks: trackPlan() });
        return String(getResults(model.requests.at(-1)?.history ?? []).at(-1));
      };
      const shown = await seen({});
      expect(JSON.parse(shown)).toMatchObject({ data: { secret: 7 } });
      expect(shown).toContain("Plan: 0 of 1 done.");
      const hidden = await seen({ policy: { includeToolData: false } });
      expect(hidden).not.toContain("secret");
      expect(hidden).toContain("Plan: 0 of 1 done.");
    }
  });

  it("keeps parts, and ignores plan-like hints of other tools (S3-45)", async () => {
    const { onAfterTool } = trackPlan();
    const call = { id: "1", input: {}, context: undefined };
    const ui = { kind: "table", props: { rows: items("open") } };
    const parts: Outcome = { status: "ok", content: [{ type: "text", text: "a" }] };
    expect(await onAfterTool({ ...call, name: "other" }, { status: "ok", content: "", ui })).toBeUndefined();
    expect(await onAfterTool({ ...call, name: "other" }, parts)).toBeUndefined();
    expect(await onAfterTool({ ...call, name: "plan" }, { status: "ok", content: "", ui })).toBeUndefined();
    expect(await onAfterTool({ ...call, name: "other" }, parts)).toEqual({
      status: "ok",
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "Plan: 0 of 1 done.\n- open: step 1" },
      ],
    });
  });
});
