import type { Chunk, Entry } from "capstan";
import { scriptedModel } from "capstan/testing";

// A stand-in for a language model, which needs no API key. A real model is called the same way.
const model = scriptedModel([{ text: "You said that your name is Ada." }, { text: "I do not know it." }]);

async function ask(history: readonly Entry[]): Promise<string> {
  const request = {
    instructions: "Answer in one sentence.",
    history,
    tools: [],
    toolChoice: "none",
    thinking: false,
  } as const;
  const said: Chunk[] = [];
  for await (const chunks of model.stream(request, { signal: AbortSignal.timeout(60_000) }))
    said.push(...chunks);
  return said.map((chunk) => (chunk.type === "text" ? chunk.text : "")).join("");
}

const question: Entry = { type: "user", content: "What is my name?" };
console.log(await ask([{ type: "user", content: "My name is Ada." }, question]));
// A model has no memory: it knows only what is in the request.
console.log(await ask([question]));
