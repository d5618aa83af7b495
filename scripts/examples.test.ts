import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { type ExampleRun, listExamples, runExample } from "./examples.ts";

const root = join(import.meta.dirname, "..");
const readText = (path: string): string => readFileSync(join(root, path), "utf8");

describe("the examples", () => {
  const lines: { readonly [name: string]: string } = {
    "quick-start": "done after 2 turns and 1 tool call",
    "add-a-model": "High water is at 6:40. (2 requests)",
    "add-a-protocol": "← ok",
    "add-a-store": "1 run_start, 2 turn_start, 3 message, 4 turn_end, 5 done",
    "add-a-tool": 'convert_money {"amount":20,"currency":"crowns"} ok',
    "add-a-widget": "the model reads: Left the depot at 08:10, in the street since 11:45.",
    "add-an-app": "ok: where is the book moby-dick",
    "add-an-engine": "done: The pressure is 3 bar. (1 look)",
    "agent-tool": "  librarian 2 done",
    "anthropic-client": "Sail on Friday at 6:40.",
    approvals: "denied: The call was denied: we do not know them.",
    "ask-in-mid-call": 'Booked: {"seat":"7C"} in R 12.',
    "background-agents": "done after 4 turns, 90 tokens by both",
    "busy-session": "started Both are on their way.",
    citations: "[3] Budget, final https://mail.example/m3",
    "cli-config": "", // loaded by `capstan`; prints nothing
    "code-mode":
      'one program: 40 calls, 2 requests, 718 input tokens. The program returned {"open":13,"total":4381}.',
    "coding-tools": "shell: ok, read_file: ok, edit_file: ok, shell: ok",
    costs: "$0.0065, prices of 2026-11-16",
    dbos: "Set DATABASE_URL to a Postgres database.",
    durable: "done: The report is on its way.",
    embeddings: "nearest: A cat sleeps 15 hours a day.",
    evals: "contains: +1, between 1 and 1: better",
    "evals-datasets": "brief: 1, between 0.34 and 1.00",
    "event-views": '15 finished {"steps":2}',
    events: "#10  complete   done",
    files: "plan: ok, read_file: ok, edit_file: ok, read_file: error",
    handoffs: "  research -> desk: Only the queue retries.",
    "hosted-tools": "[1] Tides in Bergen https://tides.example/bergen",
    "isolated-tool": 'error: "parse" crashed: its process ran out of memory (limit: 32 MB).',
    "learn-approval": "waiting: may I buy? It costs 9000 euros.",
    "learn-by-hand": "It is 14:20. You have ten minutes left.",
    "learn-errors": "done: There are trains at 9:05 and 14:30.",
    "learn-history": "user, assistant, user",
    "learn-limits": "limit (max_turns): I could not finish this: The limit of 2 turns was reached.",
    "learn-model-call": "I do not know it.",
    "learn-resume": "Your cake is being baked. (2 turns, 1 cake)",
    "learn-stream": "delta:  a four.",
    "learn-together": "  french: Bonjour",
    "learn-turns": "done after 2 turns",
    limits: "limit (max_turns)",
    "local-model":
      "model_not_found: Model file not found: qwen3-4b-q4_k_m.gguf. Check the path, or run `capstan models get` to download a model.",
    logs: "events.jsonl readable.log reasoning.log",
    "mcp-apps": 'lamp on: false. An app of the MCP server "lamp" wants to make this call.',
    "mcp-client": "mcp_memory_delete_entities: denied",
    "mcp-server": "done after 2 turns: The invoice is on its way.",
    media: "image/png: 8 bytes in blob_1",
    memory: "/memories/notes.md, written by the operator: my dog is called Rex",
    "migrate-ai-sdk": "Oslo, as you asked before. (6 entries)",
    "migrate-langgraph": "Done: A table outside, for 4.",
    "migrate-mastra": "done: Your post is out.",
    "migrate-openai-agents": "done: B-17 is paid back.",
    models: "answered by offline/rules",
    operate: "POST /api/runs 201",
    "own-data": "A rope costs 12.",
    "own-model": "That is about 26 miles.",
    "rate-limit": "model_rate_limited",
    restate:
      "server_unreachable: Restate does not answer at http://127.0.0.1:9070. Check the address, and that the server runs.",
    resume: "9 facts were left; the last is tool_call_start",
    safety: '  "to": "thief@example.net",',
    schedules: "next at 2026-03-03T13:00:00.000Z",
    server: "order_taxi waits for approval",
    "sessions-export": "imported: Harbors, 4 entries",
    "sessions-live": "disconnected after 2",
    "sessions-time": "  + Rome: 19 °C, sun",
    settings: "turn 2: { effort: 'medium', maxOutputTokens: 500 }",
    skills: 'load_skill {"name":"release-notes","file":"references/style.md"}',
    "stop-chat": "assistant: Once upon a time",
    "stored-agents": 'The agent "clerk" is not valid: tools[0]: unknown tool "serch". Did you mean "search"?',
    "structured-output": "{ city: 'Oslo', days: 3 }",
    testing: "all as expected",
    "testing-conversations": "2 of 2 as expected",
    "testing-golden": "the same 10 facts, twice",
    "testing-properties": "100 runs kept their promises",
    "testing-recorded": 'recorded "Capital of Norway?", requested "Capital of Sweden?"',
    "tool-search": "get_time, search_tools, read_result, refund_payment",
    tools: "500 departures, the last from gate B19.",
    tracing: "in one trace: true",
    "typed-agents": "P1: 2 days",
    webhooks: 'run.ended: done, "Switch it off, then call the fire brigade."',
    widgets: "widget: map",
  };

  it("are all listed here", () => {
    expect(listExamples()).toEqual(Object.keys(lines));
  });

  const runs = new Map<string, Promise<ExampleRun>>();
  const runOnce = (name: string): Promise<ExampleRun> => {
    const running = runs.get(name) ?? runExample(name, process.env.CAPSTAN_BUILT);
    runs.set(name, running);
    return running;
  };

  it.each(Object.entries(lines))("%s runs and prints the expected output", async (name, line) => {
    const { exitCode, output } = await runOnce(name);
    expect(output.split("\n")).toContain(line);
    expect(exitCode).toBe(0);
  });

  it("resume does not repeat finished tools after its process crashed", async () => {
    const { output } = await runOnce("resume");
    expect(output.match(/translate runs/g)).toHaveLength(1);
  });
});

