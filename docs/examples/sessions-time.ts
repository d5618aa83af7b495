import { defineAgent, defineTool, run } from "capstan";
import { difference, formatDifference, rerun, session } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";

const weather = defineTool({
  name: "weather",
  description: "Current weather of a city",
  input: { city: { type: "string", required: true } },
  effects: "none",
  execute: ({ city }) => `${city}: ${city === "Oslo" ? "7 °C, light rain" : "19 °C, sun"}`,
});
const model = scriptedModel(({ history }) => {
  const last = history.at(-1);
  if (last?.type === "result") return { text: `Outside:\n${last.content}` };
  const city = JSON.stringify(last).includes("Rome") ? "Rome" : "Oslo";
  return { calls: [{ name: "weather", input: { city } }] };
});
const agent = defineAgent({ name: "helper", model, tools: [weather] });

const store = memory();
await run(agent, "How is it in Oslo?", { store, session: "weather" });
const before = await session(store, "weather").facts();

// Replays the recorded events at their original pace, or ten times as fast with `speed: 10`. Executes nothing.
for await (const event of session(store, "weather").replay({ deltas: true }))
  if (event.type === "content_delta") console.log(`replayed: ${JSON.stringify(event.delta)}`);

// Forks the session before its last run and asks again with another input.
const again = await rerun(store, { session: "weather", agent, edit: "How is it in Rome?" });
console.log((await again.run).text);

const after = await session(store, again.session).facts();
console.log(formatDifference(difference(before, after)));
