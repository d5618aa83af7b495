import { defineAgent, defineTool, run, type Tool } from "capstan";
import { memory } from "capstan/stores/memory";
import { describe, expect, it } from "vitest";
import { offline } from "../offline.ts";

const text = { type: "string" } as const;

const read = defineTool({
  name: "read_song",
  description: "Reads a song.",
  input: { type: "object", properties: { path: text }, required: ["path"] },
  examples: [{ phrase: "{path}" }, { phrase: "read {path}" }],
  effects: "none",
  execute({ path }) {
    if (path === "oxen.txt") throw new Error('There is no song "oxen.txt". Did you mean "foxes.txt"?');
    if (path.startsWith("no")) throw new Error(`There is no song "${path}".`);
    return `La la of ${path}.`;
  },
});

/** What each sentence is answered with. */
async function answers(tools: readonly Tool[], ...sentences: readonly string[]) {
  const agent = defineAgent({ name: "clerk", model: offline(), tools });
  const options = { store: memory(), session: "s", policy: { retry: { maxAttempts: 1 } } };
  const told: string[] = [];
  for (const sentence of sentences) told.push((await run(agent, sentence, options)).text);
  return told;
}

describe("a call that failed", () => {
  it.each([
    "read no.txt and sun.txt",
    "read sun.txt and no.txt",
  ])("is reported next to one that did not: %s", async (sentence) => {
    const [answer] = await answers([read], sentence);
    expect(answer).toContain('There is no song "no.txt".');
    expect(answer).toContain("La la of sun.txt.");
  });

  it("is reported even if its error names the target of another call", async () => {
    const [answer] = await answers([read], "read oxen.txt and foxes.txt");
    expect(answer).toContain('There is no song "oxen.txt".');
    expect(answer).toContain("La la of foxes.txt.");
  });

  it("is omitted after a successful retry", async () => {
    expect(await answers([read], "read oxen.txt")).toEqual(["foxes.txt:\nLa la of foxes.txt."]);
  });
});

describe("a message of a result with a list", () => {
  const find = (message: string, kinds: readonly object[]) =>
    defineTool({
      name: "find_boats",
      description: "Finds boats.",
      input: { type: "object", properties: { kind: text }, required: ["kind"] },
      examples: [{ phrase: "find all {kind}" }],
      effects: "none",
      execute: () => ({ message, kinds }),
    });
  const kinds = [{ name: "ketch" }, { name: "yawl" }];

  it("is kept if nothing was found: the list contains alternatives", async () => {
    const [answer] = await answers([find("No boats matched the kind raft.", kinds)], "find all rafts");
    expect(answer).toMatch(/^No boats matched the kind raft\./);
    expect(answer).toContain("ketch");
  });

  it("is omitted when the list speaks for itself", async () => {
    const [answer] = await answers([find("Here are your boats.", kinds)], "find all boats");
    expect(answer).not.toContain("Here are");
  });
});

it("leaves out the messages of tools if the instructions say so, and reads their data", async () => {
  const count = defineTool({
    name: "count_boats",
    description: "Counts boats.",
    input: { type: "object", properties: {} },
    examples: [{ phrase: "how many boats are there" }],
    effects: "none",
    execute: () => ({ message: "The harbor has 3 boats.", data: { boatCount: 3, note: "One is a wreck" } }),
  });
  const ask = async (instructions: string) => {
    const agent = defineAgent({ name: "clerk", model: offline(), tools: [count], instructions });
    return (await run(agent, "How many boats are there?")).text;
  };
  expect(await ask("Answer briefly.")).toBe("The harbor has 3 boats.\nOne is a wreck.");
  expect(await ask("Never repeat a tool's message.")).toBe("3 boats.\nOne is a wreck.");
});

describe("its description of itself", () => {
  const tools = [
    read,
    defineTool({
      name: "isle__post__send_letter",
      description: "Sends a letter: to one person, by ship.",
      input: { type: "object", properties: { to: text }, required: ["to"] },
      examples: [{ phrase: "send a letter to {to}" }],
      execute: () => "Sent.",
    }),
  ];

  it.each([
    "hello, who are you?",
    "Hi there! What can you do?",
    "good morning, who are you",
  ])("answers the question after a greeting: %s", async (sentence) => {
    const [answer] = await answers(tools, sentence);
    expect(answer).toMatch(/^I am an offline model that follows rules/);
    expect(answer).toContain("I can do this here:\n- read a song\n- send a letter\n");
    expect(answer).not.toContain("isle");
  });

  it("refuses briefly and suggests phrases", async () => {
    const [answer = ""] = await answers(tools, "What is the capital of France?");
    expect(answer).toMatch(/^I cannot help with that: I am an offline model that follows rules/);
    expect(answer).toContain('You could say "read …" or "send a letter to …".');
    expect(answer.length).toBeLessThan(250);
  });

  it("suggests different phrases in a second refusal", async () => {
    const [first, second] = await answers(tools, "What is the capital of France?", "Tell me a funny joke");
    expect(second).toMatch(/^I cannot help with that/);
    expect(second).not.toBe(first);
    expect(second).toContain("read …");
  });
});

describe("the name of a tool", () => {
  const named = (name: string) =>
    defineTool({
      name,
      description: "Does something with a sail.",
      input: { type: "object", properties: { sail: text }, required: ["sail"] },
      examples: [{ phrase: `${name.replaceAll(/.*_/gu, "")} the sail {sail}` }],
      execute: () => "",
    });

  it("is displayed without the name of its server", async () => {
    const marked = [named("isle__loft__mend_sail")];
    expect((await answers(marked, "mend sail"))[0]).toContain('For "mend sail"');
    const shared = ["isle_loft_mend", "isle_loft_dry", "isle_loft_fold"].map(named);
    expect(await answers(shared, "mend a sail")).toEqual(["Mend is done."]);
  });
});
