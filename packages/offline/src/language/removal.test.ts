import { defineAgent, defineTool, run, type Tool } from "capstan";
import { memory } from "capstan/stores/memory";
import { describe, expect, it } from "vitest";
import { offline } from "../offline.ts";

const text = { type: "string" } as const;

const letters = [
  { id: 1, text: "Frost in May." },
  { id: 2, text: "Frost again, and the garden." },
  { id: 3, text: "Rain at last." },
];

const list = defineTool({
  name: "list_letters",
  description: "Lists all letters.",
  input: { type: "object", properties: {} },
  examples: [{ phrase: "list my letters" }],
  effects: "none",
  execute: () => ({ letters }),
});
const search = defineTool({
  name: "search_letters",
  description: "Finds letters by their words.",
  input: { type: "object", properties: { query: text }, required: ["query"] },
  examples: [{ phrase: "letters about {query}" }, { phrase: "find {query}" }, { phrase: "{query}" }],
  effects: "none",
  execute: ({ query }) => ({
    letters: letters.filter((letter) => letter.text.toLowerCase().includes(query.toLowerCase())),
  }),
});
const add = defineTool({
  name: "add_letter",
  description: "Adds a letter.",
  input: { type: "object", properties: { text }, required: ["text"] },
  examples: [{ phrase: "add a letter: {text}" }, { phrase: "write {text}" }],
  execute: ({ text: said }) => ({ id: 7, text: said }),
});
const remove = defineTool({
  name: "delete_letter",
  description: "Deletes a letter.",
  input: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
  examples: [{ phrase: "delete letter {id}" }, { phrase: "forget letter {id}" }],
  execute: ({ id }) => `Deleted letter ${id}.`,
});
const bare = defineTool({
  name: "delete_letter",
  description: "Deletes a letter.",
  input: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
  execute: ({ id }) => `Deleted letter ${id}.`,
});

const find = defineTool({
  name: "find_boats",
  description: "Finds boats.",
  input: { type: "object", properties: { term: text }, required: ["term"] },
  examples: [{ phrase: "find {term}" }, { phrase: "{term}" }],
  effects: "none",
  execute: () => ({ boats: [{ boatId: 4, name: "Gull" }] }),
});
const pin = defineTool({
  name: "pin",
  description: "Pins a boat: keeps it for later. With remove, takes the pin away.",
  input: {
    type: "object",
    properties: { boatId: { type: "number" }, remove: { type: "boolean", description: "Take the pin away" } },
    required: ["boatId"],
  },
  examples: [{ phrase: "pin {boatId}" }, { phrase: "remove the pin of {boatId}", input: { remove: true } }],
  execute: ({ boatId, remove: isGone }) => ({ boatId, pinned: !isGone }),
});
const pins = defineTool({
  name: "list_pins",
  description: "Lists the boats that are pinned.",
  input: { type: "object", properties: {} },
  examples: [{ phrase: "show my pins" }],
  effects: "none",
  execute: () => ({
    boats: [
      { boatId: 4, name: "Gull" },
      { boatId: 5, name: "Tern" },
    ],
  }),
});

/** Says one thing after the other, and gives the calls and the answer of the last. */
async function talk(tools: readonly Tool[], ...sentences: readonly string[]) {
  const agent = defineAgent({ name: "clerk", model: offline(), tools });
  const options = { store: memory(), session: "s" };
  let last: { readonly calls: readonly unknown[]; readonly text: string } = { calls: [], text: "" };
  for (const sentence of sentences) {
    const { toolCalls, text: answer } = await run(agent, sentence, options);
    last = { calls: toolCalls.map(({ name, input }) => [name, input]), text: answer };
  }
  return last;
}
const post = [list, search, add, remove];
const harbour = [find, pin, pins];

