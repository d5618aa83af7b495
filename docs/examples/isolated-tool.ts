import { defineAgent, defineTool, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const parse = defineTool({
  name: "parse",
  description: "Extracts the text of a document",
  input: z.object({ pages: z.number() }),
  effects: "none",
  timeoutMs: 60_000,
  isolate: { memoryMb: 32 }, // or `isolate: true` for 256 MB
  execute: ({ pages }) => Array.from({ length: pages }, (_, page) => `Page ${page}`).join("\n"),
});

// The process of a call imports this module too, and must not start another run.
if (import.meta.main) {
  const model = scriptedModel([
    { calls: [{ name: "parse", input: { pages: 3 } }] },
    { calls: [{ name: "parse", input: { pages: 1_000_000_000 } }] },
    { text: "The second document is too large." },
  ]);
  const agent = defineAgent({ name: "reader", model, tools: [parse] });
  const { text, toolCalls } = await run(agent, "Read both.");
  for (const { status, result } of toolCalls) console.log(`${status}: ${result}`);
  console.log(text);
}
