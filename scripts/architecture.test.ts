import { describe, expect, it } from "vitest";
import {
  checkFileNames,
  checkLayers,
  checkNodeModules,
  checkPackages,
  checkWorldAccess,
  findFolderCycles,
  findImports,
  type ImportExceptions,
  type Layer,
  type PackageGraph,
  readSources,
  type Source,
  type WorldRule,
} from "./architecture.ts";
import { importsUpwards } from "./imports-upwards.ts";

// Between packages: cli -> server -> (mcp, tools) -> capstan; offline -> capstan; studio -> capstan. Apps, examples and benchmarks
// import packages only by name, so only what those export.
const packages: PackageGraph = {
  capstan: [],
  offline: ["capstan"],
  tools: ["capstan"],
  mcp: ["capstan"],
  restate: ["capstan"],
  dbos: ["capstan"],
  "code-mode": ["capstan"],
  local: ["capstan"],
  studio: ["capstan"],
  server: ["capstan", "mcp", "tools"],
  verification: ["capstan", "restate", "tools"],
  cli: ["capstan", "offline", "mcp", "tools", "restate", "dbos", "studio", "server"],
};

// The only import upwards: the offline model is an optional peer, imported when it is first used.
const exceptions: ImportExceptions = { "packages/capstan/src/models/offline.ts": "@capstan/offline" };

// Inside packages/capstan/src, from the bottom up: a folder imports from itself and from the folders before it. `kernel/` is
// the words and the machine of a run, a folder of `features/` is one capability, and `runtime/` composes them.
const capstan = "packages/capstan/src/";
const vocabulary = ["base/", "schema/", "kernel/"];
const features = [
  ...["media", "citations", "tool-search", "hosted", "exact-requests", "compaction", "handoffs", "nested"],
  ...["approvals", "calls", "limits", "turns", "recovery", "turn-summaries", "answers"],
].map((name) => `features/${name}/`);
const order = [...vocabulary, ...features, "secrets/", "runtime/"];
const schemas = ["@cfworker/json-schema", "@standard-schema/spec", "re2js"];
const composition = ["index.ts", "engines/", "evals/", "node/", "testing/"];
/** What a store implements. */
const storeTypes = ["runtime/store.ts", "runtime/run-catalog.ts"];

const createLeaf = (folder: string, also: readonly string[] = []): Layer => ({
  files: [folder],
  imports: [...vocabulary, folder, ...also],
  packages: "anything",
});

const layers: readonly Layer[] = [
  { files: composition, imports: "anything", packages: "anything" },
  ...order.map((folder, index) => ({
    files: [folder],
    imports: order.slice(0, index + 1),
    packages: vocabulary.includes(folder) ? schemas : [],
  })),
  createLeaf("models/", ["features/hosted/", "features/exact-requests/", ...storeTypes]),
  createLeaf("stores/", ["features/exact-requests/", "buses/delta-bus.ts", ...storeTypes]),
  createLeaf("buses/"),
  createLeaf("trace/", ["secrets/"]),
  createLeaf("logs/", ["secrets/"]),
  createLeaf("client/", [
    ...["runtime/", "features/", "sessions/", "agents/", "evals/", "memories/", "schedules/"],
  ]), // types only: see browser.test.ts
  // Composed from the vocabulary and the instructions, and from no store or model in particular.
  { files: ["agents/"], imports: [...vocabulary, ...storeTypes, "agents/"], packages: [] },
  // Composed from the records of any store.
  { files: ["memories/"], imports: [...vocabulary, ...storeTypes, "memories/"], packages: [] },
  // Records of the store, and the input of runs. Engines start them.
  {
    files: ["schedules/"],
    imports: [...vocabulary, ...storeTypes, "schedules/", "runtime/input.ts"],
    packages: [],
  },
  // Composed from runs, and from no store or model in particular.
  { files: ["sessions/"], imports: [...order, "sessions/", "schedules/"], packages: [] },
];

const nodeModulesIn = [
  "node/",
  "stores/sqlite/",
  "logs/file-logs.ts",
  "evals/recording-file.ts",
  "models/recorded.ts",
  "models/post.ts", // types only: Node's client is looked up at run time
  "testing/cloud-server.ts",
  "testing/model-suite.ts",
  "testing/recording-provider.ts",
  "testing/splice-suite.ts",
];

