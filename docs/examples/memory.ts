// An agent that remembers: one session saves, the next one finds it. Works without a key.
import assert from "node:assert/strict";
import { memoryTools } from "@capstan/tools";
import { defineAgent, run } from "capstan";
import { listMemories, removeMemories } from "capstan/memories";
import { offline } from "capstan/models";
import { sqlite } from "capstan/stores/sqlite";

const store = sqlite(":memory:");
const agent = defineAgent({
  name: "assistant",
  model: offline(), // any model; Claude gets Anthropic's own memory tool
  tools: [...memoryTools({ scope: "user" })],
});

await run(agent, "Remember that my dog is called Rex.", { store, session: "ada~monday" });
const { text } = await run(agent, "What do you remember about my dog?", { store, session: "ada~friday" });
console.log(text);

// The part of a session id before "~" is the user. Another user has other memories.
const other = await run(agent, "What do you remember about my dog?", { store, session: "bob~friday" });
console.log(other.text);

for (const { path, provenance, excerpt } of await listMemories(store, "ada", { query: "REX" }))
  console.log(`${path}, written by the ${provenance}: ${excerpt}`);
console.log(`Deleted: ${await removeMemories(store, "ada")}`);
assert.deepEqual(await listMemories(store, "ada"), []);
