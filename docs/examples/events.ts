import { defineAgent, defineTool, isFact, run } from "capstan";
import { nextStage, type Stage } from "capstan/client";
import { scriptedModel } from "capstan/testing";

const count = defineTool({
  name: "count_words",
  description: "Counts the words in a text",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  effects: "none",
  execute({ text }, { progress }) {
    progress({ read: text.length });
    return { words: text.split(/\s+/).length };
  },
});

const model = scriptedModel([
  { text: "Let me count.", calls: [{ name: "count_words", input: { text: "to be or not to be" } }] },
  { text: "The line has six words.", split: 8 },
]);

const agent = defineAgent({ name: "counter", model, tools: [count] });

let stage: Stage = "idle";
for await (const event of run(agent, "How many words has the line?")) {
  stage = nextStage(stage, event);
  // A fact is stored and has a sequence number; a delta is only displayed.
  const position = isFact(event) ? `#${event.seq}` : "";
  const shown = "delta" in event ? JSON.stringify(event.delta) : "";
  console.log(`${position.padEnd(4)} ${stage.padEnd(10)} ${event.type} ${shown}`.trimEnd());
}
