import { defineAgent, defineTool, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const trains = defineTool({
  name: "trains",
  description: "Trains to a city on a day",
  input: z.object({ to: z.string(), day: z.enum(["today", "tomorrow"]) }),
  effects: "none",
  execute({ to }) {
    if (to === "Bregen") throw new Error('There is no city "Bregen". Did you mean "Bergen"?');
    return `To ${to}: 9:05 and 14:30.`;
  },
});

const model = scriptedModel([
  { calls: [{ name: "train", input: { to: "Bergen" } }] }, // no such tool
  { calls: [{ name: "trains", input: { to: "Bergen", day: "some day" } }] }, // violates the schema
  { calls: [{ name: "trains", input: { to: "Bregen", day: "today" } }] }, // the tool throws
  { calls: [{ name: "trains", input: { to: "Bergen", day: "today" } }] },
  { text: "There are trains at 9:05 and 14:30." },
]);

// One attempt: by default a call that throws is retried after a second before the model sees the error.
const agent = defineAgent({ name: "station", model, tools: [trains], policy: { retry: { maxAttempts: 1 } } });
const result = await run(agent, "When can I go to Bergen?");

for (const { status, result: told } of result.toolCalls)
  console.log(`${status}: ${String(told).split("\n")[0]}`);
console.log(`${result.status}: ${result.text}`);
