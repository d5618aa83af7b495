import { defineAgent, defineTool, type Fragment, run, type Tool } from "capstan";
import { memory } from "capstan/stores/memory";
import { describe, expect, it } from "vitest";
import { offline } from "../offline.ts";

const text = { type: "string" } as const;
const toFragment = ([title, content]: readonly [string, string]): Fragment => ({
  id: title,
  content,
  source: { title },
});

/** A search that finds every entry with any word of the query. */
function createSearch(
  name: string,
  examples: readonly { readonly phrase: string }[],
  entries: readonly (readonly [title: string, content: string])[],
): Tool {
  return defineTool({
    name,
    description: "Searches the logbooks.",
    input: { type: "object", properties: { query: text }, required: ["query"] },
    examples,
    effects: "none",
    execute({ query }) {
      const words = query.toLowerCase().match(/\w{3,}/g) ?? [];
      const found = entries.filter((entry) =>
        words.some((word: string) => entry.join(" ").toLowerCase().includes(word)),
      );
      return {
        data: { entries: found.map(([title]) => ({ title })) },
        ...(found.length > 0 && { contexts: found.map(toFragment) }),
      };
    },
  });
}

const logs = createSearch(
  "search_logs",
  [{ phrase: "search for {query}" }, { phrase: "what is {query}" }, { phrase: "{query}" }],
  [
    ["Bess: Hull", "The hull of Bess is of oak. It was tarred in spring."],
    ["Cleo: Hull", "The hull of Cleo is of steel, 12 metres long."],
    ["Log: Weather", "Write it down, as in `the weather of tomorrow`. See `maxWind`."],
    ["Log: Ports", "Every port has a harbor master. Ask there."],
  ],
);
const letters = createSearch(
  "search_letters",
  [{ phrase: "letters about {query}" }],
  [
    ["First letter", "The regatta costs 300 this year."],
    ["Second letter", "Last year the regatta cost 250. The prize was too small."],
    ["Third letter", "Anna wrote: the regatta is in June."],
  ],
);
const agent = defineAgent({ name: "clerk", model: offline(), tools: [logs, letters] });

async function ask(...sentences: readonly string[]) {
  const options = { store: memory(), session: "s" };
  for (const sentence of sentences.slice(0, -1)) await run(agent, sentence, options);
  const { toolCalls, text: answer } = await run(agent, sentences.at(-1) ?? "", options);
  return { calls: toolCalls.map(({ name, input }) => [name, Reflect.get(Object(input), "query")]), answer };
}

describe("a search answers a question", () => {
  it("with a source that covers it, and not with one that shares a word", async () => {
    expect((await ask("What is the hull of Bess?")).answer).toContain("oak");
    expect((await ask("What is the hull of Bess?")).answer).not.toContain("steel");
    expect((await ask("What is the hull of the Titanic made of?")).answer).toMatch(/^I found nothing for "/);
  });

  it("but not with an example in code that mentions anything, except for names", async () => {
    expect((await ask("What is the weather tomorrow?")).answer).toMatch(/^I found nothing for "/);
    expect((await ask("What is maxWind?")).answer).toContain("[1]");
  });

  it("with a number if it asks for one", async () => {
    expect((await ask("How long is the hull of Cleo?")).answer).toContain("12 metres");
    expect((await ask("Which port has a harbor master?")).answer).toMatch(/^I found nothing for "/);
  });

  it("and compares what it names", async () => {
    const { answer } = await ask("What is the difference between Bess and Cleo?");
    expect(answer).toContain("oak");
    expect(answer).toContain("steel");
  });

  it("while a request to search shows what there is", async () => {
    expect((await ask("search for hull of the Titanic")).answer).toContain("[1]");
  });
});

describe("a question that one search does not answer", () => {
  it("goes to the next search, and only the answer is reported", async () => {
    const { calls, answer } = await ask("How much was the regatta last year?");
    expect(calls).toEqual([
      ["search_logs", "regatta last year"],
      ["search_letters", "regatta last year"],
    ]);
    expect(answer).toContain("250");
    expect(answer).not.toContain("nothing");
  });

  it("is reported once if no search answers it", async () => {
    expect((await ask("Did Magellan visit the moon?")).answer).toBe(
      'I found nothing for "Magellan visit the moon".',
    );
  });

  it("is reported next to the answer to another question", async () => {
    const { answer } = await ask("search for Bess and search for Magellan");
    expect(answer).toContain("oak");
    expect(answer).toContain("No entries.");
  });

  it("stays with the search that an example names", async () => {
    expect((await ask("search for the regatta")).calls).toEqual([["search_logs", "regatta"]]);
  });
});

describe("a follow-up on a search", () => {
  it("adds its words to the last search", async () => {
    expect((await ask("letters about the regatta", "why was it too small?")).calls).toEqual([
      ["search_letters", "regatta small"],
    ]);
  });

  it("is a new search without an earlier one", async () => {
    expect((await ask("why was it too small?")).calls[0]).toEqual(["search_logs", "small"]);
  });
});
