import { defineAgent, defineTool, run } from "capstan";
import { offline } from "capstan/models";
import { memory } from "capstan/stores/memory";

const weather = defineTool({
  name: "weather",
  description: "Weather of a city",
  input: { city: { type: "string", required: true } },
  examples: [{ phrase: "weather in {city}" }, { phrase: "is it raining in {city}" }],
  effects: "none",
  execute: ({ city }) => ({ message: `${city}: 7 °C, light rain` }),
});

/** A conversation: each user message with the expected calls and a part of the expected answer. */
const conversation = [
  { user: "What is the weather in Oslo?", calls: [["weather", "Oslo"]], answers: "7 °C" },
  { user: "Is it raining in Bergen?", calls: [["weather", "Bergen"]], answers: "rain" },
];

// `offline()` is free and deterministic; with a real model the same list is an evaluation.
const agent = defineAgent({ name: "guide", model: offline(), tools: [weather] });
const options = { store: memory(), session: "conversation" };
let passed = 0;
for (const { user, calls, answers } of conversation) {
  const { text, toolCalls } = await run(agent, user, options);
  const actualCalls = toolCalls.map((call) =>
    call.status === "ok" && call.name === "weather" ? [call.name, call.input.city] : [call.name],
  );
  if (JSON.stringify(actualCalls) === JSON.stringify(calls) && text.includes(answers)) passed += 1;
  else console.log(`${user}\n  ${JSON.stringify(actualCalls)}\n  ${text}`);
}
console.log(`${passed} of ${conversation.length} as expected`);
