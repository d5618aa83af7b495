import { describe, expect, it } from "vitest";
import { defineAgent, defineTool, type Model, run } from "../index.ts";

const timeoutMs = 120_000;

const weather = defineTool({
  name: "get_weather",
  description: "Tells the weather in a city",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  effects: "none",
  execute: ({ city }) => `In ${city} it is 17 degrees and a pink fog hangs over the river.`,
});

/** Calls a real API, for a fraction of a cent, if its key is set. Skipped otherwise. */
export function liveSuite(name: string, key: string, make: () => Model): void {
  describe.skipIf(!process.env[key])(`${name}, live`, () => {
    const model = make();
    it("calls a tool and answers with its result", { timeout: timeoutMs }, async () => {
      const agent = defineAgent({ name: "live", model, tools: [weather] });
      const result = (await run(agent, "What is the weather in Lisbon? Use the tool.")).orThrow();
      expect(result.toolCalls).toMatchObject([
        { name: "get_weather", input: { city: expect.stringMatching(/lisbo/i) } },
      ]);
      expect(result.text).toMatch(/17|fog/i);
      expect(result.usage.inputTokens).toBeGreaterThan(0);
      expect(result.cost).toBeGreaterThan(0);
    });

    it("answers in the requested format", { timeout: timeoutMs }, async () => {
      const output = {
        type: "object",
        properties: { capital: { type: "string" }, isInEurope: { type: "boolean" } },
        required: ["capital", "isInEurope"],
        additionalProperties: false,
      } as const;
      const agent = defineAgent({ name: "live", model, output });
      const result = (await run(agent, "What is the capital of Portugal, and is it in Europe?")).orThrow();
      expect(result.output).toMatchObject({ capital: expect.stringMatching(/lisbo/i), isInEurope: true });
    });
  });
}
