import { defineAgent, defineTool, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const weather = defineTool({
  name: "weather",
  description: "Current weather of a city",
  input: z.object({ city: z.string() }),
  effects: "none",
  execute: ({ city }) => `${city}: 7 °C, light rain`,
});

// Stands in for a language model: it says what is written here, one step per turn.
const model = scriptedModel([
  { calls: [{ name: "weather", input: { city: "Oslo" } }] },
  { text: "Take a coat: it is 7 °C in Oslo, with light rain." },
]);

const agent = defineAgent({ name: "helper", model, instructions: "Answer briefly.", tools: [weather] });

const result = await run(agent, "Do I need a coat in Oslo?");

console.log(result.text);
console.log(`${result.status} after ${result.turns} turns and ${result.toolCalls.length} tool call`);
