import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { checkWorldAccess, findImports, readSources, type Source } from "./architecture.ts";

// No file evaluates text as code in its process, because no in-process sandbox has proven safe. Programs of code mode are
// interpreted in another process, without network, files and keys.
const evaluators =
  /^(?:node:)?(?:vm|repl)$|^(?:vm2|isolated-vm|jsep|jexl|mathjs|expr-eval|quickjs-emscripten|quickjs-wasi)(?:\/|$)/;
const uses = {
  "eval()": /(?<![\w$.])eval\s*\(|(?<![\w$])(?:globalThis|window|self)\.eval\b|\(\s*0\s*,\s*eval\s*\)/,
  "new Function()": /(?<![\w$.])Function\s*\(|\bnew\s+(?:Async|Generator)?Function\b/,
  "the constructor of a constructor": /\.constructor\s*\.\s*constructor\b|\bconstructor["'`]\s*\]\s*\[/,
  "a timer with a text": /\bset(?:Timeout|Interval)\s*\(\s*["'`]/,
  "a worker made of a text": /\beval\s*:\s*true\b|\bnew\s+Worker\s*\(\s*["'`](?:data|blob):/,
  "an interpreter for a text": /["'`](?:--eval|--print)["'`]/,
  "a module whose name is computed": /(?<![\w$.])import\s*\((?!\s*["']|\s*\w+\??:)/,
};
/** Load the user's config from a trusted folder, a database driver, and our own pages. */
const loaders = [
  "config/load-project.ts",
  "commands/eval/find-evals.ts",
  "workspace/open-store.ts",
  "serve/studio.ts",
].map((file) => `packages/cli/src/${file}`);
/** Load optional packages by names that are fixed; bundlers must not look for them. */
const optionalPackages = ["credentials.ts", "local-file.ts"].map(
  (file) => `packages/capstan/src/models/${file}`,
);
/** Loads the developer's module that defines an isolated tool, and watches its parent in a thread with a fixed program. */
const isolatedWorker = "packages/capstan/src/node/isolated-worker.ts";
/** The process of programs. It loads the interpreter by its path, because it can read nothing else. */
const sandboxFolder = "packages/code-mode/src/sandbox/";
const sandboxProcess = `${sandboxFolder}sandbox-process.ts`;

function checkEvaluation(sources: readonly Source[]): string[] {
  const imported = sources.flatMap(({ path, text }) =>
    findImports(text)
      .filter((specifier) => evaluators.test(specifier) && !path.startsWith(sandboxFolder))
      .map((specifier) => `${path} must not import "${specifier}".`),
  );
  const { "a module whose name is computed": computed, "a worker made of a text": worker, ...others } = uses;
  return [
    ...imported,
    ...checkWorldAccess(sources, "", { uses: others, allowedIn: [] }),
    ...checkWorldAccess(sources, "", {
      uses: { "a worker made of a text": worker },
      allowedIn: [isolatedWorker],
    }),
    ...checkWorldAccess(sources, "", {
      uses: { "a module whose name is computed": computed },
      allowedIn: [...loaders, ...optionalPackages, isolatedWorker, sandboxProcess],
    }),
  ];
}

describe("the sources of this workspace", () => {
  const root = `${import.meta.dirname}/..`;
  const sources = readSources(root, ["packages/*/src/**/*.{ts,tsx}"]).filter(
    ({ path }) => !path.includes("/testing/"),
  );

  it("never evaluate text as code: there is no in-process sandbox, as documented (A63)", () => {
    expect(sources.length).toBeGreaterThan(300);
    expect(checkEvaluation(sources)).toEqual([]);
    expect(readFileSync(`${root}/docs/safety.md`, "utf8")).toContain("there is no sandbox");
  });

  it("contain every file that loads a module by a computed name", () => {
    expect(
      [...loaders, ...optionalPackages].filter((place) => !sources.some(({ path }) => path === place)),
    ).toEqual([]);
  });
});

describe("the check of evaluation", () => {
  const path = "packages/tools/src/plan-tool.ts";

  it.each([
    "eval(text);",
    "globalThis.eval(text);",
    "(0, eval)(text);",
    'new Function("a", text);',
    "const made = Function(text);",
    "(() => {}).constructor.constructor(text)();",
    'setTimeout("alert(1)", 1);',
    "new Worker(text, { eval: true });",
    'spawn(process.execPath, ["--eval", text]);',
    "await import(name);",
    "await import(`data:text/javascript,alert(1)`);",
    'import { runInNewContext } from "node:vm";',
    'import vm from "vm";',
    'const { VM } = await import("vm2");',
  ])("finds %s", (text) => {
    expect(checkEvaluation([{ path, text }])).not.toEqual([]);
  });

  it.each([
    "// never eval(text)",
    "function appendFunction(schema: string) {}",
    "type Handler = Function;",
    "interface Sessions { import(text: string): Promise<void> }",
    "await sessions.import(text);",
    'await import("./sqlite.ts");',
    "setTimeout(() => undefined, 1);",
    "evaluate(text);",
  ])("lets %s pass", (text) => {
    expect(checkEvaluation([{ path, text }])).toEqual([]);
  });
});
