import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCitationStream } from "./citation-stream.ts";

type Read = { readonly text: string; readonly cited: number[]; readonly unknown: number[] };

/** Streams the pieces in a session with `known` sources. */
function readStream(pieces: readonly string[], known = 3): Read {
  const [cited, unknown]: [number[], number[]] = [[], []];
  const stream = createCitationStream({
    isKnown: (n) => n >= 1 && n <= known,
    onCited: (n) => cited.push(n),
    onUnknown: (n) => unknown.push(n),
  });
  const text = pieces.map((piece) => stream.push(piece)).join("") + stream.end();
  return { text, cited, unknown };
}

describe("a citation", () => {
  it.each<[string, number[]]>([
    ["It is 7 million [1].", [1]],
    ["It is 7 million.[2]", [2]],
    ["It is 7 million[1] or so.", [1]],
    ["Both say so [1, 2].", [1, 2]],
    ["Both say so [1,2].", [1, 2]],
    ["Both say so [1; 3].", [1, 3]],
    ["Both say so [1][2].", [1, 2]],
    ["All say so [1-3].", [1, 2, 3]],
    ["All say so [1–3].", [1, 2, 3]],
    ["Twice [1], and again [1].", [1, 1]],
    ["预算是七百万[1]。", [1]],
    ["“Quoted” [1]", [1]],
    ["[1] says so.", [1]],
    ["- [1] Budget\n- [2] Mail", [1, 2]],
    ["According to [1]: seven.", [1]],
    ["Vitamin C[1], JavaScript[2], macOS[3]", [1, 2, 3]],
    ["**bold** [1] and `code` [2]", [1, 2]],
    ["```\narr[1]\n```\nas said [2]", [2]],
    ["```one line``` [1]", [1]],
    ["an open ` tick\n\nnext paragraph [1]", [1]],
    ["[see][1]", [1]],
  ])("is found in %j, which stays as it is (S3-06, C-23)", (text, cited) => {
    expect(readStream([text])).toEqual({ text, cited, unknown: [] });
  });

  it.each<[string, string, number[], number[]]>([
    ["It is 7 [9].", "It is 7.", [], [9]],
    ["It is 7 [9] or 8.", "It is 7 or 8.", [], [9]],
    ["It is 7[9].", "It is 7.", [], [9]],
    ["Some [1, 9] say", "Some [1] say", [1], [9]],
    ["Some [2-5] say", "Some [2, 3] say", [2, 3], [4, 5]],
    ["Some [9][1] say", "Some [1] say", [1], [9]],
    ["Some [1][9] say", "Some [1] say", [1], [9]],
    ["Some [8][9]", "Some", [], [8, 9]],
    ["[9] Invented\nNext", "Invented\nNext", [], [9]],
    ["- [9] Invented", "- Invented", [], [9]],
    ["At the end [9]\nNext", "At the end\nNext", [], [9]],
    ["From zero [0].", "From zero.", [], [0]],
    ["[9]", "", [], [9]],
  ])("without a source is taken out: of %j stays %j (S3-55, C-23)", (text, shown, cited, unknown) => {
    expect(readStream([text])).toEqual({ text: shown, cited, unknown });
  });

  it.each([
    "`[1]` and ``a ` [9]``",
    "```js\nconst a = [9];\n\nx = [1]\n```",
    "~~~\n[9]\n~~~",
    "- ```\n  [9]\n  ```",
    "````\n```\n[9]\n````",
    "```\nnever closed [9]",
    "arr[9], args[1], x[9], row_a[9], userNames[9] and arr[1][9]",
    "[1](https://example.com) and [9](https://example.com)",
    "[1]: https://example.com\n  [9]: https://example.com",
    "\\[9\\] is escaped",
    "[^1] [x] [ ] [1a] [1 2] [01] [1,,2] [3-1] [1-100] [] [-1] [1.5]",
    "Smith [2024] and [1999, 2001]",
    "[9",
    "[1, ",
    "two  spaces   and a tail  ",
    `[${"1,".repeat(50)}1]`,
  ])("is not what is in %j, which stays as it is", (text) => {
    expect(readStream([text])).toEqual({ text, cited: [], unknown: [] });
  });

  it("may have a large number if such a source exists", () => {
    expect(readStream(["See [1200]."], 1500).cited).toEqual([1200]);
  });

  it("is held back only while a bracket may become one, and released at the end", () => {
    const stream = createCitationStream({ isKnown: () => true, onCited: () => {}, onUnknown: () => {} });
    expect(["So [", "1", "]", ". A", " [x", "] b [2"].map((piece) => stream.push(piece))).toEqual([
      "So",
      "",
      "",
      " [1]. A",
      " [x",
      "] b",
    ]);
    expect(stream.end()).toBe(" [2");
  });
});

const fragment = fc.constantFrom(
  ...[
    "[1]",
    "[9]",
    "[1, 2]",
    "[",
    "]",
    "1",
    ",",
    " ",
    "  ",
    "\n",
    "\n\n",
    "`",
    "```",
    "~~~",
    "(",
    ":",
    "-",
    ".",
  ],
  ...["word", "arr", "x", "[2-4]", "[0]", "\\", "😀", "é", "[1](u)", "- ", "[2024]"],
);
const markdown = fc.array(fragment, { maxLength: 30 }).map((parts) => parts.join(""));

describe("a stream of text", () => {
  it("gives the same text and the same citations wherever it is split (S3-06)", () => {
    const cut = fc.tuple(markdown, fc.array(fc.nat(200)));
    fc.assert(
      fc.property(cut, ([text, places]) => {
        const ends = [...places.map((place) => place % (text.length + 1)), text.length].sort((a, b) => a - b);
        const pieces = ends.map((end, n) => text.slice(ends[n - 1] ?? 0, end));
        expect(readStream(pieces)).toEqual(readStream([text]));
        expect(readStream(text.split(""))).toEqual(readStream([text]));
      }),
      { numRuns: 500 },
    );
  });

  it("is unchanged without unknown numbers; otherwise only spaces and brackets are removed", () => {
    fc.assert(
      fc.property(markdown, (text) => {
        const { text: shown, unknown } = readStream([text], 999);
        if (unknown.length === 0) expect(shown).toBe(text);
        const kept = (said: string) => said.replace(/[\s\d[\],;–-]/g, "");
        expect(kept(shown)).toBe(kept(text));
      }),
      { numRuns: 500 },
    );
  });
});
