import { defineAgent, defineTool } from "capstan";
import { defaultModel } from "capstan/models";

/** Orders of the shop. Replace this with your database. */
const orders = new Map([
  ["A17", { item: "desk lamp", status: "on its way", arrives: "2026-11-18" }],
  ["B42", { item: "office chair", status: "in production", arrives: "2026-12-04" }],
]);

const findOrder = defineTool({
  name: "find_order",
  description: "Finds an order by its number.",
  input: {
    type: "object",
    properties: { number: { type: "string", description: "such as A17" } },
    required: ["number"],
  },
  // Example prompts. Every model sees them; the offline model matches sentences against them.
  examples: [{ phrase: "Where is order {number}?" }, { phrase: "When does {number} arrive?" }],
  effects: "none",
  execute: ({ number }) => orders.get(number) ?? { error: `There is no order ${number}.` },
});

const cancelOrder = defineTool({
  name: "cancel_order",
  description: "Cancels an order.",
  input: { type: "object", properties: { number: { type: "string" } }, required: ["number"] },
  examples: [{ phrase: "Cancel order {number}" }],
  effects: "state",
  // The run waits until a person has decided, also across a restart.
  needsApproval: true,
  execute: ({ number }) => (orders.delete(number) ? `Cancelled ${number}.` : { error: "No such order." }),
});

export const support = defineAgent({
  name: "support",
  model: await defaultModel(),
  instructions: "You answer questions about orders. Look an order up before you speak about it.",
  tools: [findOrder, cancelOrder],
});
