import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import type { UiHint } from "../kernel/history.ts";
import { defineTool } from "../kernel/tool.ts";
import type { RunInput } from "../runtime/input.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { type ScriptedStep, scriptedModel } from "../testing/scripted-model.ts";
import type { ExportFormat } from "./export-session.ts";
import { htmlStyle, htmlStyleHash } from "./html-style.ts";
import { session } from "./session.ts";

const hostile = [
  "</script><script>alert(1)</script>",
  '"><img src=x onerror="alert(1)">',
  "<a href='javascript:alert(1)' onclick=alert(1)>x</a>",
  "</title></style></pre></details><svg/onload=alert(1)>",
  "[click](javascript:alert(1)) ![pixel](https://evil.example/p.png) [y](java\\script\\:alert(1))",
  "&lt;b&gt; &#106;avascript&colon;alert(1) <!-- <iframe srcdoc=x>",
  "\u001b]8;;https://evil.example\u0007link\u001b[31m red \u009b0m \u0000 \u202eesrever\u202c \u2066\u200b\u{e0041}",
  "`</code><script>alert(1)</script>` ``` `` ` <img src=x onerror=alert(1)> `",
  "  ```\n<script>alert(1)</script>\n```\n- a\n  ```\n<script>alert(2)</script>\n",
].join("\n");

const hostileHint = {
  kind: "chart",
  props: {
    ...{ title: hostile, type: hostile, x: { type: hostile, values: [hostile, 1, null] } },
    series: [{ label: hostile, color: hostile, values: [1, hostile, Number.MAX_VALUE] }, { label: 7 }, null],
  },
} as unknown as UiHint;

async function exportScripted(
  format: ExportFormat,
  input: RunInput,
  ...steps: ScriptedStep[]
): Promise<string> {
  const store = memory();
  const name = input === hostile ? hostile : "guide";
  const look = defineTool({
    name: "look",
    description: "Looks",
    input: { type: "object" },
    effects: "none",
    execute: () => ({
      content: hostile,
      contexts: [{ id: "f", content: hostile, source: { title: hostile, url: "javascript:alert(1)" } }],
      ui: hostileHint,
    }),
  });
  const agent = defineAgent({ name, model: scriptedModel(steps, { id: name }), tools: [look] });
  await run(agent, input, { store, session: "s1" });
  await session(store, "s1").rename(name);
  return session(store, "s1").export(format);
}

