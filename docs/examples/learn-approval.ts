import { defineAgent, defineTool, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const buy = defineTool({
  name: "buy",
  description: "Buys something",
  input: z.object({ what: z.string(), euros: z.number() }),
  effects: "send",
  needsApproval: ({ euros }) => euros > 50 && `It costs ${euros} euros.`,
  execute: ({ what }) => `Bought: ${what}.`,
});

const model = scriptedModel([
  { calls: [{ name: "buy", input: { what: "a boat", euros: 9000 } }] },
  { text: "I have not bought the boat." },
]);

const shopping = run(defineAgent({ name: "shopper", model, tools: [buy] }), "I feel like sailing.");
const waiting = await shopping;
for (const { callId, name, reason } of waiting.pending) {
  console.log(`${waiting.status}: may I ${name}? ${reason}`);
  shopping.deny(callId, "rent one first.");
}
const result = await shopping;
console.log(`${result.status}: ${result.text}`);
