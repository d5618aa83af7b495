import fc from "fast-check";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { readCpuMs } from "../../../capstan/src/testing/cpu-time.ts";
import { CodeBlock } from "./code-block.tsx";
import { Markdown } from "./markdown.tsx";
import { parseSafeLink } from "./safe-link.ts";
import { createBlockSplitter } from "./split-blocks.ts";

const render = (text: string, isStreaming = false): string =>
  renderToStaticMarkup(<Markdown text={text} isStreaming={isStreaming} />);
/** Without the looks, which are no matter here. */
const renderBare = (text: string, isStreaming = false): string =>
  render(text, isStreaming).replace(/ class="[^"]*"/g, "");
const renderText = (text: string, isStreaming = false): string =>
  render(text, isStreaming)
    .replace(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#x27;", "'")
    .replaceAll("&amp;", "&");

describe("Markdown", () => {
  it("renders blocks and inline text, with headings one level below the page's", () => {
    expect(renderBare("# A\n\n**b** *c* ~~d~~ `e`\n\n> f\n\n1. g\n2. h\n\n---\n")).toBe(
      '<div dir="auto"><h2>A</h2><p><strong>b</strong> <em>c</em> <del>d</del> <code>e</code></p>' +
        '<blockquote><p>f</p></blockquote><ol start="1"><li>g</li><li>h</li></ol><hr/></div>',
    );
  });

  it("renders tables and task lists", () => {
    const table = renderBare("| a | b |\n| :-- | --: |\n| 1 | **2** |\n");
    expect(table).toContain('<th scope="col">a</th>');
    expect(table).toContain("<td><strong>2</strong></td>");
    const tasks = renderBare("- [x] a\n- [ ] b\n");
    expect(tasks.match(/type="checkbox"/g)).toHaveLength(2);
    expect(tasks.match(/checked=""/g)).toHaveLength(1);
  });

  it("shows the language of code and a copy button", () => {
    const code = render("```ts\nconst a = 1;\n```");
    expect(code).toContain("<span>ts</span>");
    expect(code).toContain('aria-label="Copy code"');
    expect(code).toContain("const a = 1;");
  });

  it("decodes entities, but not in code", () => {
    expect(renderText("a &amp; b &#x41; &nosuch; `&amp;`")).toBe("a & b A &nosuch; &amp;");
  });

  it("resolves links that are defined elsewhere in the text", () => {
    expect(render("[a][r]\n\ntext\n\n[r]: https://a.example/x")).toContain('href="https://a.example/x"');
  });
});

describe("citations in Markdown", () => {
  const citations = [1, 2, 3].map((n) => ({ n, title: `Title ${n}` }));
  const cited = (text: string): string =>
    renderToStaticMarkup(<Markdown text={text} citations={citations} />);

  it.each([
    ["a [1].", 1],
    ["a [1, 2]", 2],
    ["a [1][2]", 2],
    ["a [1-3]", 3],
    ["million[1]", 1],
  ])("%s has %i chips", (text, count) => {
    expect(cited(text).match(/aria-label="Source \d: Title \d"/g)).toHaveLength(count);
  });

  it.each([
    "a [7]",
    "`a[1]`",
    "```\n[1]\n```",
    "x[1]",
    "user_ids[1]",
    "\\[1\\]",
    "[1](https://a.example)",
    "[2024]",
  ])("%s has none and stays as it is", (text) => expect(cited(text)).not.toContain("Source"));

  it("keeps a number without a source as text next to citations", () => {
    expect(cited("a [1, 9]").replace(/<[^>]*>/g, "")).toBe("a 1[9]");
  });
});

describe("links in Markdown", () => {
  it("open in a new tab without a referrer and show the full address", () => {
    const link = render("[a](https://a.example/x?y=1)");
    expect(link).toContain('href="https://a.example/x?y=1"');
    expect(link).toContain('title="https://a.example/x?y=1"');
    expect(link).toContain('target="_blank"');
    expect(link).toContain('rel="noopener noreferrer nofollow"');
  });

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "java&#115;cript:alert(1)",
    "&#x6A;avascript:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "blob:https://a.example/x",
    "file:///etc/passwd",
    "//evil.example",
    "/api/sessions",
    "https://bank.example@evil.example/",
    "https://a\u202eb.example/",
    `https://a.example/${"x".repeat(2100)}`,
  ])("to %s are none (A65, A67)", (address) => {
    expect(render(`[a](<${address}>)`)).not.toContain("<a ");
    expect(render(`<${address}>`)).not.toContain("<a ");
    expect(parseSafeLink(address, "a")).toBeUndefined();
  });

  it.each([
    ["[https://bank.example](https://evil.example/)", "(links to evil.example)"],
    ["[www.bank.example/login](https://evil.example/)", "(links to evil.example)"],
    ["https://bаnk.example/", "(links to xn--bnk-6cd.example)"],
  ])("%s shows its real target (A67)", (text, said) => {
    expect(renderText(text)).toContain(said);
  });

  it("add nothing when the text names the same host", () => {
    expect(renderText("[bank.example](https://www.bank.example/a)")).toBe("bank.example");
  });

  it("replace images, and nothing is loaded (A64)", () => {
    for (const text of [
      "![a *b*](https://e.example/p.png)",
      "![a][r]\n\n[r]: https://e.example/p.png",
      "![a](javascript:1)",
    ]) {
      expect(render(text)).not.toContain("<img");
      expect(renderText(text)).toContain("Image: a");
    }
  });
});

