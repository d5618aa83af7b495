import { defineAgent, defineTool, run } from "capstan";
import { defaultModel } from "capstan/models";
import { z } from "zod";

const weather = defineTool({
  name: "weather",
  description: "Current weather of a city",
  input: z.object({ city: z.string() }),
  effects: "none",
  examples: [{ phrase: "weather in {city}" }],
  execute: ({ city }) => `${city}: 7 °C, light rain`,
});

const agent = defineAgent({
  name: "helper",
  model: await defaultModel(), // the first provider with an API key, else the offline model
  instructions: "Answer briefly.",
  tools: [weather],
});

const result = await run(agent, "How is the weather in Oslo?");

console.log(result.text);
console.log(`${result.status} after ${result.turns} turns and ${result.toolCalls.length} tool call`);
