import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMarkdownStream } from "./markdown-stream.ts";
import { createStyle } from "./style.ts";
import { measureWidth } from "./wrap.ts";

const plain = createStyle({ isTTY: false } as never, {});
const document = `# Title

A *small* text with **bold \`code\`** and [a link](https://example.com/a_(b)), which goes on for more than one line.
It ends here.

- one
- two with words that do not fit into the line at all
  and go on
  - inside
1. first
2) second

> quoted
> words

| name | what |
|---|---|
| a | the first of all letters |
| b \\| c | **bold** |

\`\`\`ts
const a = 1;

  indented **not bold**
\`\`\`
---
snake_case_name stays, 2 * 3 * 4 too.
`;

function lines(text: string, columns = 40): string[] {
  const stream = createMarkdownStream({ style: plain, columns: () => columns });
  return [...stream.push(text), ...stream.end()];
}

describe("streamed Markdown", () => {
  it("is shown in blocks with room between them", () => {
    expect(lines(document).join("\n")).toMatchInlineSnapshot(`
      "Title

      A small text with bold code and a link
      (https://example.com/a_(b)), which goes
      on for more than one line. It ends here.

      • one
      • two with words that do not fit into
        the line at all and go on
        • inside
      1. first
      2) second

      │ quoted words

      name  │ what
      ──────┼─────────────────────────
      a     │ the first of all letters
      b | c │ bold

        ── ts
        const a = 1;

          indented **not bold**

      ────────────────────────────────────────

      snake_case_name stays, 2 * 3 * 4 too."
    `);
  });

  it("is the same however it is cut, and never wider than the terminal", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(document.length), { maxLength: 12 }),
        fc.integer({ min: 20, max: 80 }),
        (places, columns) => {
          const stream = createMarkdownStream({ style: plain, columns: () => columns });
          const cuts = [0, ...places.toSorted((a, b) => a - b), document.length];
          const shown = cuts.slice(1).flatMap((end, n) => {
            const done = stream.push(document.slice(cuts[n], end));
            for (const row of stream.renderPartial()) expect(measureWidth(row)).toBeLessThanOrEqual(columns);
            return done;
          });
          const all = [...shown, ...stream.end()];
          expect(all).toEqual(lines(document, columns));
          for (const row of all) expect(measureWidth(row)).toBeLessThanOrEqual(columns);
        },
      ),
    );
  });

  it.each([
    ["A **bold", "A bold"],
    ["A `co", "A co"],
    ["A [link", "A link"],
    ["A [link](http", "A link"],
    ["A *", "A"],
    ["##", ""],
    ["- ", ""],
  ])("%j shows no marks while it is written: %j", (text, wanted) => {
    const stream = createMarkdownStream({ style: plain, columns: () => 40 });
    stream.push(text);
    expect(stream.renderPartial().join("\n").trimEnd()).toBe(wanted);
  });

  it("prints the lines of a fence as they come, and everything else when it is whole", () => {
    const stream = createMarkdownStream({ style: plain, columns: () => 40 });
    expect(stream.push("Words\n```sh\nls\n")).toEqual(["Words", "", "  ── sh", "  ls"]);
    expect(stream.push("more")).toEqual([]);
    expect(stream.renderPartial()).toEqual(["  more"]);
    expect(stream.push("\n```\nAfter")).toEqual(["  more"]);
    expect(stream.renderPartial()).toEqual(["", "After"]);
  });
});
