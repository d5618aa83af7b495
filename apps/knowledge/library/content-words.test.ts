import { describe, expect, it } from "vitest";
import { getContentWords } from "./content-words.ts";

describe("the content words of a question", () => {
  it.each([
    ["How do I validate data with zod?", ["validate", "data", "zod"]],
    ["How much may a hotel cost in Oslo?", ["hotel", "cost", "oslo"]],
    ["much may a hotel cost in Oslo", ["hotel", "cost", "oslo"]],
    ["What is fast-check's seed?", ["fast-check", "seed"]],
    ["@hono/node-server and docs/tools.md", ["@hono/node-server", "docs/tools.md"]],
    ["who are you", ["who", "are", "you"]],
    ["zod ZOD zod", ["zod"]],
    ['"*:^(){}[]', []],
  ])("of %j are %j", (text, words) => {
    expect(getContentWords(text)).toEqual(words);
  });

  it("are limited to 16", () => {
    expect(getContentWords(Array.from({ length: 99 }, (_, n) => `w${n}`).join(" "))).toHaveLength(16);
  });
});
