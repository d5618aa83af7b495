import assert from "node:assert/strict";
import { defineAgent, defineTool, run } from "capstan";
import { collect, fakeClock, scriptedModel } from "capstan/testing";

// Fails once, then works.
let calls = 0;
const stock = defineTool({
  name: "stock",
  description: "How many of an article are in stock",
  input: { type: "object", properties: { article: { type: "string" } }, required: ["article"] },
  effects: "none",
  execute() {
    calls += 1;
    if (calls === 1) throw new Error("The warehouse does not answer.");
    return { pieces: 3 };
  },
});

const model = scriptedModel([
  { calls: [{ name: "stock", input: { article: "lamp" } }] },
  { text: "Three are left." },
]);
const agent = defineAgent({ name: "shop", model, instructions: "Be brief.", tools: [stock] });

// The clock skips waits, so the pause before the retry takes no time.
const { events, result } = await collect(
  run(agent, "Any lamps?", { clock: fakeClock({ skipUpToMs: 5000 }) }),
);

assert.equal(result.text, "Three are left.");
assert.equal(result.toolCalls[0]?.attempts, 2);
// The requests to the model.
assert.equal(model.requests[0]?.instructions, "Be brief.");
assert.deepEqual(
  model.requests[1]?.history.map((entry) => entry.type),
  ["user", "assistant", "result"],
);
// The events for the user.
assert.deepEqual(
  events.map((event) => event.type).filter((type) => type === "retry" || type === "done"),
  ["retry", "done"],
);
console.log("all as expected");
