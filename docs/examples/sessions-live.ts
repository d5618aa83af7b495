import { defineAgent, run } from "capstan";
import { subscribe } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";

const agent = defineAgent({ name: "poet", model: scriptedModel([{ text: "Rain, and a lamp." }]) });
const store = memory();
const writing = run(agent, "A line, please.", { store, session: "poems", runId: "poem" });

// Reads the session, whichever process runs it. A reader remembers the last `seq` it received.
let lastSeq = 0;
for await (const event of subscribe(store, { sessionId: "poems" })) {
  if ("seq" in event) lastSeq = event.seq;
  if (event.type === "turn_start") break;
}
console.log(`disconnected after ${lastSeq}`);
await writing;

// Reconnects later and receives exactly the missed events.
for await (const event of subscribe(store, { runId: "poem", after: lastSeq }))
  if ("seq" in event) console.log(`#${event.seq} ${event.type}`);
