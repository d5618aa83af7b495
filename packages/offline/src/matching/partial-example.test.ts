import { defineAgent, defineTool, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { describe, expect, it } from "vitest";
import { offline } from "../offline.ts";

const text = { type: "string" } as const;
const texts = { type: "array", items: text, minItems: 2 } as const;

const sail = defineTool({
  name: "plan_trip",
  description: "Plans a trip by ship.",
  input: { type: "object", properties: { ports: texts, night: { type: "boolean" } }, required: ["ports"] },
  examples: [
    { phrase: "how do I sail from {start} to {end}", input: { ports: ["{start}", "{end}"] } },
    { phrase: "sail from {start} to {end} by night", input: { ports: ["{start}", "{end}"], night: true } },
  ],
  effects: "none",
  execute: ({ ports }) => `Three days by way of ${ports.join(" and ")}.`,
});

const tides = defineTool({
  name: "tides",
  description: "The tides of a port.",
  input: { type: "object", properties: { port: text, day: text }, required: ["port"] },
  examples: [
    { phrase: "tides of {port}" },
    { phrase: "tides of {port} on {when}", input: { day: "{when}" } },
  ],
  effects: "none",
  execute: () => "High at noon.",
});

/** What each sentence of a conversation is answered with, and the calls that were made for it. */
async function talk(...sentences: readonly string[]) {
  const agent = defineAgent({ name: "pilot", model: offline(), tools: [sail, tides] });
  const options = { store: memory(), session: "s" };
  const said: { readonly text: string; readonly calls: readonly unknown[] }[] = [];
  for (const sentence of sentences) {
    const result = await run(agent, sentence, options);
    said.push({ text: result.text, calls: result.toolCalls.map(({ name, input }) => [name, input]) });
  }
  return said;
}

describe("a sentence that matches an example except for one slot", () => {
  it.each([
    ["How do I sail to Genoa?", "how do I sail from … to Genoa"],
    ["How do I sail from Tunis?", "how do I sail from Tunis to …"],
    ["Sail to Genoa by night", "sail from … to Genoa by night"],
  ])('"%s" is asked for it, and nothing is called', async (sentence, shown) => {
    const [first] = await talk(sentence);
    expect(first?.text).toMatch(/^One thing is missing: (?:from|to) what\?/);
    expect(first?.text).toContain(`You could say "${shown}".`);
    expect(first?.calls).toEqual([]);
  });

  it.each([
    "Tunis",
    "from Tunis",
    "I'm in Tunis.",
    "We are at Tunis",
  ])('is whole with the reply "%s"', async (reply) => {
    const [, second] = await talk("How do I sail to Genoa?", reply);
    expect(second?.calls).toEqual([["plan_trip", { ports: ["Tunis", "Genoa"] }]]);
  });

  it("keeps the other slots, and can be followed up once completed", async () => {
    const [, second, third] = await talk("Sail to Genoa by night", "Tunis", "And from Malta?");
    expect(second?.calls).toEqual([["plan_trip", { ports: ["Tunis", "Genoa"], night: true }]]);
    expect(third?.calls).toEqual([["plan_trip", { ports: ["Malta", "Genoa"], night: true }]]);
  });

  it("is dropped when the user asks something else", async () => {
    const [, second] = await talk("How do I sail to Genoa?", "Tides of Malta");
    expect(second?.calls).toEqual([["tides", { port: "Malta" }]]);
  });

  it("does not ask for optional slots", async () => {
    const [first] = await talk("Tides of Malta");
    expect(first?.calls).toEqual([["tides", { port: "Malta" }]]);
  });
});