describe("hostile Markdown", () => {
  it.each([
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a <svg onload=alert(1)> b",
    '<iframe srcdoc="<script>1</script>"></iframe>',
    "<math><mtext></mtext></math>",
    "<style>@import 'https://e.example'</style>",
    "<base href=//e.example>",
    "<form action=//e.example><button>x</button></form>",
  ])("%s is shown as the text it is (A66)", (text) => {
    expect(renderText(text)).toBe(text);
    expect(renderBare(text)).toMatch(/^<div dir="auto"><p>[^<]*<\/p><\/div>$/);
  });

  it("escapes invisible characters in code and addresses (A71)", () => {
    expect(renderText("`a\u202eb`")).toBe("a\\u{202e}b");
    expect(renderText("a\u202eb \u{e0041}")).toBe("a\\u{202e}b \\u{e0041}");
    expect(renderToStaticMarkup(<CodeBlock code={"a\u200bb\u00a0\u2066c\tok"} />)).toContain(
      "a\\u{200b}b\\u{a0}\\u{2066}c\tok",
    );
    expect(renderText("[a](javascript:\u202ex)")).toContain("javascript:\\u{202e}x");
  });

  it("limits the nesting depth (A72)", () => {
    for (const text of [
      ">".repeat(100_000),
      "- ".repeat(50_000),
      "1. ".repeat(30_000),
      "*a **b ".repeat(10_000),
    ])
      expect(render(text).match(/<(?:blockquote|ul|ol|strong|em)/g)?.length ?? 0).toBeLessThan(200);
    const nested = Array.from({ length: 400 }, (_, depth) => `${"  ".repeat(depth)}- a`).join("\n");
    expect(render(nested).match(/<ul/g)?.length ?? 0).toBeLessThanOrEqual(13);
  });

  it.each([
    "*",
    "[",
    "`",
    "_",
    "<",
    "![",
    "*a ",
    "*_`[",
    "[a]: b\n",
    "- a\n",
    "http://",
    "[a](b ",
    "**a** ",
    "$a ",
    "$$a",
    "\\\\(a",
  ])("a megabyte of %j is drawn in a few seconds (A72)", (piece) => {
    const text = piece.repeat(Math.ceil(1e6 / piece.length));
    const start = readCpuMs();
    expect(render(text, true).length).toBeGreaterThan(100_000);
    expect(readCpuMs() - start).toBeLessThan(30_000);
  });
});