const steps: ScriptedStep[] = [
  {
    reasoning: hostile,
    text: hostile,
    calls: [{ name: "look", input: { [hostile]: hostile } }, { name: hostile }],
  },
  { text: hostile },
];
const listTags = (html: string) => [...html.matchAll(/<[^>]*>/g)].map(([tag]) => tag);
const invisible = /[\p{Cc}\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;

describe("a session as HTML", () => {
  it("contains only its own tags, attributes and URLs, whatever the content (A124)", async () => {
    const html = await exportScripted("html", hostile, ...steps);
    const plain =
      /^<\/?(?:html|head|body|main|header|section|article|details|summary|title|style|h1|h2|h3|h4|small|p|div|span|pre|code|ul|ol|li|strong|em|blockquote|hr|table|thead|tbody|tr|th|td|figure|figcaption|svg|a)>$/;
    const known = [
      "<!doctype html>",
      '<html lang="en">',
      '<meta charset="utf-8">',
      '<meta name="viewport" content="width=device-width, initial-scale=1">',
      '<meta name="referrer" content="no-referrer">',
    ];
    const isOwn = (tag: string) =>
      plain.test(tag) ||
      known.includes(tag) ||
      /^<(?:p|div|article|details|span|ul) class="[a-z ]+">$/.test(tag) ||
      /^<(?:a class="cite" href="#source-\d+"|li id="source-\d+")>$/.test(tag) ||
      tag === '<svg viewBox="0 0 640 200" role="img" aria-label="Chart">' ||
      /^<(?:rect|line|polyline|span) (?:(?:class|x|y|x1|x2|y1|y2|width|height|points)="[\w .,-]*" ?)+\/?>$/.test(
        tag,
      ) ||
      tag.startsWith('<meta http-equiv="Content-Security-Policy"');
    expect(listTags(html).filter((tag) => !isOwn(tag))).toEqual([]);
    expect(html).toContain("&#60;script&#62;alert(1)");
  });

  it("shows Markdown, citations, tables and charts as the studio does (S3-06)", async () => {
    const store = memory();
    const look = defineTool({
      ...{ name: "look", description: "Looks", input: { type: "object" }, effects: "none" },
      execute: () => ({
        content: "Found.",
        contexts: [{ id: "f", content: "7 °C", source: { title: "Weather", url: "https://example.org/w" } }],
        ui: {
          kind: "chart",
          props: {
            ...{ title: "Week", type: "line", x: { values: ["Mon", "Tue"] } },
            series: [{ label: "°C", values: [7, -2] }],
          },
        },
      }),
    });
    const show = defineTool({
      ...{ name: "show", description: "Shows", input: { type: "object" }, effects: "none" },
      execute: () => ({
        content: "Shown.",
        ui: { kind: "table", props: { rows: [{ day: "Mon", note: "<b>" }] } },
      }),
    });
    const answer =
      "## Today\n\n- **cold** [1]\n- `wet`\n\n| a | b |\n| --- | --- |\n| 1 | *2* |\n\n> see [docs](https://example.org)";
    const model = scriptedModel([{ calls: [{ name: "look" }, { name: "show" }] }, { text: answer }]);
    await run(defineAgent({ name: "guide", model, tools: [look, show] }), "How cold?", {
      store,
      session: "s1",
    });
    const html = await session(store, "s1").export("html");
    for (const piece of [
      "<h3>Today</h3>",
      '<li><strong>cold</strong> <a class="cite" href="#source-1">1</a></li>',
      '<li id="source-1"><span class="cite">1</span> Weather https://example.org/w</li>',
      "<td><em>2</em></td>",
      "<blockquote><p>see docs (https://example.org)</p></blockquote>",
      '<polyline class="c0" points="160,0 480,200"/>',
      "<td>Tue</td><td>-2</td>",
      "<td>Mon</td><td>&#60;b&#62;</td>",
    ])
      expect(html).toContain(piece);
  });

  it("allows no resources or scripts, only its own style", async () => {
    const html = await exportScripted("html", "Hi.", { text: "Hi." });
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];
    expect(policy).toBe(
      `default-src 'none'; style-src 'sha256-${htmlStyleHash}'; img-src data:; base-uri 'none'; form-action 'none'`,
    );
    expect(htmlStyleHash).toBe(createHash("sha256").update(htmlStyle).digest("base64"));
    expect(html).toContain(`<style>${htmlStyle}</style>`);
    expect(html).not.toMatch(/https?:|url\(|@import|<script|<link/);
    expect(htmlStyle).toContain("prefers-color-scheme: dark");
  });

  it("escapes control and direction characters, and keeps emoji and other scripts", async () => {
    const html = await exportScripted("html", hostile, ...steps);
    expect(html.replaceAll(/[\n\t]/g, "")).not.toMatch(invisible);
    expect(html).toContain("\\u{1b}]8;;");
    expect(html).toContain("\\u{202e}esrever");
    const fine = "👩‍💻 ❤️ naïve café Привет مرحبا می‌خواهم 12\u00a0km";
    expect(await exportScripted("html", fine, { text: "Hi." })).toContain(fine);
  });

  it("embeds inline images and lists other files by type", async () => {
    const html = await exportScripted(
      "html",
      [
        { type: "text", text: "See:" },
        { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" },
        { type: "image", mediaType: "image/png", data: '"><script>' },
        { type: "image", mediaType: "image/svg+xml", data: "PHN2Zz4=" },
        { type: "image", mediaType: "image/png", url: "https://evil.example/p.png" },
      ],
      { text: "Nice." },
    );
    expect(html.match(/<img[^>]*>/g)).toEqual(['<img alt="" src="data:image/png;base64,iVBORw0KGgo=">']);
    expect(html).toContain("image (image/svg+xml)");
    expect(html).not.toContain("evil.example");
  });
});

describe("a session as Markdown", () => {
  it("contains only its own HTML, and no link that runs or loads something", async () => {
    const markdown = await exportScripted("markdown", hostile, ...steps);
    const outside = withoutFences(markdown);
    const own = /^<\/?(?:details|summary|code)>$/;
    expect(listTags(outside).filter((tag) => !own.test(tag))).toEqual([]);
    expect(outside.match(/</g)?.length).toBe(listTags(outside).length);
    expect(outside).not.toMatch(/\]\(\s*javascript:/i);
    expect(outside).not.toMatch(/(?<!\\)!\[/);
    expect(outside).not.toMatch(/&(?:#106|colon);/);
    expect(markdown.replaceAll(/[\n\t]/g, "")).not.toMatch(invisible);
  });

  it("shows messages, collapsed calls and reasoning, sources, status and usage", async () => {
    const store = memory();
    const look = defineTool({
      name: "look",
      description: "Looks",
      input: { type: "object" },
      effects: "none",
      execute: () => ({
        content: "7 °C",
        contexts: [{ id: "f", content: "", source: { title: "Weather", url: "https://example.org/w" } }],
      }),
    });
    const model = scriptedModel([
      { reasoning: "I need to look.", calls: [{ name: "look", input: { city: "Oslo" } }] },
      { text: "It is **7 °C** in `Oslo`.\n\n```ts\nconst a: Array<number> = [];\n```" },
    ]);
    const agent = defineAgent({ name: "guide", model, tools: [look] });
    const clock = { now: () => Date.UTC(2026, 0, 1, 12), monotonic: () => 0, after: () => () => undefined };
    await run(agent, "How cold is it?", { store, session: "s1", clock });
    expect(await session(store, "s1").export("markdown")).toMatchInlineSnapshot(`
      "# How cold is it?

      2026-01-01 12:00 UTC · 1 run · 20 tokens in, 10 out

      ---

      **You** · 2026-01-01 12:00 UTC

      How cold is it?

      <details>
      <summary>Reasoning</summary>

      I need to look.

      </details>

      <details>
      <summary>Tool: look (ok)</summary>

      \`\`\`json
      {
        "city": "Oslo"
      }
      \`\`\`

      \`\`\`
      7 °C
      \`\`\`

      </details>

      **guide** · scripted

      It is **7 °C** in \`Oslo\`.

      \`\`\`ts
      const a: Array<number> = [];
      \`\`\`

      **Sources**

      - Weather https://example.org/w

      *done · 2 turns, 0 ms, 20 tokens in, 10 out*
      "
    `);
  });
});

/** Removes fenced code blocks. */
function withoutFences(markdown: string): string {
  let fence = "";
  return markdown
    .split("\n")
    .filter((line) => {
      const marks = /^(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
      if (fence === "") {
        if (!line.slice(marks.length).includes("`")) fence = marks;
        return fence === "";
      }
      if (marks.length >= fence.length && line.trim() === marks) fence = "";
      return false;
    })
    .join("\n");
}
