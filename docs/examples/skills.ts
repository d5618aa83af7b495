// Agent Skills: the instructions have names and descriptions, and the model loads a text when a task needs it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { skills } from "@capstan/tools";
import { defineAgent, run } from "capstan";
import { scriptedModel } from "capstan/testing";

const model = scriptedModel([
  { calls: [{ name: "load_skill", input: { name: "release-notes" } }] },
  { calls: [{ name: "load_skill", input: { name: "release-notes", file: "references/style.md" } }] },
  { text: "- Export a session as HTML." },
]);
const agent = defineAgent({
  name: "writer",
  model,
  instructions: "You help a software team.",
  tools: [skills({ folders: [join(import.meta.dirname, "skills")] })],
});

const { text, toolCalls } = await run(agent, "Write the release notes.");
console.log(model.requests[0]?.instructions);
for (const { name, input } of toolCalls) console.log(name, JSON.stringify(input));
console.log(text);

assert.equal(toolCalls.length, 2);
// Every request starts with the same instructions, so that providers can cache them.
assert.equal(new Set(model.requests.map(({ instructions }) => instructions)).size, 1);
