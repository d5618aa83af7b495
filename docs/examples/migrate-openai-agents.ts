// From the OpenAI Agents SDK: a handoff to a specialist, and an approval given later by another process.
import { defineAgent, defineTool, resume, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const refund = defineTool({
  name: "refund",
  description: "Pays an order back",
  input: z.object({ order: z.string(), euros: z.number() }), // was `parameters`
  effects: "send",
  needsApproval: ({ euros }) => euros > 50 && `${euros} euros is above the limit.`, // a string is the reason
  execute: ({ order }) => `${order} is paid back.`,
});

const billing = defineAgent({
  name: "billing",
  instructions: "You refund orders if the customer has a reason.",
  model: scriptedModel([
    { calls: [{ name: "refund", input: { order: "B-17", euros: 90 } }] },
    { text: "B-17 is paid back." },
  ]),
  tools: [refund],
});
const triage = defineAgent({
  name: "triage",
  model: scriptedModel([{ calls: [{ name: "handoff", input: { agent: "billing" } }] }]),
  instructions: "Leave refunds to billing.", // was also in `handoffDescription`
  handoffs: [billing],
  policy: { handoff: { mode: "transfer" } }, // the specialist stays in charge, as there
});

const store = memory(); // yours: `sqlite("capstan.db")` or `postgres(pool)`
const { runId, pending } = await run(triage, "I want my money back for B-17.", { store });
for (const { name, reason } of pending) console.log(`${name}: ${reason}`); // was `result.interruptions`

// No manual serialization: any process with the store can resume. Was `RunState.fromString` and `run(agent, state)`.
const resumed = resume(triage, { store, runId });
const result = await resumed.approve(pending[0]?.callId ?? "");
console.log(`${result.status}: ${result.text}`); // was `result.finalOutput`
