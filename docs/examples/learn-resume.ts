import { defineAgent, defineTool, resume, run } from "capstan";
import { collect, scriptedModel } from "capstan/testing";

let baked = 0;
const bake = defineTool({
  name: "bake",
  description: "Bakes a cake",
  input: {},
  effects: "state",
  execute: () => `Cake number ${++baked} is in the oven.`,
});

const model = scriptedModel(({ history }) =>
  history.at(-1)?.type === "result" ? { text: "Your cake is being baked." } : { calls: [{ name: "bake" }] },
);
const agent = defineAgent({ name: "baker", model, tools: [bake] });
const { facts } = await collect(run(agent, "A cake, please."));

// As if the process had crashed here: only the stored facts remain.
const cut = facts.findIndex(({ type }) => type === "tool_call_result");
const left = JSON.stringify(facts.slice(0, cut + 1));

const result = await resume(agent, JSON.parse(left));
console.log(`${result.text} (${result.turns} turns, ${baked} cake)`);
