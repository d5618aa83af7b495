// An agent with many tools: only a few are sent, the others are found with `search_tools` when they are needed.
import assert from "node:assert/strict";
import { defineAgent, defineTool, run } from "capstan";
import { scriptedModel } from "capstan/testing";

const refund = defineTool({
  name: "refund_payment",
  description: "Refunds a payment in full or in part.",
  input: { payment: { type: "string" } },
  effects: "send",
  needsApproval: true,
  defer: true, // not sent until the model has found it
  execute: ({ payment }) => `Refunded ${payment}.`,
});
const clock = defineTool({
  name: "get_time",
  description: "Tells the time.",
  input: {},
  effects: "none",
  execute: () => "It is noon.",
});
const model = scriptedModel([
  { calls: [{ name: "search_tools", input: { query: "refund a payment" } }] },
  { calls: [{ name: "refund_payment", input: { payment: "p-17" } }] },
  { text: "Payment p-17 is refunded." },
]);
const agent = defineAgent({ name: "clerk", model, tools: [refund, clock] });

const running = run(agent, "Please give the customer of p-17 the money back.");
const { pending } = await running;
// A tool that was found needs the same approval as any other.
const [call] = pending;
assert.equal(call?.name, "refund_payment");
const { text } = await running.approve(call.callId);
console.log(text);

// The tools of each request: what is found is added at the end.
for (const { tools } of model.requests) console.log(tools.map(({ name }) => name).join(", "));
assert.deepEqual(
  model.requests.map(({ tools }) => tools.length),
  [3, 4, 4],
);
