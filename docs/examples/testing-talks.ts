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

/** A conversation, sentence by sentence: what is said, which calls it must lead to, what the answer must have. */
const talk = [
  { user: "What is the weather in Oslo?", calls: [["weather", "Oslo"]], answers: "7 °C" },
  { user: "Is it raining in Bergen?", calls: [["weather", "Bergen"]], answers: "rain" },
];

// `offline()` costs nothing and is the same every time; with a real model the same list is an evaluation.
const agent = defineAgent({ name: "guide", model: offline(), tools: [weather] });
const options = { store: memory(), session: "talk" };
let right = 0;
for (const { user, calls, answers } of talk) {
  const { text, toolCalls } = await run(agent, user, options);
  const made = toolCalls.map(({ name, input }) => [name, (input as { city: string }).city]);
  if (JSON.stringify(made) === JSON.stringify(calls) && text.includes(answers)) right += 1;
  else console.log(`${user}\n  ${JSON.stringify(made)}\n  ${text}`);
}
console.log(`${right} of ${talk.length} as expected`);
