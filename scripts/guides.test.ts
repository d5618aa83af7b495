// Holds the guides (docs/learn.md, docs/testing.md, docs/add-*.md) to what the code does.
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { defineAgent, defineTool, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { collect, scriptedModel } from "capstan/testing";
import { adaptEngine, engineSuite } from "capstan/testing/engine-suite";
import { modelSuite } from "capstan/testing/model-suite";
import { storeSuite } from "capstan/testing/store-suite";
import { beforeAll, describe, expect, it } from "vitest";
import { acme } from "../docs/examples/add-a-model.ts";
import { plainLines, plainMapping } from "../docs/examples/add-a-protocol.ts";
import { withMirror } from "../docs/examples/add-a-store.ts";
import { createMemoryQueue, createQueueEngine } from "../docs/examples/add-an-engine.ts";
import { listExamples, runExample } from "./examples.ts";

const root = join(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const decoded = (text: string): string => text.replaceAll("&quot;", '"').replaceAll("&amp;", "&");

/** The words of a picture, in the order in which they are written there. */
function wordsOf(svg: string, kind = "[\\w-]+"): string[] {
  const texts = svg.matchAll(new RegExp(`<text class="(?:${kind})"[^>]*>([^<]*)</text>`, "g"));
  return [...texts].map(([, text = ""]) => decoded(text));
}

describe("the sequence diagram of the learning guide", () => {
  const svg = read("docs/learn-cycle.svg");

  it("is shown there, with the full cycle of request, tool run and response (S0-28)", () => {
    expect(read("docs/learn.md")).toMatch(/!\[[^\]]{40,}\]\(learn-cycle\.svg\)/);
    expect(wordsOf(svg, "name")).toEqual(["user", "log", "run", "model", "tools"]);
    const steps = wordsOf(svg, "step|fact");
    expect(steps.map((step) => Number.parseInt(step, 10))).toEqual(steps.map((_, index) => index + 1));
    expect(wordsOf(svg, "step")).toEqual([
      "1 question",
      "4 instructions, history, tools",
      "5 stream: text, then calls",
      "6 deltas",
      "9 call with validated input",
      "10 result or error",
      "13 the same, plus the result",
      "14 stream: the answer",
      "17 answer",
    ]);
    expect(wordsOf(svg, "phase")).toEqual(["think", "act", "observe", "react"]);
    expect(wordsOf(svg, "note")).toEqual(["repeat until there is an answer"]);
  });

  it("has the facts that a run with one tool call really writes, in their order", async () => {
    const look = defineTool({ name: "look", description: "Looks", input: {}, execute: () => "rain" });
    const model = scriptedModel([{ text: "Let me see.", calls: [{ name: "look" }] }, { text: "It rains." }]);
    const { facts } = await collect(run(defineAgent({ name: "a", model, tools: [look] }), "How is it?"));
    const drawn = wordsOf(svg, "fact").map((step) => step.replace(/^\d+ /, ""));
    expect(drawn).toEqual(facts.map(({ type }) => type).filter((type) => type !== "turn_end"));
  });
});

describe("the picture of a streamed turn", () => {
  it("goes from asking over the stream to the tools and round again, or to the end (S1-24)", () => {
    expect(read("docs/learn.md")).toMatch(/!\[[^\]]{40,}\]\(learn-stream\.svg\)/);
    const svg = read("docs/learn-stream.svg");
    expect(wordsOf(svg, "name")).toEqual([
      "call the model",
      "read the stream",
      "complete?",
      "calls?",
      "done",
      "the log",
      "run the tools",
    ]);
    expect(wordsOf(svg, "note")).toEqual(expect.arrayContaining(["deltas", "next turn, with the results"]));
  });
});

it.each([
  "learn-cycle",
  "learn-stream",
])("%s.svg supports light and dark, has a text alternative, and loads nothing", (name) => {
  const svg = read(`docs/${name}.svg`);
  expect(svg).toContain("@media (prefers-color-scheme: dark)");
  expect(svg).toMatch(/role="img" aria-labelledby="title description"/);
  expect(svg).toMatch(/<desc id="description">[^<]{100,}</);
  expect(svg.replace('xmlns="http://www.w3.org/2000/svg"', "")).not.toMatch(
    /https?:|<image|<script|@import|href/,
  );
});

describe("the output shown in the learning guide", () => {
  const shown = new Map<string, string[]>();
  let example = "";
  for (const [, kind, text = ""] of read("docs/learn.md").matchAll(/^```(ts|text)\n([\s\S]*?)^```$/gm)) {
    if (kind === "ts") example = /docs\/examples\/([\w-]+)\.ts/.exec(text)?.[1] ?? "";
    else shown.set(example, [...(shown.get(example) ?? []), text]);
  }
  const printed = new Map<string, string>();
  beforeAll(async () => {
    const running = [...shown.keys()].map(async (name) => ({
      name,
      ...(await runExample(name, process.env.CAPSTAN_BUILT)),
    }));
    for (const { name, output } of await Promise.all(running)) printed.set(name, output);
  });

  it("is about every example of it", () => {
    const names = listExamples().filter((name) => name.startsWith("learn-"));
    expect([...shown.keys()].sort()).toEqual(names);
  });

  it.each([...shown])("matches the output of %s", (name, texts) => {
    for (const text of texts) expect(printed.get(name)).toContain(text);
  });
});

const guides = globSync("docs/add-*.md", { cwd: root }).sort();

