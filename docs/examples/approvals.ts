import { defineAgent, defineTool, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const pay = defineTool({
  name: "pay",
  description: "Pays a bill",
  input: z.object({ to: z.string(), euros: z.number() }),
  effects: "send",
  needsApproval: ({ to, euros }) => euros > 100 && `${euros} euros to ${to} is above the limit.`,
  execute: ({ to, euros }) => `Paid ${euros} euros to ${to}.`,
});

const model = scriptedModel([
  {
    calls: [
      { name: "pay", input: { to: "the baker", euros: 12 } },
      { name: "pay", input: { to: "the roofer", euros: 900 } },
      { name: "pay", input: { to: "a stranger", euros: 5000 } },
    ],
  },
  { text: "The baker and the roofer are paid; the stranger is not." },
]);

const agent = defineAgent({ name: "clerk", model, tools: [pay] });

const paying = run(agent, "Pay the bills.");
const asked = await paying;
console.log(asked.status);

// A real program would show these to a user, now or tomorrow.
for (const { callId, reason, input } of asked.pending) {
  console.log(`May I? ${reason} ${JSON.stringify(input)}`);
  if (reason.includes("roofer")) paying.approve(callId);
  else paying.deny(callId, "we do not know them.");
}

const result = await paying;
for (const call of result.toolCalls) console.log(`${call.status}: ${call.result}`);
console.log(result.text);
