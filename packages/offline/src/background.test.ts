import { agentTool, defineAgent, defineTool, run } from "capstan";
import { expect, it } from "vitest";
import { offline } from "./offline.ts";

const answered = Promise.withResolvers<void>();
const weather = defineTool({
  name: "weather",
  description: "Current weather of a city",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  effects: "none",
  reads: ["public"],
  examples: [{ phrase: "weather in {city}" }],
  execute: ({ city }) => answered.promise.then(() => `${city}: 7 °C, light rain`),
});

it("the offline model says that work is in the background, and later its result", async () => {
  const research = defineAgent({ name: "research", model: offline(), tools: [weather] });
  const tools = [agentTool(research, { background: true })];
  const main = defineAgent({ name: "main", model: offline(), tools });
  const handle = run(main, "Please research the weather in Oslo");
  const texts: string[] = [];
  for await (const event of handle)
    if (event.type === "message" && event.parentRunId === undefined)
      for (const part of event.entry.parts)
        if (part.type === "text") {
          texts.push(part.text);
          answered.resolve();
        }
  expect(texts).toEqual([
    '"research" works in the background. Its result follows.',
    "Oslo: 7 °C, light rain",
  ]);
  expect((await handle).status).toBe("done");
});