describe("a sentence that takes something away", () => {
  it.each([
    "delete all my pins",
    "remove my pins",
    "clear the pins",
    "forget everything",
    "undo",
    "drop the pin",
    "unpin",
    "get rid of all pins",
  ])("is never done by a tool that adds, nor searched for: %s", async (sentence) => {
    const { calls, text: answer } = await talk(harbour, "pin Gull", sentence);
    expect(calls).toEqual([]);
    expect(answer).toMatch(/cannot|I need to know/);
    expect(answer).toContain("remove the pin of …");
  });

  it.each([
    "undo",
    "forget everything",
    "delete all my letters",
    "delete everything",
    "clear it all",
  ])("that names no certain target does nothing, and suggests a phrase: %s", async (sentence) => {
    const { calls, text: answer } = await talk(post, "list my letters", sentence);
    expect(calls).toEqual([]);
    expect(answer).toMatch(/cannot|I need to know/);
    expect(answer).toContain("delete letter …");
  });

  it("is made by the example that removes", async () => {
    const { calls } = await talk(harbour, "pin Gull", "remove the pin of Gull");
    expect(calls).toEqual([["pin", { boatId: 4, remove: true }]]);
  });

  it.each([
    "delete letter 1",
    "delete letter number 1",
    "delete letter no. 1",
    "please delete the letter #1",
  ])("knows a number by any of its names: %s", async (sentence) => {
    expect((await talk(post, sentence)).calls).toEqual([["delete_letter", { id: 1 }]]);
  });

  it.each([
    ["delete it", 7],
    ["delete that letter", 7],
    ["please remove it", 7],
  ])("removes the item that was just added: %s", async (sentence, id) => {
    const { calls } = await talk(post, "add a letter: more frost", sentence);
    expect(calls).toEqual([["delete_letter", { id }]]);
  });

  it.each([
    ["delete the first one", 1],
    ["delete the second letter", 2],
    ["remove the last one", 3],
  ])("removes the item at a position of the list: %s", async (sentence, id) => {
    expect((await talk(post, "list my letters", sentence)).calls).toEqual([["delete_letter", { id }]]);
    expect((await talk([list, bare], "list my letters", sentence)).calls).toEqual([
      ["delete_letter", { id }],
    ]);
  });

  it("can use a pointer with a tool that also adds if the object is named", async () => {
    const { calls } = await talk(harbour, "show my pins", "remove the second pin");
    expect(calls).toEqual([["pin", { boatId: 5, remove: true }]]);
    const unsaid = await talk(harbour, "show my pins", "remove the second one");
    expect(unsaid.calls).toEqual([]);
    expect(unsaid.text).toContain("remove the pin of …");
  });

  it("knows the numbers that a text tells", async () => {
    const told = { ...list, execute: () => letters.map(({ id, text: said }) => `${id}. ${said}`).join("\n") };
    const kept = { ...add, execute: () => "Kept as 9: frost" };
    const { calls } = await talk([told, kept, remove], "list my letters", "delete the second one");
    expect(calls).toEqual([["delete_letter", { id: 2 }]]);
    const added = await talk([told, kept, remove], "add a letter: frost", "delete it");
    expect(added.calls).toEqual([["delete_letter", { id: 9 }]]);
  });

  it("does not take the id of another kind of thing", async () => {
    const boats = { ...find, execute: () => ({ boats: [{ id: 4, name: "Gull" }] }) };
    const { calls } = await talk([boats, remove], "find gulls", "delete it");
    expect(calls).toEqual([]);
  });

  it.each([
    "delete it",
    "delete them",
    "delete all of them",
  ])("asks which of several, and removes the one named in reply: %s", async (sentence) => {
    const first = await talk(post, "list my letters", sentence);
    expect(first.calls).toEqual([]);
    expect(first.text).toMatch(/Which one do you mean: Frost in May\./);
    const second = await talk(post, "list my letters", sentence, "the second one");
    expect(second.calls).toEqual([["delete_letter", { id: 2 }]]);
  });

  it("searches for its target first", async () => {
    for (const tools of [post, [list, search, bare]]) {
      const { calls, text: answer } = await talk(tools, "delete the letter about the garden");
      expect(calls).toEqual([
        ["search_letters", { query: "garden" }],
        ["delete_letter", { id: 2 }],
      ]);
      expect(answer).toContain("Deleted letter 2.");
    }
  });

  it("asks which, when the search finds several", async () => {
    const { calls, text: answer } = await talk(post, "delete the letter about frost");
    expect(calls).toEqual([["search_letters", { query: "frost" }]]);
    expect(answer).toMatch(/several for "frost"/);
    const bareOne = await talk([list, search, bare], "delete the letter about frost");
    expect(bareOne.calls).toEqual([["search_letters", { query: "frost" }]]);
    expect(bareOne.text).toContain('I have not done this: "delete the letter about frost".');
  });

  it("is reported as not done when nothing is found", async () => {
    const { calls, text: answer } = await talk(post, "delete the letter about submarines");
    expect(calls).toEqual([["search_letters", { query: "submarines" }]]);
    expect(answer).toContain("I have not done this");
    expect(answer).toContain("delete letter …");
  });

  it("is reported as not done next to the completed calls", async () => {
    const { calls, text: answer } = await talk(harbour, "find gulls and delete them all");
    expect(calls).toEqual([["find_boats", { term: "gulls" }]]);
    expect(answer).toContain('I have not done this: "delete them all".');
    const other = await talk(post, "forget everything and list my letters");
    expect(other.calls).toEqual([["list_letters", {}]]);
    expect(other.text).toContain('I have not done this: "forget everything".');
  });

  it("may be a part of a text that is dictated, and of a question", async () => {
    const { calls } = await talk(post, "add a letter: wash the cups and throw the old bread away");
    expect(calls).toEqual([["add_letter", { text: "wash the cups and throw the old bread away" }]]);
    expect((await talk(post, "how do I remove a stain")).calls).toEqual([
      ["search_letters", { query: "remove a stain" }],
    ]);
  });

  it("without a number is made once the number is given", async () => {
    const first = await talk(post, "delete a letter");
    expect(first.calls).toEqual([]);
    expect(first.text).toContain("?");
    expect((await talk(post, "delete a letter", "2")).calls).toEqual([["delete_letter", { id: 2 }]]);
  });
});
