import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffText, joinLayout, measurePieces, resolvePieces, type TextLayout } from "./text-pieces.ts";

const noBlobs = () => Promise.reject(new Error("no blob"));
const toLayout = (text: string): TextLayout => [{ source: text, start: 0, length: text.length }];

async function rebuild(base: string, text: string): Promise<string> {
  return joinLayout(await resolvePieces(diffText(base, text), toLayout(base), noBlobs));
}

/** A text of parts that may repeat, so that the two texts of a pair share much of their content. */
const parts = fc.array(
  fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.constantFrom("x".repeat(100), "abc".repeat(9000), '],"tools":[', "ö€😀".repeat(40)),
  ),
  { maxLength: 12 },
);

describe("a text described by its difference to another", () => {
  it("is rebuilt exactly, whatever the two share", async () => {
    await fc.assert(
      fc.asyncProperty(parts, parts, async (left, right) => {
        const text = [...right, ...left.slice(1)].join("");
        expect(await rebuild(left.join(""), text)).toBe(text);
        expect(await rebuild(text, left.join(""))).toBe(left.join(""));
      }),
      { numRuns: 150 },
    );
  });

  it("costs what was added, wherever it was added", () => {
    const history = Array.from({ length: 400 }, (_, index) => `{"role":"user","content":"entry ${index}"}`);
    const build = (instructions: string, entries: readonly string[]) =>
      `{"system":"${instructions}","messages":[${entries.join(",")}],"tools":[{"name":"search"}],"stream":true}`;
    const base = build("Help. It is 10:00 in Berlin.", history);
    const grown = build("Help. It is 10:05 in Berlin.", [...history, '{"role":"user","content":"more"}']);
    expect(measurePieces(diffText(base, base))).toBeLessThan(20);
    expect(measurePieces(diffText(base, grown))).toBeLessThan(200);
    // A compaction replaces the start of the history.
    const compacted = build("Help. It is 10:05 in Berlin.", ['{"summary":"…"}', ...history.slice(200)]);
    expect(measurePieces(diffText(grown, compacted))).toBeLessThan(200);
  });

  it("resolves a chain of differences without building the texts in between", async () => {
    let layout: TextLayout = [];
    let text = "";
    for (let step = 0; step < 60; step++) {
      const next = `${text.slice(0, Math.max(0, text.length - 50))}step ${step} ${"z".repeat(90)}`;
      layout = await resolvePieces(diffText(text, next), layout, noBlobs);
      text = next;
    }
    expect(joinLayout(layout)).toBe(text);
  });
});
