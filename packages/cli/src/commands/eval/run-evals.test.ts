import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../../testing/cli-in-process.ts";
import { createScratchProject, type ScratchProject } from "../../testing/cli-process.ts";

/** An agent that knows the stock of a shop, which another file holds, and an eval of it. */
const evalFile = (answer: string) => `
import { defineAgent, defineTool } from "capstan";
import { defineEval, scorers } from "capstan/evals";
import { scriptedModel } from "capstan/testing";
const stock = defineTool({
  name: "stock", description: "Counts", input: { item: { type: "string", required: true } }, effects: "none",
  execute: ({ item }) => { globalThis.stockCalls = (globalThis.stockCalls ?? 0) + 1; return item + ": 4"; },
});
const model = scriptedModel(({ history }) => history.at(-1).type === "result"
  ? { text: "${answer}" } : { calls: [{ name: "stock", input: { item: history[0].content } }] });
export default defineEval({
  name: "stock",
  agent: defineAgent({ name: "shop", model, tools: [stock] }),
  cases: ["lamp", "chair", "desk", "bed", "sofa", "shelf"].map((item) => ({ id: item, input: item, expected: "four", calls: ["stock"] })),
  scorers: [scorers.contains(), scorers.callSequence()],
  tools: { stock: "recorded" },
  recordings: import.meta.dirname + "/stock.jsonl",
});
`;

let project: ScratchProject;
beforeEach(() => {
  project = createScratchProject();
});
afterEach(() => project.remove());

let fileCount = 0;
/** Node caches modules, so a changed eval is another file. */
async function runEvals(answer: string, ...words: readonly string[]) {
  const folder = `evals-${++fileCount}`;
  project.write(`${folder}/stock.eval.mjs`, evalFile(answer));
  const config = `config-${fileCount}.mjs`;
  project.write(config, `export default { evals: ["${folder}"] };`);
  const recorded = await runCli(["eval", "--record", "--trust", "--no-session", "--config", config], project);
  expect(recorded.stderr).toContain("stock: 6 of 6");
  return runCli(["eval", ...words, "--config", config], project);
}
const read = (file: string) => readFileSync(join(project.folder, file), "utf8");

describe("capstan eval", () => {
  it("prints a table, reports progress on stderr, and passes", async () => {
    const { code, stdout, stderr } = await runEvals("four", "--concurrency", "2");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^stock: 6 cases, 1 attempt each \(exp_[\w-]+\)$/m);
    expect(stdout).toMatch(/^contains +1\.00 +0\.61 to 1\.00 +100 %$/m);
    expect(stdout).toMatch(/^PASSED$/m);
    const counts = stderr.match(/stock: \d of 6/g)?.sort();
    expect(counts).toEqual([1, 2, 3, 4, 5, 6].map((count) => `stock: ${count} of 6`));
  });

  it("fails below the thresholds with 1, and writes JUnit and Markdown", async () => {
    const { code, stdout } = await runEvals(
      "three",
      "stock",
      "--junit",
      "out/a.xml",
      "--markdown",
      "out/a.md",
    );
    expect(code).toBe(1);
    expect(stdout).toContain('contains 0.00: "four" not in "three"');
    expect(stdout).toContain("FAILED\n  0 of 6 attempts passed (0 %); at least 100 % must.");
    expect(read("out/a.xml")).toContain('<testsuite name="stock" tests="6" failures="6" errors="0"');
    expect(read("out/a.md")).toContain("### ❌ stock");
  });

  it("compares with an earlier experiment: better passes, worse fails", async () => {
    const bad = await runEvals("three", "--json");
    const [{ experiment }] = JSON.parse(bad.stdout);
    expect(experiment).toMatchObject({ name: "stock", status: "done", summary: { passed: 0 } });
    const good = await runEvals("four", "--against", experiment.id);
    expect(good.code).toBe(0);
    expect(good.stdout).toMatch(/^all +contains +0\.00 +1\.00 +1\.00 to 1\.00 +better$/m);
    const [, goodId = ""] = /\((exp_[\w-]+)\)/.exec(good.stdout) ?? [];
    const worse = await runEvals("three", "--against", goodId, "--json");
    expect(worse.code).toBe(1);
    expect(JSON.parse(worse.stdout)[0].problems).toContain("contains got worse by 1.00.");
    const unknown = await runEvals("four", "--against", "nothing");
    expect(unknown).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('No experiment of "stock" is "nothing"'),
    });
  });

  it.each([
    [["eval", "stok"], 'There is no eval "stok". Did you mean "stock"?'],
    [["eval", "--attempts", "0"], '--attempts must be a whole number from 1 to 100, not "0".'],
    [["eval", "--junit", "."], "cannot be written (EISDIR)"],
  ])("names what is wrong: %j", async (words, problem) => {
    const { code, stderr } = await runEvals("four", ...words.slice(1));
    expect(code).not.toBe(0);
    expect(stderr).toContain(problem);
  });

  it("finds no evals, and runs none of an untrusted folder", async () => {
    const none = await runCli(["eval"], project);
    expect(none.stderr).toContain("No evals found. Create evals/<name>.eval.ts");
    project.write("evals/bad.eval.mjs", "globalThis.wasLoaded = true; export default 1;");
    const untrusted = await runCli(["eval"], project);
    expect(untrusted.stderr).toContain("is not trusted");
    expect(Reflect.get(globalThis, "wasLoaded")).toBeUndefined();
    const empty = await runCli(["eval", "--trust"], project);
    expect(empty.stderr).toContain("exports no eval. Add `export default defineEval({ … })`.");
  });

  it("prints for the eval that fails on purpose what docs/evals.md shows", async () => {
    const docs = join(import.meta.dirname, "../../../../../docs");
    project.write(
      "config.mjs",
      `export default { evals: [${JSON.stringify(join(docs, "examples/evals"))}] };`,
    );
    const { code, stdout } = await runCli(["eval", "--config", "config.mjs", "--trust"], project);
    expect(code).toBe(1);
    const [, shown] = /```text\n([\s\S]*?)```/.exec(readFileSync(join(docs, "evals.md"), "utf8")) ?? [];
    expect(stdout.replace(/exp_[\w-]+/, "exp_…").trim()).toBe(shown?.trim());
  });

  it("explains itself", async () => {
    const { stdout } = await runCli(["eval", "--help"], project);
    expect(stdout).toContain("defineEval");
    expect(stdout).toContain("--against <version|experiment>");
  });
});
