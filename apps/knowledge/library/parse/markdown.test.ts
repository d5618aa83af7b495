import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCpuMs } from "../../../../packages/capstan/src/testing/cpu-time.ts";
import { parseMarkdown } from "./markdown.ts";

/** The sections, without the text to scroll to. */
const splitSections = (text: string) =>
  parseMarkdown(text).sections.map(({ anchor, heading, text }) => ({ anchor, heading, text }));

describe("the sections of a document", () => {
  it("start at headings, except in code", () => {
    const text =
      "Before.\n\n# One\n\nText.\n\n```sh\n# not a heading\nrun\n```\n\n## Two ##\n\nMore.\n\n# One\n\nAgain.";
    expect(splitSections(text)).toEqual([
      { anchor: "top", heading: "", text: "Before." },
      { anchor: "one", heading: "One", text: "Text.\n\n```sh\n# not a heading\nrun\n```" },
      { anchor: "two", heading: "Two", text: "More." },
      { anchor: "one~2", heading: "One", text: "Again." },
    ]);
  });

  it("are plain text: no tags, images, comments, link targets or line breaks within sentences", () => {
    const text =
      "# [Kite](https://example.com) ![badge](x.svg)\n\n<p align=center><b>Flies</b> in\nthe [wind](./w.md), **high**.\n<!-- a\nb --></p>\n\n- one\n- two\n\n[x]: https://example.com";
    expect(splitSections(text)).toEqual([
      { anchor: "kite", heading: "Kite", text: "Flies in the wind, high.\n\n- one\n- two" },
    ]);
  });

  it("are split into parts if they are long, at line breaks if possible", () => {
    const row = `| ${"x".repeat(700)} |`;
    const parts = splitSections(`# Table\n${[row, row, row].join("\n")}\n\n${"y".repeat(3200)}`);
    expect(parts.map(({ anchor, text }) => [anchor, text.length])).toEqual([
      ["table", 1409],
      ["table~2", 704],
      ["table~3", 1500],
      ["table~4", 1500],
      ["table~5", 200],
    ]);
  });

  it("have unique anchors, whatever the text", () => {
    const line = fc.constantFrom(
      "# A",
      "## A",
      "```",
      "~~~~",
      "text",
      "",
      "<b",
      "![",
      "[a](",
      "<!--",
      "- x",
      "\r",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(line, fc.string())), (lines) => {
        const anchors = splitSections(lines.join("\n")).map(({ anchor }) => anchor);
        expect(new Set(anchors).size).toBe(anchors.length);
      }),
      { numRuns: 200 },
    );
  });

  it("are found quickly in an adversarial text", () => {
    const nasty = ["![".repeat(50_000), "# ".repeat(50_000), "<!--".repeat(50_000), "[".repeat(50_000)];
    const before = readCpuMs();
    for (const text of nasty) splitSections(text);
    expect(readCpuMs() - before).toBeLessThan(2000);
  });
});

it("takes no longer for a text that is made to be slow", () => {
  for (const piece of ["![", "[](", "[]((", "[]((x)", "[](x", "[a][", "**a", "<a ", "<!--", "# "]) {
    const line = piece.repeat(Math.floor(19_900 / piece.length));
    const begun = readCpuMs();
    splitSections(`${line}\n\n`.repeat(40));
    expect(readCpuMs() - begun, piece).toBeLessThan(1_000);
  }
});
