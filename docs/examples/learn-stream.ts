import { defineAgent, defineTool, isFact, run } from "capstan";
import { scriptedModel } from "capstan/testing";

const dice = defineTool({ name: "dice", description: "Rolls a die", input: {}, execute: () => 4 });
const model = scriptedModel([{ calls: [{ name: "dice" }] }, { text: "You rolled a four.", split: 10 }]);
const agent = defineAgent({ name: "croupier", model, tools: [dice] });

for await (const event of run(agent, "Roll a die.")) {
  if (isFact(event)) console.log(`fact ${event.seq}: ${event.type}`);
  else if (event.type === "content_delta") console.log(`delta: ${event.delta}`);
}
