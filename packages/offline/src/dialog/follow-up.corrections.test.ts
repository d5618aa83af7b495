import { defineAgent, defineTool, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { describe, expect, it } from "vitest";
import { offline } from "../offline.ts";

const text = { type: "string" } as const;
const boats = [
  { id: "b1", name: "Gull" },
  { id: "b2", name: "Tern" },
  { id: "b3", name: "Auk" },
];

const find = defineTool({
  name: "find_boats",
  description: "Finds boats.",
  input: { type: "object", properties: { selector: text }, required: ["selector"] },
  examples: [{ phrase: "find all {kind}", input: { selector: "kind == '{kind}'" } }],
  effects: "none",
  execute: () => ({ boats }),
});
const paint = defineTool({
  name: "style_boats",
  description: "Colors boats.",
  input: {
    type: "object",
    properties: { boatIds: { type: "array", items: text }, selector: text, color: text },
    required: ["color"],
  },
  examples: [
    { phrase: "make them {color}" },
    { phrase: "make the {kind} {color}", input: { selector: "kind == '{kind}'" } },
    { phrase: "color {name} {color}", input: { selector: "name contains '{name}'" } },
  ],
  execute: ({ boatIds = [] }) => ({ boats: boats.filter(({ id }) => boatIds.includes(id)) }),
});
const sail = defineTool({
  name: "plan_trip",
  description: "Plans a trip by ship.",
  input: { type: "object", properties: { ports: { type: "array", items: text } }, required: ["ports"] },
  examples: [{ phrase: "sail from {start} to {end}", input: { ports: ["{start}", "{end}"] } }],
  effects: "none",
  execute: () => "Three days.",
});
const look = defineTool({
  name: "search_harbours",
  description: "Searches harbours.",
  input: { type: "object", properties: { term: text }, required: ["term"] },
  examples: [{ phrase: "where can I get {term}" }],
  effects: "none",
  execute: () => "None.",
});
const berth = defineTool({
  name: "tell_berth",
  description: "Tells of a berth.",
  input: { type: "object", properties: { code: text }, required: ["code"] },
  examples: [{ phrase: "tell me about berth {code}" }],
  effects: "none",
  execute: () => "It is long.",
});

async function callsFor(...sentences: readonly string[]) {
  const agent = defineAgent({ name: "pilot", model: offline(), tools: [find, paint, sail, look, berth] });
  const options = { store: memory(), session: "s" };
  let calls: unknown[] = [];
  for (const sentence of sentences)
    calls = (await run(agent, sentence, options)).toolCalls.map(({ name, input }) => [name, input]);
  return calls;
}

describe("a follow-up sentence", () => {
  it("puts a pointer in the place of a pointer, and a colour in that of a colour", async () => {
    const before = ["find all boats", "make the second one red"];
    expect(await callsFor(...before)).toEqual([["style_boats", { boatIds: ["b2"], color: "red" }]]);
    expect(await callsFor(...before, "and the first one blue")).toEqual([
      ["style_boats", { boatIds: ["b1"], color: "blue" }],
    ]);
    expect(await callsFor(...before, "and the third one")).toEqual([
      ["style_boats", { boatIds: ["b3"], color: "red" }],
    ]);
    expect(await callsFor(...before, "now green")).toEqual([
      ["style_boats", { boatIds: ["b2"], color: "green" }],
    ]);
  });

  it.each([
    "and back?",
    "and the way back",
    "what about the other way round?",
  ])("goes the way back: %s", async (sentence) => {
    expect(await callsFor("Sail from Tunis to Malta", sentence)).toEqual([
      ["plan_trip", { ports: ["Malta", "Tunis"] }],
    ]);
  });

  it.each([
    ["where can I get rope", "and back?"],
    ["where can I get rope", "and there?"],
    ["find all boats", "and the first one blue"],
    ["make the ketches red", "and back"],
    ["make the ketches red", "and again"],
    ["where can I get rope", "and it"],
  ])("makes no text of a pointer, a colour or an adverb: %s, %s", async (first, second) => {
    const calls = JSON.stringify(await callsFor(first, second));
    expect(calls).not.toMatch(/back|there|first|again|\bit\b/);
  });
});

describe("a correction", () => {
  it.each([
    "no, I meant green",
    "sorry, I meant green",
    "I said green",
    "No, I mean green.",
    "not red, green",
    "I said green, not red",
    "no, green",
  ])("puts a colour in the place of a colour: %s", async (sentence) => {
    expect(await callsFor("make the ketches red", sentence)).toEqual([
      ["style_boats", { selector: "kind == 'ketch'", color: "green" }],
    ]);
  });

  it("puts a name in the place of a name, and a code in that of a code", async () => {
    expect(await callsFor("color Gull red", "no, I meant Tern")).toEqual([
      ["style_boats", { selector: "name contains 'Tern'", color: "red" }],
    ]);
    expect(await callsFor("tell me about berth C47", "no, I mean C74")).toEqual([
      ["tell_berth", { code: "C74" }],
    ]);
  });

  it("corrects the most similar value, or the value it rejects", async () => {
    expect(await callsFor("Sail from B2 to C47", "sorry, I meant C74")).toEqual([
      ["plan_trip", { ports: ["B2", "C74"] }],
    ]);
    expect(await callsFor("Sail from Tunis to Malta", "not Malta, Genoa")).toEqual([
      ["plan_trip", { ports: ["Tunis", "Genoa"] }],
    ]);
  });

  it("that fits nothing does nothing", async () => {
    expect(await callsFor("find all boats", "no, I meant back there")).toEqual([]);
  });
});
