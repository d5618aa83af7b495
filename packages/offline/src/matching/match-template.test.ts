import { defineAgent, defineTool, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { describe, expect, it } from "vitest";
import { offline } from "../offline.ts";

const text = { type: "string" } as const;
const boats = [
  { id: "b1", name: "Bess", age: 12 },
  { id: "b2", name: "Cleo", age: 50 },
];
const find = defineTool({
  name: "find_boats",
  description: "Finds boats.",
  input: {
    type: "object",
    properties: { rule: text, boatIds: { type: "array", items: text } },
    required: ["rule"],
  },
  examples: [
    { phrase: "find all {kind}", input: { rule: "kind == '{kind}'" } },
    { phrase: "{kind} for less than {price}", input: { rule: "kind == '{kind}' and price < {price}" } },
    { phrase: "those older than {age}", input: { rule: "age > {age}" } },
  ],
  effects: "none",
  execute: ({ rule }) =>
    rule === "kind == 'yatch'"
      ? { error: 'No boat is named "yatch". Did you mean "yacht"?', retryable: false }
      : { data: { boats } },
});
const describeBoat = defineTool({
  name: "describe_boat",
  description: "Describes one boat.",
  input: { type: "object", properties: { boat: text, part: text }, required: ["boat", "part"] },
  examples: [{ phrase: "what is the {part} of {boat}" }],
  effects: "none",
  execute: () => "Blue.",
});
const sail = defineTool({
  name: "plan_trip",
  description: "Plans a trip.",
  input: { type: "object", properties: { from: text, to: text }, required: ["from", "to"] },
  examples: [{ phrase: "how do I get from {from} to {to}" }],
  effects: "none",
  execute: () => "By the canal.",
});
const agent = defineAgent({ name: "clerk", model: offline(), tools: [find, describeBoat, sail] });

async function ask(...sentences: readonly string[]) {
  const options = { store: memory(), session: "s" };
  for (const sentence of sentences.slice(0, -1)) await run(agent, sentence, options);
  const { toolCalls, text: answer } = await run(agent, sentences.at(-1) ?? "", options);
  return { calls: toolCalls.map(({ name, input }) => [name, input]), answer };
}

describe("matching an example", () => {
  it("takes no name within a sentence for a typo of another word", async () => {
    expect((await ask("How do you get from Finn to Bergen?")).calls).toEqual([
      ["plan_trip", { from: "Finn", to: "Bergen" }],
    ]);
  });

  it("reads a compared number without its unit", async () => {
    expect((await ask("boats for less than 5 euros")).calls).toEqual([
      ["find_boats", { rule: "kind == 'boat' and price < 5" }],
    ]);
    expect(JSON.stringify((await ask("boats for less than a fortune")).calls)).not.toContain("price");
  });

  it.each([
    "What is the hull color of Bess?",
    "What is Bess's hull color?",
  ])("separates a property from its owner: %s", async (sentence) => {
    expect((await ask(sentence)).calls).toEqual([["describe_boat", { part: "hull color", boat: "Bess" }]]);
  });

  it('takes no auxiliary verb and no "only" for a part of a value', async () => {
    expect((await ask("what is the hull of the Bess")).calls).toEqual([
      ["describe_boat", { part: "hull", boat: "Bess" }],
    ]);
    expect((await ask("Find all boats", "only the ones older than 40")).calls).toEqual([
      ["find_boats", { rule: "age > 40", boatIds: ["b1", "b2"] }],
    ]);
  });

  it("searches among the last results for a filter by a number that they do not contain", async () => {
    expect((await ask("Find all boats", "only those older than 40")).calls).toEqual([
      ["find_boats", { rule: "age > 40", boatIds: ["b1", "b2"] }],
    ]);
  });

  it("repeats a call with the suggested name within a text", async () => {
    const { calls, answer } = await ask("find all yatch");
    expect(calls).toEqual([
      ["find_boats", { rule: "kind == 'yatch'" }],
      ["find_boats", { rule: "kind == 'yacht'" }],
    ]);
    expect(answer).not.toContain("did not work");
  });
});
