import { agentTool, defineAgent, defineTool, isFact, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const order = defineTool({
  name: "order",
  description: "Orders books",
  input: z.object({ title: z.string() }),
  effects: "send",
  needsApproval: true,
  execute: ({ title }) => `Ordered: ${title}.`,
});

const librarian = defineAgent({
  name: "librarian",
  model: scriptedModel([
    { calls: [{ name: "order", input: { title: "Moby-Dick" } }] },
    { text: "Moby-Dick is on its way." },
  ]),
  instructions: "You find books and order them.",
  tools: [order],
});

const clerk = defineAgent({
  name: "clerk",
  model: scriptedModel([
    { calls: [{ name: "librarian", input: { prompt: "Order the book about the white whale." } }] },
    { text: "You get it on Friday." },
  ]),
  // Each call is a nested run with its own turns and tools, within the clerk's budget.
  tools: [agentTool(librarian, { maxTurns: 3, description: "Knows and orders books" })],
  policy: { budget: { tokens: 20_000 } },
});

const clerking = run(clerk, "I want that book about the whale.");
for await (const event of clerking) {
  const depth = event.parentRunId === undefined ? "" : "  ";
  if (isFact(event)) console.log(`${depth}${event.agent} ${event.turn} ${event.type}`);
  // Approvals of the nested run are pending in the clerk's run and answered there.
  if (event.type === "approval_required") clerking.approve(event.callId);
}

const { text, usage, toolCalls } = await clerking;
console.log(toolCalls.map(({ name, result }) => `${name}: ${result}`).join());
console.log(`${text} (${usage.inputTokens + usage.outputTokens} tokens by both)`);
