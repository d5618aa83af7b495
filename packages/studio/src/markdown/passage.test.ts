import { describe, expect, it } from "vitest";
import { isMarkdown } from "./passage.tsx";

describe("a passage", () => {
  it.each([
    ["## Use\n\nRun it.", "README"],
    ["Run `npm start`.", "https://docs.example/start"],
    ["| a | b |\n| --- | --- |", "notes.md"],
    ["- one\n- two", "list"],
  ])("%j is Markdown", (text, name) => expect(isMarkdown(text, name)).toBe(true));

  it.each([
    ["# a comment\nprint(1)", "src/example.py"],
    ["* a\n* b", "data.csv#row=3"],
    ["Travel is cut by half.", "Re: Budget"],
    ["2 * 3 * 4 and a_b_c", "notes"],
  ])("%j from %s is plain text", (text, name) => expect(isMarkdown(text, name)).toBe(false));
});
