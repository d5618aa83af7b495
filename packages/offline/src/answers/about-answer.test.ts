import { defineAgent, defineTool, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { describe, expect, it } from "vitest";
import { offline } from "../offline.ts";

const boats = ["Ada", "Bess", "Cleo", "Dora"].map((name, at) => ({ name, port: "Genoa", berth: at + 1 }));
let searches = 0;
const list = defineTool({
  name: "list_boats",
  description: "Lists the boats in the harbor.",
  input: { type: "object", properties: {} },
  examples: [{ phrase: "which boats are there" }],
  effects: "none",
  execute() {
    searches++;
    return { data: { boats } };
  },
});
const agent = defineAgent({ name: "clerk", model: offline(), tools: [list] });

async function answerAfterList(remark: string): Promise<string> {
  const options = { store: memory(), session: "ses_boats" };
  await run(agent, "Which boats are there?", options);
  searches = 0;
  return (await run(agent, remark, options)).text;
}

describe("a remark about the last answer", () => {
  it.each([
    "shorter please",
    "can you make it shorter?",
    "that's too long",
    "summarize that",
  ])("gets a shorter one: %s", async (remark) => {
    expect(await answerAfterList(remark)).toBe("4 boats:\n- Ada\n- Bess\n- Cleo\n- and 1 more");
    expect(searches).toBe(0);
  });

  it.each([
    "in German please",
    "translate that into French",
    "Can you say it in Spanish?",
  ])("is no request for another language: %s", async (remark) => {
    expect(await answerAfterList(remark)).toMatch(/^I cannot translate/);
    expect(searches).toBe(0);
  });

  it.each(["why?", "are you sure?", "how do you know?"])("gets no invented reason: %s", async (remark) => {
    expect(await answerAfterList(remark)).toMatch(/^I cannot give reasons/);
    expect(searches).toBe(0);
  });

  it("is an ordinary request without an answer before it", async () => {
    expect((await run(agent, "why?")).text).toMatch(/^I cannot help with that/);
  });
});

describe("a sentence in another language", () => {
  it.each([
    "Welche Schiffe gibt es?",
    "Quels bateaux sont ici ?",
    "¿Qué barcos hay?",
    "Quali barche ci sono?",
    "Quais são os barcos?",
  ])("is declined in English: %s", async (sentence) => {
    expect((await run(agent, sentence)).text).toBe(
      'I understand English only. You could say "which boats are there".',
    );
  });

  it.each(["Is the café open?", "my boat is about to die"])("is not assumed for %s", async (sentence) => {
    expect((await run(agent, sentence)).text).not.toContain("English only");
  });
});
