import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineAgent } from "../kernel/agent.ts";
import type { PolicyOverrides } from "../kernel/policy.ts";
import { collect } from "../testing/collect.ts";
import { type ScriptedStep, scriptedModel } from "../testing/scripted-model.ts";
import { run } from "./run.ts";

const output = z.object({ city: z.string(), days: z.number().int(), note: z.string().default("none") });

function createScriptedAgent(script: readonly ScriptedStep[], policy: PolicyOverrides = {}) {
  const model = scriptedModel(script);
  const agent = defineAgent({ name: "planner", model, instructions: "Plan.", output, policy });
  return { model, agent };
}

describe("an agent with an output schema", () => {
  it("returns a valid output with the defaults filled in", async () => {
    const { model, agent } = createScriptedAgent([{ text: '{"city":"Oslo","days":3}' }]);
    const result = await run(agent, "Where to?");
    expect(result).toMatchObject({
      status: "done",
      turns: 1,
      output: { city: "Oslo", days: 3, note: "none" },
    });
    expect(model.requests[0]?.instructions).toMatch(/^Plan\.\n\nGive your final answer as JSON only/);
    expect(model.requests[0]?.instructions).toContain('"days"');
  });

  it.each([
    ["in a code fence", '```json\n{"city":"Oslo","days":3}\n```'],
    ["with a trailing comma", '{"city":"Oslo","days":3,}'],
    ["with a number as text", '{"city":"Oslo","days":"3"}'],
  ])("understands an answer %s", async (_how, text) => {
    const result = await run(createScriptedAgent([{ text }]).agent, "Where to?");
    expect(result).toMatchObject({ status: "done", turns: 1, output: { city: "Oslo", days: 3 } });
  });

  it.each([
    ["is not JSON", "Oslo, for three days.", /it is not JSON/],
    ["lacks a field", '{"city":"Oslo"}', /days/],
    ["breaks off", '{"city":"Oslo","days":3', /it is not JSON/],
  ])("asks once more when the answer %s, and says what is wrong", async (_how, text, issue) => {
    const { model, agent } = createScriptedAgent([{ text }, { text: '{"city":"Rome","days":2}' }]);
    const result = await run(agent, "Where to?");
    expect(result).toMatchObject({ status: "done", turns: 2, output: { city: "Rome" } });
    expect(model.requests[1]?.instructions).toMatch(issue);
    expect(model.requests[1]?.history.at(-1)).toMatchObject({ type: "assistant", parts: [{ text }] });
  });

  it("fails with a named error when the second answer is invalid too, and keeps the text", async () => {
    const { agent } = createScriptedAgent([
      { text: "Oslo." },
      { text: "Rome." },
      { text: '{"city":"Rome","days":2}' },
    ]);
    const { facts, result } = await collect(run(agent, "Where to?"));
    expect(result).toMatchObject({
      status: "failed",
      text: "Rome.",
      turns: 2,
      error: { code: "output_invalid" },
    });
    expect(result.output).toBeUndefined();
    expect(facts.slice(-2).map((fact) => fact.type)).toEqual(["error", "done"]);
  });

  it("does not exceed the turn limit for it", async () => {
    const { agent, model } = createScriptedAgent([{ text: "Oslo." }], { maxTurns: 1 });
    expect(await run(agent, "Where to?")).toMatchObject({
      status: "failed",
      error: { code: "output_invalid" },
    });
    expect(model.requests).toHaveLength(1);
  });
});
