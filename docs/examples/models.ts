import { defineAgent, defineTool, run } from "capstan";
import { offline } from "capstan/models";

const weather = defineTool({
  name: "weather",
  description: "Current weather of a city",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  effects: "none",
  execute: ({ city }) => ({ message: `${city}: 7 °C, light rain` }),
});

// With OPENAI_API_KEY set the first model answers; without it, the run falls back to the rule-based offline model.
const agent = defineAgent({
  name: "helper",
  model: ["openai/gpt-5-mini", offline()],
  instructions: "Answer briefly.",
  tools: [weather],
});

for await (const event of run(agent, 'What is the weather in "Oslo"?')) {
  if (event.type === "model_failed") console.log(`${event.model}: ${event.error.message}`);
  if (event.type === "message") console.log(`answered by ${event.model}`);
  if (event.type === "done") console.log(event.text);
}
