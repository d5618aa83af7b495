import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapeTerminal, escapeTerminalLine } from "./escape-terminal.ts";
import { createMarkdownStream } from "./markdown-stream.ts";
import { createStyle } from "./style.ts";

const obeyed =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be there
  /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e0fff}]/u;
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "\x1b",
        "\x1b[",
        "\x1b]52;c;",
        "\x1b]0;",
        "\x1bP",
        "\x9b",
        "\x9d",
        "\x90",
        "\x07",
        "\x1b\\",
        "\x9c",
        "\r",
      ),
      fc.constantFrom(
        "\u202e",
        "\u2066",
        "\u{e0041}",
        "\ud800",
        "m",
        "2J",
        "\n",
        "**",
        "`",
        "```\n",
        "| a |",
        "[x](",
        "- ",
      ),
      fc.string({ unit: "binary", maxLength: 6 }),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(""));

describe("text that is made harmless", () => {
  it("has no control, escape, direction or tag left for any input (A70, A71, A124)", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(escapeTerminal(text)).not.toMatch(obeyed);
        expect(escapeTerminalLine(text)).not.toMatch(/\n/);
        expect(escapeTerminal(escapeTerminal(text))).toBe(escapeTerminal(text));
      }),
    );
  });

  it("drops sequences, shows deceptive characters, and turns overwriting into a new line", () => {
    expect(escapeTerminal("\x1b[31mred\x1b[0m\x1b]8;;http://x\x07link\x1b]8;;\x1b\\")).toBe("redlink");
    expect(escapeTerminal("safe\rrm -rf")).toBe("safe\nrm -rf");
    expect(escapeTerminal("a\u202eb\u{e0041}c\x07d")).toBe("a\\u{202e}b\\u{e0041}c␇d");
    expect(escapeTerminal("\x1b]0;title without an end\nnext")).toBe("\nnext");
  });

  it("leaves plain text of all scripts as it is", () => {
    for (const text of ["naïve café", "日本語", "שלום", "👩‍👩‍👧 ✔️", "क्षि"])
      expect(escapeTerminal(text)).toBe(text);
  });

  it("comes out of streamed Markdown with no escapes but our own, however it is cut", () => {
    const style = createStyle({ isTTY: true } as never, {});
    fc.assert(
      fc.property(hostile, fc.array(fc.nat(200), { maxLength: 5 }), (text, places) => {
        const stream = createMarkdownStream({ style, columns: () => 40 });
        const cuts = [
          0,
          ...places.filter((place) => place < text.length).toSorted((a, b) => a - b),
          text.length,
        ];
        const lines = cuts.slice(1).flatMap((end, n) => {
          const done = stream.push(text.slice(cuts[n], end));
          return [...done, ...stream.renderPartial()];
        });
        // biome-ignore lint/suspicious/noControlCharactersInRegex: our own styles
        const bare = [...lines, ...stream.end()].join("\n").replace(/\x1b\[\d+m/g, "");
        expect(bare).not.toMatch(obeyed);
      }),
    );
  });
});
