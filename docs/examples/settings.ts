import { defineAgent, defineTool, run } from "capstan";
import { scriptedModel } from "capstan/testing";

const search = defineTool({
  name: "search",
  description: "Finds pages with these words",
  input: { words: { type: "string" } },
  effects: "none",
  execute: () => "Leave: 30 days.",
});
const model = scriptedModel([
  { calls: [{ name: "search", input: { words: "leave" } }] },
  { text: "30 days." },
]);

const clerk = defineAgent({
  name: "clerk",
  model, // for example "openai/gpt-5-mini"
  tools: [search],
  // The first turn has to search and needs no reasoning; the answer does.
  settings: ({ turn }) =>
    turn === 1 ? { effort: "none", toolChoice: { tool: "search" } } : { effort: "medium" },
});

// Settings of a run win over those of its agent.
const question = run(clerk, "How much leave do I have?", { settings: { maxOutputTokens: 500 } });
for await (const event of question) {
  if (event.type === "message") console.log(`turn ${event.turn}:`, event.settings);
  if (event.type === "done") console.log(event.text);
}
