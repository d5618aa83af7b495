import { defineAgent, defineTool, run, type Tool } from "capstan";
import { memory } from "capstan/stores/memory";
import { describe, expect, it } from "vitest";
import { offline } from "../offline.ts";

const berths = [
  { berthId: 11, name: "Berth N7", quay: "North Quay", metres: 40 },
  { berthId: 12, name: "Berth S7", quay: "South Quay", metres: 90 },
  { berthId: 13, name: "Fuel Dock", quay: "South Quay", metres: 15 },
  { berthId: 14, name: "Fuel Dock", quay: "North Quay", metres: 60 },
];
const near = { type: "object", properties: { berthId: { type: "number" } }, required: ["berthId"] } as const;

const find = defineTool({
  name: "findBerths",
  description: "Finds berths and docks by name.",
  input: { type: "object", properties: { term: { type: "string" }, near } },
  examples: [
    { phrase: "find {term}" },
    { phrase: "nearest {term} near {near}" },
    { phrase: "{term} near {near}" },
  ],
  effects: "none",
  execute({ term = "", near: from }) {
    const code = /\d+/u.exec(term)?.[0];
    const found = berths.filter(({ name }) =>
      code
        ? name.endsWith(code) && (!/[NS]\d/u.test(term) || name.includes(term))
        : name.toLowerCase().includes(term),
    );
    return { berths: from ? found.toSorted((left, right) => left.metres - right.metres) : found };
  },
});
const show = defineTool({
  name: "showBerth",
  description: "Shows a berth on the chart.",
  input: { type: "object", properties: { berthId: { type: "number" } }, required: ["berthId"] },
  examples: [{ phrase: "where is {berthId}" }, { phrase: "show {berthId}" }],
  execute: ({ berthId }) => ({
    message: `${berths.find((berth) => berth.berthId === berthId)?.name} is on the chart.`,
  }),
});
const route = defineTool({
  name: "plotRoute",
  description: "Plots a route by berths.",
  input: {
    type: "object",
    properties: {
      stops: { type: "array", items: { type: "number" }, minItems: 2, description: "The berthIds, in order" },
      sheltered: { type: "boolean", description: "Only sheltered water: without open-sea legs, swell-free" },
    },
    required: ["stops"],
  },
  examples: [
    { phrase: "route from {from} to {to}", input: { stops: ["{from}", "{to}"] } },
    { phrase: "how do I get to {to} from {from}", input: { stops: ["{from}", "{to}"] } },
  ],
  execute: ({ stops }) => ({ message: `The route has ${stops.length} stops.` }),
});

/** Says one thing after the other, and gives the calls and the answer to each. */
async function talk(tools: readonly Tool[], ...sentences: string[]) {
  const agent = defineAgent({ name: "harbour", model: offline(), instructions: "Never show ids.", tools });
  const options = { store: memory(), session: "s" };
  const heard: { calls: (readonly [string, unknown])[]; text: string }[] = [];
  for (const sentence of sentences) {
    const { toolCalls, text } = await run(agent, sentence, options);
    heard.push({ calls: toolCalls.map(({ name, input }) => [name, input] as const), text });
  }
  return heard;
}
const all = [find, show, route];

describe("a name where an id is needed", () => {
  it("is searched, and the user chooses between two equally good hits by name", async () => {
    const [first] = await talk(all, "nearest fuel dock near Berth 7");
    expect(first?.calls).toEqual([["findBerths", { term: "Berth 7" }]]);
    expect(first?.text).toBe(
      'There are several for "Berth 7". Which one do you mean: Berth N7 (North Quay) or Berth S7 (South Quay)?',
    );
  });

  it.each(["S7", "the second one", "the one at the South Quay"])("a reply tells which: %s", async (reply) => {
    const [, second] = await talk(all, "nearest fuel dock near Berth 7", reply);
    expect(second?.calls).toEqual([
      ["findBerths", { term: "fuel dock", near: { berthId: 12 } }],
      ["showBerth", { berthId: 13 }],
    ]);
    expect(second?.text).toContain("Fuel Dock (South Quay, 15 m)");
  });

  it("two of them are searched in parallel, and keep the order of the sentence", async () => {
    const [only] = await talk(all, "Route from N7 to S7");
    expect(only?.calls).toEqual([
      ["findBerths", { term: "N7" }],
      ["findBerths", { term: "S7" }],
      ["plotRoute", { stops: [11, 12] }],
    ]);
    expect(only?.text).toContain("The route has 2 stops.");
  });

  it("is not looked up again when it is known", async () => {
    const [, second, third] = await talk(all, "Route from N7 to S7", "and to N7?", "show N7");
    expect(second?.calls).toEqual([["plotRoute", { stops: [11, 11] }]]);
    expect(third?.calls).toEqual([["showBerth", { berthId: 11 }]]);
  });

  it('"there" is the place that was last spoken of, not the one just looked up', async () => {
    const [, second] = await talk(all, "show S7", "how do I get there from N7?");
    expect(second?.calls.at(-1)).toEqual(["plotRoute", { stops: [11, 12] }]);
  });

  it("without a match is reported, and nothing is shown", async () => {
    const [only] = await talk(all, "where is Berth 99?");
    expect(only?.calls).toEqual([["findBerths", { term: "Berth 99" }]]);
    expect(only?.text).toBe("No berths.");
  });

  it("asks for more, with an example, when there are too few", async () => {
    const [only] = await talk([route], "plot a route");
    expect(only?.calls).toEqual([]);
    expect(only?.text).toContain('For example: "route from … to …"');
  });
});

describe("flags in a sentence", () => {
  it.each([
    "without open-sea legs",
    "swell-free",
  ])("%s sets the argument that is described so", async (words) => {
    const [only] = await talk(all, `Route from N7 to S7 ${words}`);
    expect(only?.calls.at(-1)).toEqual(["plotRoute", { stops: [11, 12], sheltered: true }]);
  });

  it("may be added afterwards", async () => {
    const [, second] = await talk(all, "Route from N7 to S7", "but without open-sea legs");
    expect(second?.calls).toEqual([["plotRoute", { stops: [11, 12], sheltered: true }]]);
  });
});

describe("a list that was given", () => {
  it("answers which of it is the nearest, or has a property, without another call", async () => {
    const [, nearest, quay] = await talk(
      [find],
      "find fuel dock",
      "which one is the closest?",
      "which of them are at the North Quay?",
    );
    expect(nearest).toEqual({ calls: [], text: "Fuel Dock (South Quay, 15 m)." });
    expect(quay?.text).toContain("North Quay");
    expect(quay?.calls).toEqual([]);
  });
});
