import { defineAgent, defineTool, run, type Tool } from "capstan";
import { memory } from "capstan/stores/memory";
import { describe, expect, it } from "vitest";
import { offline } from "../offline.ts";

const text = { type: "string" } as const;

const write = defineTool({
  name: "write_letter",
  description: "Writes a letter.",
  input: { type: "object", properties: { path: text, content: text }, required: ["path", "content"] },
  examples: [{ phrase: "create {path} with {content}" }],
  execute: () => "Written.",
});
const keep = defineTool({
  name: "add_wish",
  description: "Adds a wish.",
  input: { type: "object", properties: { text }, required: ["text"] },
  examples: [{ phrase: "I wish that {text}" }],
  execute: () => "Kept.",
});
const find = defineTool({
  name: "find_boats",
  description: "Finds boats.",
  input: { type: "object", properties: { kind: text, near: text }, required: ["kind"] },
  examples: [
    { phrase: "nearest {kind} to {near}" },
    { phrase: "nearest {kind} near {near}" },
    { phrase: "{kind} near {near}" },
  ],
  effects: "none",
  execute: () => "None.",
});

async function callsFor(tool: Tool, sentence: string) {
  const agent = defineAgent({ name: "clerk", model: offline(), tools: [tool] });
  const { toolCalls } = await run(agent, sentence, { store: memory(), session: "s" });
  return toolCalls.map(({ input }) => input);
}

describe("a text that is dictated", () => {
  it.each([
    ["create a.txt with hello world", "hello world"],
    ["create a.txt with the content hello world", "hello world"],
    ["create a.txt with the text: hello world", "hello world"],
    ["create a.txt with text: hello", "hello"],
    ["create a.txt with the following text: hello", "hello"],
    ["create a.txt containing hi", "hi"],
    ["create a.txt that says hi", "hi"],
    ["create a.txt saying hi Ada", "hi Ada"],
    ["create a.txt with the sea", "the sea"],
    ["create a.txt with text messages", "text messages"],
  ])("excludes the phrase that introduces it: %s", async (sentence, content) => {
    expect(await callsFor(write, sentence)).toEqual([{ path: "a.txt", content }]);
  });

  it.each([
    ["add buy eggs to my wishes", "buy eggs"],
    ["I wish that it rains to my wish list", "it rains to my wish list"],
    ["I wish that it rains", "it rains"],
    ["I wish that I get to the sea", "I get to the sea"],
    ["add the message board to my wishes", "message board"],
  ])("has nothing of where it is to be put: %s", async (sentence, said) => {
    expect(await callsFor(keep, sentence)).toEqual([{ text: said }]);
  });
});

describe("another word for the same", () => {
  it.each([
    "nearest ketch to Malta",
    "closest ketch to Malta",
    "the closest ketch near Malta",
    "ketch around Malta",
  ])("fits an example that is not a verb too: %s", async (sentence) => {
    expect(await callsFor(find, sentence)).toEqual([{ kind: "ketch", near: "Malta" }]);
  });
});
