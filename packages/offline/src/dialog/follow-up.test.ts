import { defineAgent, defineTool, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { describe, expect, it } from "vitest";
import { offline } from "../offline.ts";

const text = { type: "string" } as const;

const keep = defineTool({
  name: "keep_letter",
  description: "Puts a letter into a drawer.",
  input: {
    type: "object",
    properties: { path: text, content: text },
    required: ["path", "content"],
  },
  examples: [{ phrase: "put into {path} the words {content}" }],
  effects: "none",
  execute: () => "Kept.",
});

const ends = defineTool({
  name: "list_letters",
  description: "Lists letters.",
  input: { type: "object", properties: { glob: text } },
  examples: [{ phrase: "are there any {ending} letters", input: { glob: "*.{ending}" } }],
  effects: "none",
  execute: () => "None.",
});

const search = defineTool({
  name: "search_letters",
  description: "Finds words in letters.",
  input: { type: "object", properties: { query: text, glob: text }, required: ["query"] },
  examples: [
    { phrase: "search for {query}" },
    { phrase: "search for {query} in {file}", input: { glob: "{file}" } },
  ],
  effects: "none",
  execute: () => "Found.",
});

async function callsFor(...sentences: readonly string[]) {
  const agent = defineAgent({ name: "clerk", model: offline(), tools: [keep, ends, search] });
  const options = { store: memory(), session: "s" };
  let calls: unknown[] = [];
  for (const sentence of sentences)
    calls = (await run(agent, sentence, options)).toolCalls.map(({ name, input }) => [name, input]);
  return calls;
}

describe("a follow-up to the previous sentence", () => {
  it("that replaces every part uses only the new parts", async () => {
    const calls = await callsFor("Put into a.txt the words good day", "and b.txt the words good night");
    expect(calls).toEqual([["keep_letter", { path: "b.txt", content: "good night" }]]);
  });

  it("never does something to the file before when it names another one", async () => {
    const calls = await callsFor("Put into a.txt the words good day", "and b.txt good night");
    expect(calls).toEqual([]);
  });
});

describe("the value of a slot", () => {
  it("that is a part of a value is one word, and no verb", async () => {
    expect(await callsFor("Any pdf letters?")).toEqual([["list_letters", { glob: "*.pdf" }]]);
    expect(await callsFor("create letters")).toEqual([]);
  });

  it("that is named like a file is the name of one", async () => {
    expect(await callsFor("search for frost in may.txt")).toEqual([
      ["search_letters", { query: "frost", glob: "may.txt" }],
    ]);
    expect(await callsFor("search for frost in May")).toEqual([
      ["search_letters", { query: "frost in May" }],
    ]);
  });
});