const pieces = fc.constantFrom(
  ..."* ** _ ~~ ` ``` [ ]( ) ![ <script> </script> <img onerror=x src=y> javascript: https://a.example/ <svg/onload=1> \" ' = & &lt; &#60; | --- # > - 1. \\ \n \n\n".split(
    " ",
  ),
  "\n",
  "  ",
  "[1]",
  "[r]: https://evil.example\n",
  'on="x" ',
);
const hostile = fc
  .array(fc.oneof(pieces, fc.string({ unit: "grapheme", maxLength: 6 })), { maxLength: 40 })
  .map((all) => all.join(""));
const elements =
  /^(?:div|section|p|pre|code|span|strong|em|del|a|br|hr|h[2-6]|ul|ol|li|blockquote|table|thead|tbody|tr|th|td|input|button|svg|path|rect)$/;
const attributes =
  /^(?:class|href|title|target|rel|dir|start|scope|type|disabled|checked|readOnly|readonly|aria-[a-z]+|tabindex|xmlns|width|height|viewBox|fill|stroke|stroke-[a-z]+|d|x|y|rx|ry)$/;

describe("any text at all", () => {
  it("never throws and renders only known elements with known attributes (A64..A66)", () => {
    fc.assert(
      fc.property(hostile, fc.boolean(), (text, isStreaming) => {
        const out = render(text, isStreaming);
        for (const [, name = "", rest = ""] of out.matchAll(
          /<([a-z][\w-]*)((?:\s+[\w-]+(?:="[^"]*")?)*)\s*\/?>/gi,
        )) {
          expect(name).toMatch(elements);
          for (const [, attribute = "", value = ""] of rest.matchAll(/([\w-]+)(?:="([^"]*)")?/g)) {
            expect(attribute).toMatch(attributes);
            if (attribute === "href") expect(value).toMatch(/^(?:https?:\/\/|mailto:)/);
          }
        }
        // Every sign that opens an element belongs to one of those.
        expect(out.replace(/<\/?[a-z][\w-]*(?:\s+[\w-]+(?:="[^"]*")?)*\s*\/?>/gi, "")).not.toContain("<");
      }),
      { numRuns: 300 },
    );
  });

  it("splits into blocks that join to the same text, also when it grows piece by piece", () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 1, max: 9 }), (text, step) => {
        const grown = createBlockSplitter();
        for (let end = 0; end < text.length; end += step) grown(text.slice(0, end));
        const whole = createBlockSplitter()(text);
        expect(grown(text).blocks.join("")).toBe(whole.blocks.join(""));
        expect(whole.blocks.join("")).toBe(text.replace(/\r\n?/g, "\n"));
      }),
      { numRuns: 200 },
    );
  });
});

describe("text that streams in", () => {
  const text =
    "# Head\n\nSome **bold words**, *soft ones* and ~~gone~~ with `code` and [a link](https://a.example/b).\n\n" +
    "- one\n- two **three**\n\n```ts\nconst a = `b`;\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\nThe end.\n";

  it("closes unfinished syntax wherever it is cut", () => {
    for (let end = 1; end <= text.length; end += 1) {
      const prose = render(text.slice(0, end), true)
        .replace(/<pre[\s\S]*?<\/pre>/g, "")
        .replace(/<[^>]*>/g, "");
      expect(prose, text.slice(0, end)).not.toMatch(/\*\*\w|\]\(|https:|~~\w|```/);
    }
  });

  it("keeps finished blocks unchanged", () => {
    const split = createBlockSplitter();
    const before = split(text.slice(0, 150)).blocks;
    const after = split(text.slice(0, 180)).blocks;
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
  });

  it("costs the same for a delta at the end of a long text as at the start", () => {
    const split = createBlockSplitter();
    let long = "";
    for (let index = 0; index < 1500; index += 1) long += `Paragraph ${index} with **some** words in it.\n\n`;
    split(long);
    const start = readCpuMs();
    for (let index = 0; index < 500; index += 1) {
      long += " more";
      split(long);
    }
    expect(readCpuMs() - start).toBeLessThan(2000);
  });
});
