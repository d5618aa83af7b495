import { defineAgent, defineTool, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const times: { readonly [city: string]: string } = { Oslo: "14:20", Lima: "7:20" };
const clock = defineTool({
  name: "time",
  description: "The time in a city",
  input: z.object({ city: z.string() }),
  effects: "none",
  execute: ({ city }) => `${city}: ${times[city]}`,
});

const model = scriptedModel([
  {
    text: "I look at both clocks.",
    calls: ["Oslo", "Lima"].map((city) => ({ name: "time", input: { city } })),
  },
  { text: "No: in Lima it is seven hours earlier." },
]);

const agent = defineAgent({
  name: "clockmaker",
  model,
  instructions: "Look before you answer.",
  tools: [clock],
});
const result = await run(agent, "Is it the same time in Oslo and Lima?");

for (const entry of result.history) {
  if (entry.type === "user") console.log(`user       ${entry.content}`);
  if (entry.type === "result") console.log(`result     ${entry.name}: ${entry.content}`);
  if (entry.type === "assistant")
    for (const part of entry.parts) {
      if (part.type === "text") console.log(`assistant  ${part.text}`);
      if (part.type === "call") console.log(`assistant  call ${part.name} ${JSON.stringify(part.input)}`);
    }
}
console.log(`${result.status} after ${result.turns} turns`);
