import { type AgentDefinition, defineAgent, defineTool, run, standardInstructions, type Tool } from "capstan";
import { memory } from "capstan/stores/memory";
import { describe, expect, it } from "vitest";
import { offline } from "../offline.ts";

const text = { type: "string" } as const;

async function ask(tools: readonly Tool[], sentence: string, more: Partial<AgentDefinition> = {}) {
  const agent = defineAgent({
    name: "clerk",
    model: offline(),
    instructions: standardInstructions("You keep the letters."),
    tools,
    ...more,
  });
  const result = await run(agent, sentence, { store: memory(), session: "s" });
  return { ...result, calls: result.toolCalls.map(({ name, input }) => [name, input]) };
}

const letters = ["Frost in May.", "Frost again.", "Late frost.", "Rain at last."].map((content, at) => ({
  id: `l${at}`,
  content,
  source: { title: `Letter ${at + 1}` },
}));
const find = defineTool({
  name: "find_letters",
  description: "Finds letters, two at a time.",
  input: { type: "object", properties: { query: text, page: { type: "integer" } }, required: ["query"] },
  examples: [
    { phrase: "letters about {query}" },
    { phrase: "summarize all letters about {query}" },
    { phrase: "{query}" },
  ],
  effects: "none",
  execute({ query, page = 1 }) {
    const shown = letters.slice(2 * page - 2, 2 * page);
    return {
      message: `${shown.length} letters.`,
      data: {
        letters: shown.map(({ id, source }) => ({ id, title: source.title })),
        ...(page === 1 && { next: { query, page: 2 } }),
      },
      contexts: shown,
    };
  },
});
const drop = defineTool({
  name: "clear_letters",
  description: "Throws all letters away.",
  input: { type: "object", properties: {} },
  execute: () => "Gone.",
});

describe("a result with more pages", () => {
  it("is read to the end for requests for everything or for a summary, and cited", async () => {
    const { calls, text: answer } = await ask([find], "Summarize all letters about frost");
    expect(calls).toEqual([
      ["find_letters", { query: "frost" }],
      ["find_letters", { query: "frost", page: 2 }],
    ]);
    for (const number of [1, 2, 3]) expect(answer).toContain(`[${number}]`);
  });

  it("is not read further otherwise", async () => {
    const { calls } = await ask([find], "letters about frost");
    expect(calls).toEqual([["find_letters", { query: "frost" }]]);
  });
});

describe("a handoff", () => {
  const specialist = defineAgent({
    name: "historian",
    model: offline(),
    instructions: standardInstructions("You compare."),
    tools: [find],
  });
  const instructions = standardInstructions("You keep the letters.", {
    constraints: "- historian: Compares letters of several years.",
  });

  it("goes to the agent whose description matches; its answer is passed on with its citations", async () => {
    const { calls, text: answer } = await ask([], "Compare the frost of these years", {
      instructions,
      handoffs: [specialist],
    });
    expect(calls).toContainEqual([
      "handoff",
      { agent: "historian", message: "Compare the frost of these years" },
    ]);
    expect(calls).toContainEqual(["find_letters", { query: "Compare the frost of these years" }]);
    expect(answer).toContain("[1]");
    expect(answer).not.toContain("You are now");
  });

  it("is not made when a tool matches the sentence", async () => {
    const { calls } = await ask([find], "letters about frost", { instructions, handoffs: [specialist] });
    expect(calls.map(([name]) => name)).toEqual(["find_letters"]);
  });
});

describe("a text with a gap in an example", () => {
  const files = new Map([["song.txt", "verse two (slow):\nla la\n"]]);
  const read = defineTool({
    name: "read_song",
    description: "Reads a song.",
    input: { type: "object", properties: { path: text }, required: ["path"] },
    examples: [{ phrase: "read {path}" }],
    effects: "none",
    execute: ({ path }) => files.get(path) ?? "",
  });
  const edit = defineTool({
    name: "edit_song",
    description: "Replaces a line of a song.",
    input: {
      type: "object",
      properties: { path: text, old: text, new: text },
      required: ["path", "old", "new"],
    },
    examples: [
      {
        phrase: "put {line} under verse {number} in {path}",
        input: { old: "verse {number} (…):", new: "verse {number} (…):\n{line}" },
      },
    ],
    execute: ({ path, old, new: text }) => {
      files.set(path, (files.get(path) ?? "").replace(old, text));
      return { message: `Changed ${path}.` };
    },
  });

  it("is filled from the file, which is read first", async () => {
    const { calls, text: answer } = await ask([read, edit], 'Put "oh yes" under verse two in song.txt');
    expect(calls).toEqual([
      ["read_song", { path: "song.txt" }],
      ["edit_song", { path: "song.txt", old: "verse two (slow):", new: "verse two (slow):\noh yes" }],
    ]);
    expect(answer).toBe("Changed song.txt.");
    expect(files.get("song.txt")).toBe("verse two (slow):\noh yes\nla la\n");
  });

  it("that is not in the file changes nothing, and the answer reports it", async () => {
    const { calls, text: answer } = await ask([read, edit], 'Put "oh no" under verse nine in song.txt');
    expect(calls).toEqual([["read_song", { path: "song.txt" }]]);
    expect(answer).toBe('"verse nine (…):" is not in song.txt, so nothing was changed.');
  });
});

describe("negated and polite requests", () => {
  it.each([
    "What letters are there?",
    "my letters",
    "Are the letters safe?",
  ])("changes nothing because of a word of its name: %s", async (sentence) => {
    expect((await ask([drop], sentence)).calls).toEqual([]);
  });

  it.each([
    "Should I clear the letters?",
    "Can I clear the letters?",
    "May we clear the letters?",
  ])("changes nothing for a question whether to: %s", async (sentence) => {
    expect((await ask([drop], sentence)).calls).toEqual([]);
  });

  it("follows polite requests", async () => {
    expect((await ask([drop], "Could you clear the letters?")).calls).toEqual([["clear_letters", {}]]);
  });

  it.each([
    "Don't clear the letters",
    "please do not clear the letters.",
    "I don't want to clear the letters",
    "no, don't",
  ])("does not run a tool that the user rules out: %s", async (sentence) => {
    const { calls, text: answer } = await ask([drop, find], sentence);
    expect(calls).toEqual([]);
    expect(answer).toBe("All right.");
  });

  it("follows the request after a greeting or a negated clause", async () => {
    const found = [["find_letters", { query: "frost" }]];
    expect((await ask([drop, find], "Don't clear old.txt, just letters about frost")).calls).toEqual(found);
    expect((await ask([find], "Hi there, letters about frost")).calls).toEqual(found);
  });

  it.each([
    "Delete the letter of May",
    "Send Ada a letter",
  ])("does not claim a deed that no tool does, also when it had to call one: %s", async (sentence) => {
    const { text: answer } = await ask([find], sentence, { policy: { requireToolFirst: true } });
    expect(answer).toMatch(/^I cannot help with that/);
  });

  it("answers small talk as such, also when it had to call a tool", async () => {
    const { text: answer } = await ask([find], "thanks!", { policy: { requireToolFirst: true } });
    expect(answer).toBe("You are welcome.");
  });

  it("matches a tool by its own words", async () => {
    expect((await ask([drop], "clear the letters")).calls).toEqual([["clear_letters", {}]]);
  });
});
