import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { isFact } from "../kernel/event.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { getReasoningSteps, reasoningSteps } from "./reasoning-steps.ts";

const look = defineTool({
  name: "look",
  description: "Looks, or fails",
  input: { type: "object" },
  effects: "none",
  execute: ({ n }) =>
    n === 2 ? { error: "Too\ndark.", retryable: false } : { content: "seen", message: "1 thing seen" },
});

async function runScript() {
  const model = scriptedModel([
    {
      reasoning: "I should look.",
      text: "Let me look.",
      calls: [{ id: "c1", name: "look", input: { n: 1 } }],
    },
    { calls: [{ id: "c2", name: "look", input: { n: 2 } }] },
    { text: "Half", error: "model_failed" },
    { text: "It is there." },
  ]);
  const agent = defineAgent({ name: "a", model, tools: [look], policy: { maxTurns: 5 } });
  const clock = fakeClock({ skipUpToMs: 30_000 });
  return (await collect(run(agent, "Where?", { store: memory(), clock }))).events;
}

describe("reasoningSteps", () => {
  it("lists reasoning, calls, results and the synthesis by turn (S3-46, S4-62, C-21)", async () => {
    const told = reasoningSteps(await runScript()).map(({ agent: _, ...step }) => step);
    expect(told).toEqual([
      { type: "iteration", iteration: 1, summary: "Turn 1 of 5" },
      { type: "thinking", iteration: 1, details: "I should look." },
      { type: "note", iteration: 1, details: "Let me look." },
      { type: "tool-executing", iteration: 1, callId: "c1", details: '{"n":1}', summary: "look" },
      { type: "tool-result", iteration: 1, callId: "c1", details: "seen", summary: "look: 1 thing seen" },
      { type: "iteration", iteration: 2, summary: "Turn 2 of 5" },
      { type: "tool-executing", iteration: 2, callId: "c2", details: '{"n":2}', summary: "look" },
      expect.objectContaining({ type: "tool-result", callId: "c2", summary: "look: Too dark." }),
      { type: "iteration", iteration: 3, summary: "Turn 3 of 5" },
      { type: "synthesis", iteration: 3, details: "It is there." },
    ]);
  });

  it("are the same live and from stored events, at once or one by one (S3-46, S4-62)", async () => {
    const live = await runScript();
    const steps = reasoningSteps(live);
    expect(reasoningSteps(live.filter(isFact))).toEqual(steps);
    expect(live.flatMap(getReasoningSteps)).toEqual(steps);
  });

  it("include a model's turn summary, marked as generated, and problems (S3-46)", () => {
    const origin = { runId: "r", sessionId: "s", agent: "a", turn: 2, seq: 1, at: 0, id: "i" };
    expect(
      reasoningSteps([
        { ...origin, type: "turn_summary", text: "Looked twice." },
        { ...origin, type: "turn_summary", text: "" },
        { ...origin, type: "warning", code: "w", message: "Near the\nlimit." },
        { ...origin, type: "limit_reached", code: "max_turns", message: "x".repeat(500), turns: 2 },
      ]),
    ).toEqual([
      { type: "iteration", iteration: 2, agent: "a", summary: "Looked twice.", aiGenerated: true },
      { type: "trouble", iteration: 2, agent: "a", summary: "Near the limit." },
      { type: "limit", iteration: 2, agent: "a", summary: `${"x".repeat(199)}…` },
    ]);
  });
});
