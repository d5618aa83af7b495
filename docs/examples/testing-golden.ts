import assert from "node:assert/strict";
import { defineAgent, defineTool, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { collect, fakeClock, scriptedModel } from "capstan/testing";

const lookUp = defineTool({
  name: "look_up",
  description: "Looks up a word",
  input: { word: { type: "string", required: true } },
  effects: "none",
  execute: ({ word }) => `${word}: a winch`,
});

const script = [
  { calls: [{ name: "look_up", input: { word: "capstan" } }] },
  { text: "A capstan is a winch.", split: 9 },
] as const;

/** With fixed time and ids, a run emits exactly the same events every time. */
async function play() {
  const agent = defineAgent({ name: "dictionary", model: scriptedModel(script), tools: [lookUp] });
  const options = { store: memory(), session: "s", runId: "r", clock: fakeClock(), timeZone: "UTC" };
  return collect(run(agent, "What is a capstan?", options));
}

const { events, facts } = await play();
assert.deepEqual((await play()).events, events);

// The golden list is short enough to read: the events in order.
const golden = `
run_start, turn_start, message, tool_call_start, tool_call_result, turn_end,
turn_start, content_delta, content_delta, content_delta, message, turn_end, done`;
const seen = events.map(({ type }) => type).filter((type) => type !== "tool_call_delta");
assert.deepEqual(seen, golden.trim().split(/,\s+/));
console.log(`the same ${facts.length} facts, twice`);
