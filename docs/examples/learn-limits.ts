import { defineAgent, defineTool, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const search = defineTool({
  name: "search",
  description: "Searches the archive",
  input: z.object({ words: z.string() }),
  effects: "none",
  execute: ({ words }) => `Nothing about "${words}".`,
});

// Searches forever; answers only when it has no tools left.
const model = scriptedModel(({ tools }, index) =>
  tools.length > 0
    ? { calls: [{ name: "search", input: { words: `treaty ${index}` } }] }
    : { text: "The archive does not have it." },
);
const agent = defineAgent({ name: "archivist", model, tools: [search], policy: { maxTurns: 4 } });
const { status, text } = await run(agent, "Where is the treaty?");

for (const [index, { instructions, tools }] of model.requests.entries())
  console.log(`turn ${index + 1}, tools: ${tools.length}. ${instructions.split(". ")[0]}`.trimEnd());
console.log(`${status}: ${text}`);

// A model that does not answer even then: the run ends with a reason and a text.
const stubborn = scriptedModel((_, index) => ({
  calls: [{ name: "search", input: { words: `treaty ${index}` } }],
}));
const ended = await run(defineAgent({ name: "mule", model: stubborn, tools: [search] }), "Where is it?", {
  policy: { maxTurns: 2 },
});
console.log(`${ended.status} (${ended.error?.code}): ${ended.text.split("\n")[0]}`);
