import { defineAgent, defineTool, isFact, run } from "capstan";
import { collect, scriptedModel } from "capstan/testing";
import { expect, test } from "vitest";
import { groupReasoningTurns } from "./group-reasoning-turns.ts";

test("the turns of a run have their agent, reasoning, calls and summary (S3-46)", async () => {
  const look = defineTool({
    ...{ name: "look", description: "Looks", input: { at: { type: "string" } }, effects: "none" },
    execute: () => ({ content: "seen", message: "1 thing seen" }),
  });
  const model = scriptedModel([
    { reasoning: "I should look.", calls: [{ name: "look", input: { at: "noon" } }] },
    { text: "It is there." },
  ]);
  const summaries = scriptedModel([{ text: "Looked at noon." }, { text: "The answer is given." }]);
  const agent = defineAgent({
    name: "watch",
    model,
    models: { summary: summaries },
    tools: [look],
    policy: { summaries: true, maxTurns: 4 },
  });
  const facts = (await collect(run(agent, "Where?"))).events.filter(isFact);
  const told = groupReasoningTurns(facts, facts[0]?.runId ?? "").map(({ steps, ...turn }) => ({
    ...turn,
    steps: steps.map(({ type }) => type),
  }));
  expect(told).toEqual([
    {
      turn: 1,
      agent: "watch",
      title: "Turn 1 of 4",
      summary: "Looked at noon.",
      steps: ["thinking", "tool-executing", "tool-result"],
    },
    { turn: 2, agent: "watch", title: "Turn 2 of 4", summary: "The answer is given.", steps: ["synthesis"] },
  ]);
});
