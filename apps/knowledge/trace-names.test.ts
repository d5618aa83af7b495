import { defineAgent, defineTool, type PolicyOverrides, run } from "capstan";
import { collect, fakeClock, type ScriptedStep, scriptedModel } from "capstan/testing";
import { describe, expect, it } from "vitest";
import { buildReasoningSteps, buildTrace, toTraceEvents } from "./trace-names.ts";

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { query: { type: "string" } },
  effects: "none",
  execute: ({ query }) => ({ message: "One found.", data: { found: query } }),
});
const looking: ScriptedStep = { text: "I look.", calls: [{ name: "look", input: { query: "a" } }] };

async function runForEvents(steps: ScriptedStep[], policy: PolicyOverrides = {}) {
  const helper = defineAgent({ name: "helper", model: scriptedModel(steps), tools: [look] });
  const model = scriptedModel(steps);
  const agent = defineAgent({ name: "main", model, tools: [look], handoffs: [helper], policy });
  return (await collect(run(agent, "Go.", { clock: fakeClock({ skipUpToMs: 60_000 }) }))).events;
}

describe("the trace of a run, under the names of enterprise search", () => {
  it("has one entry per event, in order (C-15, S3-16)", async () => {
    const trace = buildTrace(await runForEvents([looking, { text: "Found." }]));
    expect(trace).toEqual([
      { type: "run_start", runId: expect.any(String) },
      { type: "turn_start", turn: 1, agentName: "main" },
      { type: "llm_call_end", agentName: "main", model: "scripted", content: "I look.", toolCalls: ["look"] },
      { type: "tool_call_start", toolName: "look", args: { query: "a" } },
      { type: "tool_call_end", toolName: "look", status: "ok" },
      { type: "turn_end", turn: 1, agentName: "main" },
      { type: "turn_start", turn: 2, agentName: "main" },
      { type: "llm_call_end", agentName: "main", model: "scripted", content: "Found.", toolCalls: [] },
      { type: "turn_end", turn: 2, agentName: "main" },
      { type: "run_end", status: "done" },
    ]);
  });

  it("includes handoffs, returns and denials (C-15, S3-57)", async () => {
    const handing = (agent: string): ScriptedStep => ({ calls: [{ name: "handoff", input: { agent } }] });
    const steps = [handing("nobody"), handing("helper"), { text: "Done." }];
    const helper = defineAgent({ name: "helper", model: scriptedModel([{ text: "Here." }]) });
    const agent = defineAgent({ name: "main", model: scriptedModel(steps), handoffs: [helper] });
    const { facts } = await collect(run(agent, "Go."));
    expect(buildTrace(facts).filter(({ type }) => type.startsWith("handoff"))).toEqual([
      { type: "handoff_denied", to: "nobody", reason: expect.any(String) },
      { type: "handoff", from: "main", to: "helper" },
      { type: "handoff", from: "helper", to: "main" },
    ]);
  });

  it("names the turn limit MaxTurnsExceeded, and other errors by their code (C-15, S3-40)", async () => {
    const limited = buildTrace(
      await runForEvents([looking, looking], { maxTurns: 2, finalTurn: "keep-tools" }),
    );
    expect(limited.filter(({ type }) => type === "error")).toMatchObject([{ name: "MaxTurnsExceeded" }]);
    const failed = buildTrace(await runForEvents([{ error: "model_failed" }]));
    expect(failed.slice(-2)).toMatchObject([
      { type: "error", name: "model_failed" },
      { type: "run_end", status: "failed" },
    ]);
  });

  it("omits deltas (C-15)", async () => {
    const deltas = (await runForEvents([{ text: "Found.", split: 2 }])).filter((event) => !("seq" in event));
    expect(deltas.length).toBeGreaterThan(0);
    expect(deltas.flatMap(toTraceEvents)).toEqual([]);
  });
});

describe("the reasoning steps of a run", () => {
  it("have a type, the iteration, details and summaries (C-15, S3-46)", async () => {
    const steps: ScriptedStep[] = [
      looking,
      { text: "It looked." },
      { text: "Found." },
      { text: "It answered." },
    ];
    expect(buildReasoningSteps(await runForEvents(steps, { summaries: true }))).toEqual([
      { type: "Iteration", iteration: 1, stepSummary: "Turn 1 of 10" },
      { type: "Note", iteration: 1, details: "I look." },
      { type: "ToolExecuting", iteration: 1, details: '{"query":"a"}', stepSummary: "look" },
      {
        type: "ToolResult",
        iteration: 1,
        details: expect.stringContaining("One found."),
        stepSummary: "look: One found.",
      },
      { type: "Iteration", iteration: 1, aiGeneratedSummary: "It looked." },
      { type: "Iteration", iteration: 2, stepSummary: "Turn 2 of 10" },
      { type: "Synthesis", iteration: 2, details: "Found." },
      { type: "Iteration", iteration: 2, aiGeneratedSummary: "It answered." },
    ]);
  });
});