describe("the examples, the templates and the apps", () => {
  /** Finds type assertions. `as const` is none, nor is a renamed import. */
  function findCasts(code: string): string[] {
    const lines = code
      .replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, "")
      .split("\n")
      .filter((line) => !/^\s*(?:import|export) /.test(line) && !/^ {2}(?:type )?\w+ as \w+,$/.test(line));
    const cast =
      /[\w)\]}!] as (?:[A-Z]\w*|[{[(]|unknown|any|never|string|number|boolean|object|keyof|typeof)/;
    return lines.filter((line) => cast.test(line.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""')));
  }

  it("need no cast", () => {
    const files = globSync(
      ["docs/examples/**/*.{ts,tsx}", "packages/cli/templates/**/*.{ts,tsx}", "apps/**/*.{ts,tsx}"],
      { cwd: root, exclude: ["**/node_modules/**", "**/*.test.ts", "**/testing/**"] },
    );
    expect(files.length).toBeGreaterThan(100);
    expect(
      files.flatMap((file) => findCasts(readText(file)).map((line) => `${file}: ${line.trim()}`)),
    ).toEqual([]);
  });

  it("have none that is overlooked", () => {
    expect(findCasts("const port = (server.address() as AddressInfo).port; // as Json")).toHaveLength(1);
    expect(findCasts("const user = (context as { user: string }).user;")).toHaveLength(1);
    expect(findCasts("const list = [] as unknown[];\nconst a = {} as const;")).toHaveLength(1);
    expect(findCasts('// as Json\nimport { A as B } from "x";\nconst text = "x as Json";')).toEqual([]);
    expect(findCasts(`const text = 'tables as ["people"]';`)).toEqual([]);
  });
});

type Block = { readonly page: string; readonly title: string; readonly code: string };

/** The TypeScript blocks of a page. The first line of each names the example it shows. */
function findBlocks(page: string): Block[] {
  return [...readText(page).matchAll(/^```ts\n(.*\n)([\s\S]*?)^```$/gm)].map(([, title = "", code = ""]) => ({
    page,
    title: title.trim(),
    code,
  }));
}

/** An excerpt may come from an indented block. */
const stripIndent = (code: string): string => code.replace(/^ +/gm, "");

describe("the code in the documentation", () => {
  const pages = ["README.md", ...globSync("docs/*.md", { cwd: root })];
  const blocks = pages.flatMap(findBlocks);
  const whole = /^\/\/ (docs\/(?:examples|programs)\/[\w-]+\.ts|hosts\/\S+)$/;
  const part = /^\/\/ from (docs\/examples\/(?:[\w-]+\/)?[\w.-]+\.ts|hosts\/\S+)$/;
  /** In the tutorial: a file that the reader writes; `tutorial.test.ts` writes it too. */
  const written = /^\/\/ file: [\w./-]+$/;

  it("names the example it shows, whole or in part, in its first line", () => {
    const nameless = blocks.filter(
      ({ page, title }) =>
        !whole.test(title) && !part.test(title) && !(page === "docs/tutorial.md" && written.test(title)),
    );
    expect(nameless).toEqual([]);
    expect(blocks.length).toBeGreaterThan(0);
  });

  it.each(blocks.filter(({ title }) => whole.test(title)))("$page: $title matches the file", ({
    title,
    code,
  }) => {
    expect(code).toBe(readText(whole.exec(title)?.[1] ?? ""));
  });

  it.each(blocks.filter(({ title }) => part.test(title)))("$page: $title is an excerpt of the file", ({
    title,
    code,
  }) => {
    expect(stripIndent(readText(part.exec(title)?.[1] ?? ""))).toContain(stripIndent(code));
  });

  it("shows or links every example", () => {
    const text = pages.map(readText).join("\n");
    expect(listExamples().filter((name) => !text.includes(`examples/${name}.ts`))).toEqual([]);
  });
});

describe("the README", () => {
  it("leads to every page of the documentation", () => {
    const pages = globSync("docs/*.md", { cwd: root });
    expect(pages.filter((page) => !readText("README.md").includes(`(${page}`))).toEqual([]);
  });
});

describe("the comparison with other frameworks", () => {
  it("denies nothing that a page of the documentation describes", () => {
    const denials = readText("docs/compare.md")
      .split("\n")
      .filter((line) => line.includes("not available"));
    const topics = globSync("docs/*.md", { cwd: root }).map((page) => basename(page, ".md").split("-"));
    const denied = topics.filter((words) =>
      denials.some((line) => words.every((word) => line.includes(word))),
    );
    expect(denied).toEqual([]);
  });
});

describe("the links in the documentation", () => {
  const pages = [
    "README.md",
    "CONTRIBUTING.md",
    "bench/README.md",
    ...globSync("apps/**/README.md", { cwd: root, exclude: (name) => name === "node_modules" }),
    ...globSync("docs/**/*.md", { cwd: root }),
  ];

  it.each(pages.filter((page) => basename(page) !== "coverage.md"))("of %s lead to files", (page) => {
    const links = [...readText(page).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)|(?:src|srcset)="([^"]+)"/g)];
    const targets = links.map((link) => join(page, "..", link[1] ?? link[2] ?? ""));
    expect(targets.filter((target) => globSync(target, { cwd: root }).length === 0)).toEqual([]);
  });
});
