// A stdio server for tests that prints a lot. None of it must reach the protocol on stdout.
import { defineAgent, defineTool } from "capstan";
import { readableLog } from "capstan/logs";
import { scriptedModel } from "capstan/testing";
import { serveMcp } from "../serve-mcp.ts";

const weather = defineTool({
  name: "weather",
  description: "The weather in a city.",
  input: { city: { type: "string" } },
  effects: "none",
  execute({ city }) {
    // biome-ignore lint/suspicious/noConsole: a tool that should not, and does
    console.log("looking out of the window");
    process.stdout.write("no line end");
    return `Rain in ${city}.`;
  },
});

const model = scriptedModel((request) => {
  const last = request.history.at(-1);
  if (last?.type === "result") return { text: `It says: ${JSON.stringify(last.content)}`, delayMs: 100 };
  return { calls: [{ name: "weather", input: { city: "Oslo" } }] };
});

const service = serveMcp({
  agents: [defineAgent({ name: "weatherman", model, tools: [weather] })],
  onEvent: readableLog((line) => void process.stdout.write(line)),
});
const { closed } = service.stdio();
// biome-ignore lint/suspicious/noConsole: see above
console.info("serving");
// biome-ignore lint/suspicious/noConsole: see above
console.debug("at debug level");
await closed;
process.stdout.write("AFTER\n");
