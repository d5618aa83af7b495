import { defineAgent, run } from "capstan";
import { subscribe } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";

const agent = defineAgent({ name: "poet", model: scriptedModel([{ text: "Rain, and a lamp." }]) });
const store = memory();
const writing = run(agent, "A line, please.", { store, session: "poems", runId: "poem" });

// Reads the session, wherever its run is at work. A reader that is cut off remembers the last `seq` it has seen.
let seen = 0;
for await (const event of subscribe(store, { sessionId: "poems" })) {
  if ("seq" in event) seen = event.seq;
  if (event.type === "turn_start") break;
}
console.log(`cut off after ${seen}`);
await writing;

// Comes back later, and gets exactly what it has missed.
for await (const event of subscribe(store, { runId: "poem", after: seen }))
  if ("seq" in event) console.log(`#${event.seq} ${event.type}`);
