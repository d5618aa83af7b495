import { defineAgent, defineTool, run } from "capstan";
import { describe, expect, it } from "vitest";
import { offline } from "../offline.ts";

const loadSkill = defineTool({
  name: "load_skill",
  description: "Loads a skill.",
  instructions:
    "Skills are instructions. Load one with the tool `load_skill` before you start:\n- release-notes: Writes release notes from commits. Use it for a changelog.\n- brand-voice: How our texts sound. Use it for marketing texts and mails.",
  input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  effects: "none",
  reads: [],
  execute: ({ name }) => (name === "missing" ? { error: "No such skill." } : `Skill: ${name}\n\nBe short.`),
});
const weather = defineTool({
  name: "get_weather",
  description: "Tells the weather in a city",
  examples: [{ phrase: "weather in {city}" }],
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  effects: "none",
  reads: [],
  execute: ({ city }) => `Rain in ${city}`,
});
const writeFile = defineTool({
  name: "write_file",
  description: "Writes a text to a file",
  examples: [{ phrase: "write {text} to {path}" }],
  input: {
    type: "object",
    properties: { path: { type: "string" }, text: { type: "string" } },
    required: ["path", "text"],
  },
  execute: () => "Written.",
});
const agent = defineAgent({
  name: "guide",
  model: offline(),
  instructions: "You help.",
  tools: [loadSkill, weather, writeFile],
});
const listCalls = async (message: string) =>
  (await run(agent, message)).toolCalls.map(({ name, input }) => [name, Object.values(Object(input))[0]]);

describe("the offline model with skills", () => {
  it.each([
    ["Write the release notes, please", "release-notes"],
    ["I need a changelog of the last commits", "release-notes"],
    ["Draft a marketing text about our boats", "brand-voice"],
    ["Use the deploy skill", "deploy"],
    ["Load the skill brand-voice", "brand-voice"],
  ])("loads the skill that fits %j", async (message, skill) => {
    expect(await listCalls(message)).toEqual([["load_skill", skill]]);
  });

  it("answers with what it loaded, or why it could not", async () => {
    const { text } = await run(agent, "Write the release notes");
    expect(text).toMatch(/^I loaded a skill\. [^\n]*:\n\n> Skill: release-notes\n>\n> Be short\.$/);
    // It could also be the start of a call of `write_file`.
    expect((await run(agent, "Write a changelog of the commits")).text).toContain("Be short.");
    expect((await run(agent, "Use the missing skill")).text).toBe(
      "The skill could not be loaded. No such skill.",
    );
  });

  it.each([
    ["What is the weather in Oslo?", [["get_weather", "Oslo"]]],
    ["Hello!", []],
    ["Paint the fence green", []],
  ])("loads none for %j", async (message, calls) => {
    expect(await listCalls(message)).toEqual(calls);
  });
});
