import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Chunk } from "../model.ts";
import type { PartialMessage } from "../state.ts";
import { createOverlapFilter, joinCitations, joinParts, removeOverlap } from "./continuation.ts";

const createPartial = (text: string, stopReason: "length" | "pause" = "length"): PartialMessage => ({
  entry: { type: "assistant", parts: [{ type: "text", text }] },
  citations: [],
  stopReason,
  counts: { length: 1, pause: 0 },
  candidate: 0,
  isShown: true,
});

describe("the text of a continuation", () => {
  const long = "It was the best of times, it was the worst of times, it was the age of wisdom, it was the";
  it.each([
    ["continues in the middle of a word", "Once upon a ti", "me.", "me."],
    [
      "begins with the words it was asked for",
      long,
      "was the age of wisdom, it was the age of foolishness",
      " age of foolishness",
    ],
    ["repeats more than that", long, `${long.slice(20)} age of foolishness`, " age of foolishness"],
    [
      "repeats the end after an empty line",
      "The end of the story is",
      "\n\nThe end of the story is near.",
      " near.",
    ],
    ["repeats the end, of which the white space is kept once", "One day he \n", "One day he\nleft.", "left."],
    ["happens to start with a few of the last letters", "He laughed: ha ha", " ha ha ha!", " ha ha ha!"],
    ["keeps its own white space", "One.", "\n\nTwo.", "\n\nTwo."],
    ["has nothing to add", "One.", "One.", ""],
  ])("%s", (_what, previousText, text, expected) => {
    expect(removeOverlap(previousText, text)).toBe(expected);
  });

  it("is the same however it is split", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 80 }), { maxLength: 8 }),
        fc.string({ maxLength: 90 }),
        (pieces, end) => {
          const previousText = `${long}${end}`;
          const text = `${previousText.slice(-70)}${pieces.join("")}`;
          const read = (texts: readonly string[]) => {
            const filter = createOverlapFilter(createPartial(previousText));
            const chunks: Chunk[] = [
              ...texts.map((piece): Chunk => ({ type: "text", text: piece })),
              { type: "finish", reason: "end" },
            ];
            return chunks
              .flatMap(filter)
              .map((chunk) => (chunk.type === "text" ? chunk.text : ""))
              .join("");
          };
          expect(read(text.match(/[\s\S]{1,7}/g) ?? [])).toBe(read([text]));
        },
      ),
      { numRuns: 50 },
    );
  });

  it("is not touched after a pause, and starts over after a restart", () => {
    const pause = createOverlapFilter(createPartial("The end of the story", "pause"));
    expect(pause({ type: "text", text: "The end of the story" })).toEqual([
      { type: "text", text: "The end of the story" },
    ]);
    const filter = createOverlapFilter(createPartial("The end of the story"));
    expect(filter({ type: "text", text: "Never" })).toEqual([]);
    filter({ type: "restart", reason: "x" });
    expect(filter({ type: "text", text: "The end of the story is" })).toEqual([]);
    expect(filter({ type: "finish", reason: "end" })[0]).toEqual({ type: "text", text: " is" });
  });
});

describe("the parts of a message", () => {
  it("join a text that was cut, unless the provider has marked it", () => {
    const next = { type: "text", text: "me." } as const;
    expect(joinParts(createPartial("a ti"), [next])).toEqual([{ type: "text", text: "a time." }]);
    const marked = { type: "text", text: "a ti", opaque: { id: 1 } } as const;
    const partial = { ...createPartial(""), entry: { type: "assistant", parts: [marked] } } as const;
    expect(joinParts(partial, [next])).toEqual([marked, next]);
  });

  it("cite every source once, in the order of their first mention", () => {
    const citation = (n: number) => ({ n, id: `f${n}`, title: "T" });
    const partial = { ...createPartial("[2]"), citations: [citation(2)] };
    expect(joinCitations(partial, [citation(1), citation(2)])).toEqual({
      citations: [citation(2), citation(1)],
    });
  });
});
