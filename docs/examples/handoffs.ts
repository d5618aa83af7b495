import { defineAgent, defineTool, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const search = defineTool({
  name: "search",
  description: "Searches the documents",
  input: z.object({ query: z.string() }),
  effects: "none",
  execute: ({ query }) => `Two pages about ${query}: the queue retries, the cache does not.`,
});

const research = defineAgent({
  name: "research",
  instructions: "You find things out. Always search.",
  tools: [search],
  model: scriptedModel([
    { calls: [{ name: "search", input: { query: "retries" } }] },
    { text: "Only the queue retries." },
  ]),
});

const desk = defineAgent({
  name: "desk",
  instructions: "You answer users. Hand off questions about the system to research.",
  handoffs: [research],
  model: scriptedModel([
    { calls: [{ name: "handoff", input: { agent: "research", message: "Which of them retry?" } }] },
    { calls: [{ name: "handoff", input: { agent: "billing" } }] },
    { text: "The queue retries, the cache does not." },
  ]),
});

const asked = run(desk, "Do the queue and the cache retry?");
for await (const event of asked) {
  if (event.type === "turn_start") console.log(`turn ${event.turn}: ${event.agent}`);
  if (event.type === "handoff") console.log(`  ${event.from} -> ${event.to}: ${event.message}`);
  if (event.type === "handoff_return") console.log(`  ${event.from} -> ${event.to}: ${event.text}`);
  if (event.type === "handoff_denied") console.log(`  denied: ${event.reason}`);
}
console.log((await asked).text);
