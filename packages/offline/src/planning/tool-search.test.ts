import { defineAgent, defineTool, run } from "capstan";
import { describe, expect, it } from "vitest";
import { offline } from "../offline.ts";

const createTool = (name: string, description: string, phrase: string) =>
  defineTool({
    ...{ name, description, examples: [{ phrase }], defer: true, effects: "none", reads: [] },
    input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    execute: ({ city }) => `${name} of ${city}`,
  });
const tools = [
  createTool("get_weather", "Tells the weather in a city", "weather in {city}"),
  createTool("find_hotels", "Finds hotels in a city", "hotels in {city}"),
];
const agent = defineAgent({ name: "guide", model: offline(), tools });

describe("the offline model with deferred tools", () => {
  it("searches for what the user says, and calls what it found", async () => {
    const { toolCalls, text } = await run(agent, "Show me the weather in Oslo");
    expect(toolCalls.map(({ name }) => name)).toEqual(["search_tools", "get_weather"]);
    expect(text).toContain("get_weather of Oslo");
  });

  it("searches once for a request without a tool, and says so", async () => {
    const { toolCalls, status } = await run(agent, "Paint the fence green");
    expect(toolCalls.map(({ name }) => name)).toEqual(["search_tools"]);
    expect(status).toBe("done");
  });

  it("does not search for small talk", async () => {
    expect((await run(agent, "Hello!")).toolCalls).toEqual([]);
  });
});
