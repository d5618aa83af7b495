// From the AI SDK: a loop with tools, a step limit, streamed text, and messages stored between requests.
import { defineAgent, defineTool, run } from "capstan";
import { sqlite } from "capstan/stores/sqlite";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const weather = defineTool({
  name: "weather", // `tools` is a list, so each tool has a name
  description: "Current weather of a city",
  input: z.object({ city: z.string() }), // was `inputSchema`
  effects: "none", // new: the side effects
  execute: ({ city }) => ({ city, degrees: 7 }),
});

const agent = defineAgent({
  name: "helper",
  model: scriptedModel([
    { calls: [{ name: "weather", input: { city: "Oslo" } }] },
    { text: "It is 7 °C in Oslo." },
    { text: "Oslo, as you asked before." },
  ]), // yours: "openai/gpt-5-mini", or `fromAiSdk(model)` with the one you have
  instructions: "Answer briefly.",
  tools: [weather],
  policy: { maxTurns: 5 }, // was `stopWhen: isStepCount(5)`
});

// The store keeps the messages: a request has the session's name and the new input.
const store = sqlite(":memory:");
const first = run(agent, "How is the weather in Oslo?", { store, session: "chat-1" });
for await (const event of first) if (event.type === "content_delta") process.stdout.write(event.delta);
console.log();
const { toolCalls } = await first; // was `result.steps.flatMap((step) => step.toolResults)`
console.log(toolCalls.map(({ name, status }) => `${name}: ${status}`).join(", "));

const second = await run(agent, "Which city was it?", { store, session: "chat-1" });
console.log(second.text, `(${second.history.length} entries)`);
await store.close();
