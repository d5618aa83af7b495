import { describe, expect, it } from "vitest";
import { readCpuMs } from "../testing/cpu-time.ts";
import { renderMarkdown } from "./html-markdown.ts";

describe("Markdown as inert HTML", () => {
  it("keeps blocks apart, nests lists, and leaves unknown marks as text", () => {
    expect(renderMarkdown("# A\n#no\ntext\n***\n1. one\n   - two\n2. three\n\nend")).toBe(
      "<h3>A</h3>\n<p>#no\ntext</p>\n<hr>\n<ol><li><p>one</p>\n<ul><li>two</li></ul></li>\n<li>three</li></ol>\n<p>end</p>",
    );
    expect(renderMarkdown("a * b ** c `d")).toBe("<p>a * b ** c &#96;d</p>");
    expect(renderMarkdown("``a ` b`` and **b**")).toBe(
      "<p><code>a &#96; b</code> and <strong>b</strong></p>",
    );
    expect(renderMarkdown("```ts\n<b>\n")).toBe("<pre><code>&#60;b&#62;\n</code></pre>");
    expect(renderMarkdown("see [1] and [2]", (n) => (n === 1 ? "<1>" : undefined))).toBe(
      "<p>see <1> and [2]</p>",
    );
  });

  it("has no link and no image, only their text (A66, A67)", () => {
    expect(renderMarkdown("[x](javascript:alert(1)) ![p](https://evil.example/p.png)")).toBe(
      "<p>[x](javascript:alert(1)) p (https://evil.example/p.png)</p>",
    );
    expect(renderMarkdown("<img src=x onerror=alert(1)>")).toBe(
      "<p>&#60;img src=x onerror=alert(1)&#62;</p>",
    );
  });

  it("takes linear time, whatever the text (A62)", () => {
    const pieces = [
      "`",
      "`` ",
      "*",
      "** ",
      "[",
      "[1",
      "](",
      "> ",
      "- ",
      "| ",
      "|-|\n",
      "#",
      "~~~\n",
      "  1. ",
    ];
    for (const piece of pieces) {
      const text = piece.repeat(200_000 / piece.length);
      const startedAt = readCpuMs();
      renderMarkdown(text);
      renderMarkdown(text.replaceAll(/.{100}/gs, "$&\n"));
      // Quadratic time would be minutes.
      expect(readCpuMs() - startedAt, JSON.stringify(piece)).toBeLessThan(10_000);
    }
  });
});
