import { defineAgent, defineTool, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const search = defineTool({
  name: "search",
  description: "Searches the archive",
  input: z.object({ query: z.string() }),
  effects: "none",
  execute: ({ query }) => `Nothing about "${query}", but see page ${query.length}.`,
});

// One model searches forever; the other answers when it has no tools left.
const stubborn = scriptedModel((_request, index) => ({
  calls: [{ name: "search", input: { query: `attempt ${index + 1}` } }],
}));
const sensible = scriptedModel(({ toolChoice }, index) =>
  toolChoice === "none"
    ? { text: "I found no more than a hint on page 9." }
    : { calls: [{ name: "search", input: { query: `attempt ${index + 1}` } }] },
);

for (const model of [sensible, stubborn]) {
  const agent = defineAgent({ name: "archivist", model, tools: [search], policy: { maxTurns: 3 } });
  const result = await run(agent, "Where is the treaty?");
  console.log(`${result.status} (${result.error?.code ?? "no error"})\n${result.text}\n`);
}

// The policy of a run overrides the agent's.
const agent = defineAgent({ name: "archivist", model: stubborn, tools: [search], policy: { maxTurns: 3 } });
const result = await run(agent, "Where is the treaty?", {
  policy: { maxTurns: "unlimited", budget: { tokens: 50 } },
});
console.log(`${result.status} (${result.error?.code}): ${result.error?.message}`);
