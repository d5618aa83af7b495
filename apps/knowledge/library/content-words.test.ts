import { describe, expect, it } from "vitest";
import { contentWords } from "./content-words.ts";

describe("the words of a question", () => {
  it.each([
    ["How do I validate data with zod?", ["validate", "data", "zod"]],
    ["What is fast-check's seed?", ["fast-check", "seed"]],
    ["@hono/node-server and docs/tools.md", ["@hono/node-server", "docs/tools.md"]],
    ["who are you", ["who", "are", "you"]],
    ["zod ZOD zod", ["zod"]],
    ['"*:^(){}[]', []],
  ])("of %j are %j", (text, words) => {
    expect(contentWords(text)).toEqual(words);
  });

  it("are 16 at most", () => {
    expect(contentWords(Array.from({ length: 99 }, (_, n) => `w${n}`).join(" "))).toHaveLength(16);
  });
});