// A dot before the name means that it was passed in (`io.fetch(…)`), unless the thing before is the global object.
const world: WorldRule = {
  uses: {
    "fetch()": /(?<![\w$.]|function )fetch\(|globalThis\.fetch\b/,
    timers: /(?<![\w$.])set(?:Timeout|Interval|Immediate)\(|globalThis\.set(?:Timeout|Interval|Immediate)\b/,
    "Date.now()": /\bDate\.now\(|new Date\(\)/,
    "Math.random()": /\bMath\.random\(/,
    crypto: /(?<![\w$.])crypto\.|globalThis\.crypto\b/,
  },
  allowedIn: [
    ...["runtime/", "models/", "stores/", "engines/", "base/clock.ts", "client/environment.ts"],
    ...["kernel/ids.ts", "features/approvals/digest.ts", "testing/", "node/isolated-worker.ts"],
    "schedules/schedule-tool.ts", // the tool performs its effect itself
  ],
};

const upwards: ReadonlySet<string> = new Set(
  importsUpwards.map(([file, specifier]) => `${capstan}${file} must not import "${specifier}".`),
);

/** Takes the listed imports upwards out of a source. */
function withoutUpwards(path: string, text: string): string {
  const listed = importsUpwards.filter(([file]) => path === capstan + file);
  return listed.reduce((rest, [, specifier]) => rest.replaceAll(`"${specifier}"`, '"node:fs"'), text);
}

describe("this workspace", () => {
  const root = `${import.meta.dirname}/..`;
  const sources = readSources(root, ["packages/*/src/**/*.{ts,tsx}"]);
  const users = readSources(root, ["bench/**/*.ts", "docs/{examples,programs}/*.ts", "apps/**/*.{ts,tsx}"]);

  it("imports between packages point one way, and apps, examples and benchmarks use public exports only", () => {
    expect(checkPackages([...sources, ...users], packages, exceptions)).toEqual([]);
  });

  it("imports inside capstan go from composition to leaves and runtime, and down to the vocabulary", () => {
    expect(checkLayers(sources, capstan, layers).filter((problem) => !upwards.has(problem))).toEqual([]);
  });

  it("lists no import upwards that is gone", () => {
    const problems = new Set(checkLayers(sources, capstan, layers));
    expect([...upwards].filter((problem) => !problems.has(problem))).toEqual([]);
  });

  it("folders of capstan do not import each other in circles, but for the imports upwards", () => {
    const own = sources.map(({ path, text }) => ({ path, text: withoutUpwards(path, text) }));
    expect(findFolderCycles(own, capstan)).toEqual([]);
  });

  it("capstan runs without Node: node: modules are in the SQLite store and the log files only", () => {
    expect(checkNodeModules(sources, capstan, nodeModulesIn)).toEqual([]);
    expect(checkNodeModules(sources, "packages/offline/src/", [])).toEqual([]);
  });

  it("time, randomness and the network are used only where effects are performed", () => {
    expect(checkWorldAccess(sources, capstan, world)).toEqual([]);
  });

  it("every file is named after its content", () => {
    expect(checkFileNames([...sources, ...users])).toEqual([]);
  });
});

const createSource = (path: string, text = ""): Source => ({ path, text });
const createCapstanSource = (file: string, text = ""): Source => createSource(capstan + file, text);
const formatImport = (specifier: string): string => `import { x } from "${specifier}";`;

describe("the reader of imports", () => {
  it("finds every form of import, and none in comments", () => {
    const text = [
      'import a, { b } from "./a.ts";',
      'import type { C } from "./c.ts";',
      "import {\n  d,\n} from './d.ts';",
      'export { e } from "./e.ts";',
      'export * from "./f.ts";',
      '// import { no } from "./no.ts";',
      '/* export { no } from "./no.ts"; */',
      'import "./g.ts";',
      'const h = await import("./h.ts");',
      'export const url = "https://example.org";',
      'const kinds = ["import", "summary"];',
      'type I = import("./i.ts").I;',
    ].join("\n");
    const letters = ["a", "c", "d", "e", "f", "g", "h", "i"];
    expect(findImports(text)).toEqual(letters.map((letter) => `./${letter}.ts`));
  });
});

describe("the check of layers", () => {
  it.each([
    ["kernel/event.ts", "../base/json.ts"],
    ["schema/schema.ts", "@cfworker/json-schema"],
    ["features/handoffs/rules.ts", "./fold.ts"],
    ["features/handoffs/rules.ts", "../compaction/rules.ts"],
    ["features/limits/rules.ts", "../../kernel/state.ts"],
    ["runtime/decide.ts", "../features/limits/rules.ts"],
    ["models/acme.ts", "./sse.ts"],
    ["models/acme.ts", "eventsource-parser"],
    ["stores/acme.ts", "../runtime/store.ts"],
    ["engines/local.ts", "../runtime/loop.ts"],
    ["client/index.ts", "../runtime/result.ts"],
    ["sessions/fork.ts", "../runtime/run.ts"],
    ["agents/build-team.ts", "../kernel/prompt.ts"],
    ["testing/index.ts", "vitest"],
  ])("lets %s import %s", (file, specifier) => {
    expect(checkLayers([createCapstanSource(file, formatImport(specifier))], capstan, layers)).toEqual([]);
  });

  it.each([
    ["kernel/event.ts", "../features/handoffs/fold.ts"],
    ["kernel/event.ts", "../runtime/decide.ts"],
    ["kernel/event.ts", "zod"],
    ["features/handoffs/rules.ts", "../answers/rules.ts"],
    ["features/limits/rules.ts", "../../runtime/perform.ts"],
    ["features/limits/rules.ts", "@cfworker/json-schema"],
    ["runtime/loop.ts", "../engines/local.ts"],
    ["models/acme.ts", "../stores/memory.ts"],
    ["models/acme.ts", "../runtime/loop.ts"],
    ["schema/schema.ts", "../kernel/state.ts"],
    ["stores/memory.ts", "../index.ts"],
    ["stores/acme.ts", "../runtime/loop.ts"],
    ["client/index.ts", "../models/acme.ts"],
    ["sessions/fork.ts", "../stores/memory.ts"],
    ["agents/stored-agents.ts", "../stores/memory.ts"],
  ])("does not let %s import %s", (file, specifier) => {
    const problem = `${capstan}${file} must not import "${specifier}".`;
    expect(checkLayers([createCapstanSource(file, formatImport(specifier))], capstan, layers)).toEqual([
      problem,
    ]);
  });

  it("requires a layer for every file", () => {
    expect(checkLayers([createCapstanSource("stuff/stuff.ts")], capstan, layers)).toEqual([
      `${capstan}stuff/stuff.ts does not belong to a layer. Move it, or add it to the table of layers.`,
    ]);
  });
});

describe("the check of circles", () => {
  it("finds folders that import each other, also through others and by type", () => {
    const sources = [
      createCapstanSource("runtime/run.ts", formatImport("../sessions/queue.ts")),
      createCapstanSource("sessions/queue.ts", 'import type { X } from "../schedules/cron.ts";'),
      createCapstanSource("schedules/cron.ts", formatImport("../runtime/run.ts")),
      createCapstanSource("models/acme.ts", formatImport("../runtime/run.ts")),
      createCapstanSource("features/handoffs/rules.ts", formatImport("../nested/rules.ts")),
      createCapstanSource("features/nested/rules.ts", formatImport("../handoffs/rules.ts")),
    ];
    expect(findFolderCycles(sources, capstan)).toEqual([
      ["features/handoffs/", "features/nested/"],
      ["runtime/", "schedules/", "sessions/"],
    ]);
  });
});

describe("the check of packages", () => {
  it.each([
    ["packages/server/src/http/sse.ts", "capstan/client"],
    ["packages/server/src/index.ts", "@capstan/mcp"],
    ["packages/studio/src/testing/browser.ts", "@capstan/server"],
    ["bench/studio.ts", "../packages/studio/src/testing/browser.ts"],
    ["packages/server/src/http/sse.ts", "../index.ts"],
    ["packages/mcp/src/index.ts", "@modelcontextprotocol/client"],
    ["packages/capstan/src/testing/index.ts", "capstan"],
    ["apps/airport/src/main.ts", "@capstan/server"],
    ["apps/first-words/agents.ts", "../graph/agent.ts"],
    ["apps/airport/src/main.ts", "../../import/read-zip.ts"],
    ["bench/run.ts", "./cases/loop.ts"],
  ])("lets %s import %s", (path, specifier) => {
    expect(checkPackages([createSource(path, formatImport(specifier))], packages)).toEqual([]);
  });

  it.each([
    ["packages/capstan/src/runtime/run.ts", "@capstan/tools", "capstan may import nothing"],
    ["packages/mcp/src/index.ts", "@capstan/server", "mcp may import capstan"],
    ["packages/studio/src/main.ts", "@capstan/server/http", "studio may import capstan"],
  ])("does not let %s import %s", (path, specifier, why) => {
    const problem = `${path} must not import "${specifier}": ${why}.`;
    expect(checkPackages([createSource(path, formatImport(specifier))], packages)).toEqual([problem]);
  });

  it.each([
    ["bench/run.ts", "../packages/capstan/src/runtime/run.ts", "packages/capstan"],
    ["apps/airport/src/main.ts", "../../graph/src/main.ts", "apps/graph"],
    ["apps/import/read-zip.ts", "../graph/src/main.ts", "apps/graph"],
    ["packages/tools/src/index.ts", "../../../apps/import/read-zip.ts", "apps/import"],
    ["packages/server/src/index.ts", "../../capstan/src/run/run.ts", "packages/capstan"],
  ])("does not let %s reach into %s", (path, specifier, other) => {
    const problem = `${path} must not reach into ${other}.`;
    expect(checkPackages([createSource(path, formatImport(specifier))], packages)).toEqual([problem]);
  });

  it("lets one file import one package upwards, and no other file", () => {
    const upwards = (file: string): string[] =>
      checkPackages([createCapstanSource(file, formatImport("@capstan/offline"))], packages, exceptions);
    expect(upwards("models/offline.ts")).toEqual([]);
    expect(upwards("models/default-model.ts")).toHaveLength(1);
  });

  it("requires every package in the table", () => {
    expect(checkPackages([createSource("packages/extra/src/index.ts")], packages)).toEqual([
      'packages/extra/src/index.ts is in a package without a row. Add "extra" to the table of packages.',
    ]);
  });
});

describe("the check of node: modules", () => {
  it("allows them only in the SQLite store and the log files", () => {
    const files = [
      "stores/sqlite/connection.ts",
      "logs/file-logs.ts",
      "stores/memory.ts",
      "logs/json-lines.ts",
    ];
    const sources = files.map((file) => createCapstanSource(file, formatImport("node:fs")));
    expect(checkNodeModules(sources, capstan, nodeModulesIn)).toEqual([
      `${capstan}stores/memory.ts must not import "node:fs": it has to run in browsers too.`,
      `${capstan}logs/json-lines.ts must not import "node:fs": it has to run in browsers too.`,
    ]);
  });
});

describe("the check for side effects", () => {
  it.each([
    ["await fetch(url)", "fetch()"],
    ["globalThis.fetch(url)", "fetch()"],
    ["setTimeout(() => {}, 1)", "timers"],
    ["setInterval(beat, 1)", "timers"],
    ["const at = Date.now();", "Date.now()"],
    ["const at = new Date();", "Date.now()"],
    ["Math.random()", "Math.random()"],
    ["crypto.randomUUID()", "crypto"],
  ])("refuses %s in a pure file, not where effects are performed", (text, name) => {
    const sources = [
      createCapstanSource("features/limits/rules.ts", text),
      createCapstanSource("runtime/call-tool.ts", text),
    ];
    expect(checkWorldAccess(sources, capstan, world)).toEqual([
      `${capstan}features/limits/rules.ts must not use ${name}: pass it in.`,
    ]);
  });

  it.each([
    "io.fetch(url)",
    "clock.setTimeout(f, 1)",
    "new Date(at)",
    "// never Date.now()",
    "prefetch(url)",
  ])("accepts %s", (text) => {
    expect(checkWorldAccess([createCapstanSource("features/limits/rules.ts", text)], capstan, world)).toEqual(
      [],
    );
  });
});

describe("the check of names", () => {
  it("rejects meaningless names", () => {
    const files = ["utils.ts", "kernel/helpers.ts", "misc.ts", "common.ts", "types.ts", "near-names.ts"];
    expect(checkFileNames(files.map((file) => createCapstanSource(file)))).toHaveLength(5);
  });
});
