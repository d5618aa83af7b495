import { defineAgent, defineTool, fromGenerate, run } from "capstan";

// A model from one function: it receives the history, tools and instructions, and returns text or tool calls.
const model = fromGenerate((history) => {
  const last = history.at(-1);
  if (last?.type === "result") return { text: `That is about ${last.content} miles.` };
  return { toolCalls: [{ name: "to_miles", args: { kilometres: 42 } }] };
});

const toMiles = defineTool({
  name: "to_miles",
  description: "Converts kilometres to miles",
  input: { type: "object", properties: { kilometres: { type: "number" } }, required: ["kilometres"] },
  effects: "none",
  execute: ({ kilometres }) => Math.round(kilometres / 1.609344),
});

const agent = defineAgent({ name: "converter", model, tools: [toMiles] });

const result = await run(agent, "How many miles are 42 km?");
console.log(result.text);
for (const entry of result.history) console.log(JSON.stringify(entry));
