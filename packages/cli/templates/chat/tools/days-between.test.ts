import assert from "node:assert/strict";
import { test } from "node:test";
import { defineAgent, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { daysBetween } from "./days-between.ts";

test("the agent counts days with the tool and answers", async () => {
  // A scripted model: no key, no network, deterministic.
  const model = scriptedModel([
    { calls: [{ name: "days_between", input: { from: "2026-11-15", to: "2026-12-24" } }] },
    { text: "39 days." },
  ]);
  const agent = defineAgent({ name: "assistant", model, tools: [daysBetween] });
  const result = await run(agent, "How long until 24 December?");
  assert.equal(result.toolCalls[0]?.result, '{"days":39}');
  assert.equal(result.text, "39 days.");
});

test("an invalid date is rejected with a message for the model", async () => {
  const model = scriptedModel([
    { calls: [{ name: "days_between", input: { from: "today", to: "2026-12-24" } }] },
    { text: "Which day is it?" },
  ]);
  const agent = defineAgent({ name: "assistant", model, tools: [daysBetween] });
  const result = await run(agent, "How long until 24 December?");
  assert.match(String(result.toolCalls[0]?.result), /does not match format "date"/);
});