describe("the pages on how to add something", () => {
  it("are there for a tool and for a provider, and for the rest (S0-49)", () => {
    expect(guides.map((page) => basename(page, ".md"))).toEqual([
      "add-a-model",
      "add-a-protocol",
      "add-a-store",
      "add-a-tool",
      "add-a-widget",
      "add-an-app",
      "add-an-engine",
    ]);
  });

  it.each(
    guides,
  )("%s shows an example that is run, states its guarantees, and fits on a screen or two", (page) => {
    const text = read(page);
    const name = basename(page, ".md");
    expect(text).toContain(`// from docs/examples/${name}.ts`);
    expect(listExamples()).toContain(name);
    expect(text).toMatch(/^## (?:What you promise|The contract|Requirements|Steps)$/m);
    expect(text.split("\n").length).toBeLessThan(80);
  });

  it.each([
    ...guides,
    "docs/testing.md",
  ])("%s names only files and entry points that there are (S0-49)", (page) => {
    const spans = [...read(page).matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);
    const files = spans.filter((span) => /^(?:packages|scripts|apps|docs)\/[\w./-]+$/.test(span));
    expect(files.filter((file) => !/\bacme\b/.test(file) && !existsSync(join(root, file)))).toEqual([]);
    const entries = spans.filter((span) => /^capstan(?:\/[\w-]+)+$/.test(span));
    const { exports } = JSON.parse(read("packages/capstan/package.json"));
    expect(entries.filter((entry) => !(entry.replace("capstan", ".") in exports))).toEqual([]);
  });

  it("names files of the studio's widgets that there are", () => {
    const files = [
      ...read("docs/add-a-widget.md").matchAll(/^\| `([\w.-]+\.tsx?)`(?:, `([\w.-]+\.tsx?)`)?/gm),
    ];
    const names = files.flatMap(([, one, two]) => [one, two]).filter((name) => name !== undefined);
    const there = names.filter((name) => existsSync(join(root, "packages/studio/src/widgets", name)));
    expect(names.filter((name) => !there.includes(name))).toEqual(["timeline-widget.tsx"]);
    expect(there.length).toBeGreaterThan(4);
  });
});

describe("the anchors in the documentation", () => {
  const pages = ["README.md", ...globSync("docs/*.md", { cwd: root })];
  const slug = (heading: string): string =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-");

  it.each(pages.filter((page) => basename(page) !== "coverage.md"))("of %s lead to headings", (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)];
    const lost = links.filter(([, file = "", anchor = ""]) => {
      const target = file === "" ? page : join(page, "..", file);
      const headings = [...read(target).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => slug(heading));
      return !headings.includes(anchor);
    });
    expect(lost.map(([link]) => link)).toEqual([]);
  });
});

describe("the protocol of its guide", () => {
  it("projects exactly the event types that it declares", async () => {
    const order = defineTool({
      name: "order",
      description: "Orders",
      input: {},
      needsApproval: true,
      execute: () => "ordered",
    });
    const model = scriptedModel([{ calls: [{ name: "order" }] }, { text: "It is ordered." }]);
    const project = plainLines();
    const heard = new Map<string, readonly string[]>();
    const running = run(defineAgent({ name: "a", model, tools: [order] }), "Order it.");
    for await (const event of running) {
      const lines = project(event);
      if (lines.length > 0) heard.set(event.type, lines);
      if (event.type === "approval_required") running.approve(event.callId);
    }
    expect([...heard.keys()].sort()).toEqual(Object.keys(plainMapping).sort());
  });
});

const ends = { stop: "stop", length: "length", content_filter: "filter" };

modelSuite(
  "of the guide",
  {
    encode({ text, calls = [], finish = "stop", reason, id: answer = "1" }) {
      const line = (body: object): string => `${JSON.stringify({ answer, ...body })}\n`;
      const said = text === undefined ? [] : (text.match(/.{1,5}/gsu) ?? []).map((say) => line({ say }));
      const called = calls.flatMap(({ id, name, arguments: written }, index) => [
        line({ call: { index, id, name } }),
        ...(written.match(/.{1,20}/gsu) ?? []).map((piece) => line({ arguments: { index, text: piece } })),
      ]);
      const end = reason ?? (finish === "stop" && calls.length > 0 ? "calls" : ends[finish]);
      return { body: [...said, ...called].join(""), end: line({ used: { in: 12, out: 7 } }) + line({ end }) };
    },
    overloaded: `${JSON.stringify({ answer: "1", error: "overloaded" })}\n`,
    stopReasons: {
      stop: "end",
      calls: "tool_calls",
      length: "length",
      filter: "content_filter",
      tired: "other",
    },
  },
  (baseURL) => acme({ model: "sailor-1", apiKey: "none", baseURL }),
);

it("the client of the guide gives up on a provider that stays silent", async () => {
  const silent: typeof fetch = (_, init) =>
    new Promise((_resolve, reject) =>
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)),
    );
  const model = acme({ model: "sailor-1", apiKey: "none", idleMs: 1, fetch: silent });
  const request = { instructions: "", history: [], tools: [], toolChoice: "auto", thinking: false } as const;
  const stream = model.stream(request, { signal: new AbortController().signal });
  await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "model_timeout" });
});

storeSuite("of the guide", () => withMirror(memory(), () => undefined));

engineSuite(
  "of the guide",
  () => adaptEngine(memory(), (options) => createQueueEngine(createMemoryQueue(), options)),
  { isRemote: true, share: 0.2 },
);
