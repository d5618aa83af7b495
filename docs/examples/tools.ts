import { defineAgent, defineTool, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const flights = Array.from({ length: 500 }, (_, index) => ({
  flight: `HX${100 + index}`,
  gate: `B${index % 40}`,
}));

const departures = defineTool({
  name: "departures",
  description: "Departures of a day",
  input: z.object({ day: z.enum(["today", "tomorrow"]), airlines: z.array(z.string()).optional() }),
  effects: "none",
  cacheMs: 60_000,
  // `content` or `data` is for the model, `ui` for the user.
  execute: () => ({ data: flights, ui: { kind: "table", props: { rows: flights } } }),
});

const model = scriptedModel([
  // A trailing comma, the wrong case, a string instead of a list: unambiguous, so they are repaired.
  { calls: [{ name: "departures", arguments: '{"day": "Today", "airlines": "HX",}' }] },
  { calls: [{ name: "departures", input: { day: "today", airlines: ["HX"] } }] },
  { calls: [{ name: "read_result", input: { handle: "blob_1", from: 14_000, length: 60 } }] },
  { text: "500 departures, the last from gate B19." },
]);

const agent = defineAgent({ name: "airport", model, tools: [departures] });
const running = run(agent, "What leaves today?");

for await (const event of running) {
  if (event.type === "warning") console.log(`${event.code}: ${event.message}`);
  if (event.type !== "tool_call_result") continue;
  const shown = String(event.result);
  console.log(
    `${event.name}${event.cached ? " (cached)" : ""}: ${shown.length} characters, ${shown.slice(-60)}`,
  );
}
console.log((await running).text);
