import { defineAgent, run } from "capstan";
import { local } from "capstan/engines/local";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";

const model = scriptedModel([{ text: "Packed." }, { text: "Labeled." }, { text: "Both are on their way." }]);
const agent = defineAgent({ name: "depot", model });

// In the library: the second run waits for the first one.
const store = memory();
const packing = run(agent, "Pack it.", { store, session: "order-1" });
const labeling = run(agent, "Label it.", { store, session: "order-1" });
console.log((await packing).text, (await labeling).text);

// On a store that outlives the process: the message is stored, and any process starts its run.
const engine = local({ store, agents: agent });
const { runId, state } = await engine.enqueue(agent, "Where are they?", { session: "order-1" });
console.log(state, (await engine.open(runId)).text);
await engine.close();
