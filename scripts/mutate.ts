// Plants faults in a copy of the workspace, one at a time, and runs the tests that cite the requirement that the fault
// breaks. A fault that no such test notices has survived. `npm run mutate -- --help` lists the options.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { computeCoverage, readTests, type Test } from "./coverage.ts";
import { applyMutant, type Mutant, readMutants } from "./mutants/mutant.ts";

const help = `npm run mutate -- [--seed 1] [--count 100] [--row S0-20]

Plants faults in a copy of the workspace and reports those that no test with the id of the broken requirement notices.

  --seed   chooses which faults are planted, and their order (default 1)
  --count  how many (default 100)
  --row    only the faults of this requirement, or of all that start so: S2`;

/** `unclear`: the tests hung, or also fail without the fault. */
type Outcome = "killed" | "survived" | "unclear";

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "1" },
      count: { type: "string", default: "100" },
      row: { type: "string" },
      help: { type: "boolean" },
    },
  });
  if (values.help) return console.log(help);
  const pool = readMutants().filter(({ row }) => values.row === undefined || row.startsWith(values.row));
  const chosen = shuffle(pool, Number(values.seed)).slice(0, Number(values.count));
  const { rows } = computeCoverage(JSON.parse(readFileSync("docs/requirements.json", "utf8")), readTests());
  const tests = new Map(rows.map((row) => [row.id, row.tests]));
  const copy = copyWorkspace();
  const missed: MissedMutant[] = [];
  try {
    for (const [index, mutant] of chosen.entries()) {
      const outcome = await tryMutant(copy, mutant, tests.get(mutant.row) ?? []);
      if (outcome !== "killed") missed.push({ ...mutant, outcome });
      console.log(`${index + 1}/${chosen.length} ${outcome} ${mutant.row} ${mutant.file}`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  report(chosen.length, missed);
}

type MissedMutant = Mutant & { readonly outcome: Outcome };

function report(count: number, missed: readonly MissedMutant[]): void {
  const killed = count - missed.length;
  const share = ((100 * killed) / count).toFixed(1);
  console.log(`\n${killed} of ${count} killed by a test that cites the row (${share} %).`);
  for (const { outcome, row, file, from, to } of missed)
    console.log(
      `\n${outcome}: ${row} in ${file}\n- ${from.replaceAll("\n", "\n- ")}\n+ ${to.replaceAll("\n", "\n+ ")}`,
    );
  if (missed.length > count * 0.05) process.exitCode = 1;
}

/** Mulberry32: the same seed gives the same order on every machine. */
function shuffle<Item>(items: readonly Item[], seed: number): Item[] {
  let state = seed;
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const keyed = items.map((item) => ({ item, key: random() }));
  return keyed.sort((one, other) => one.key - other.key).map(({ item }) => item);
}

function copyWorkspace(): string {
  const copy = mkdtempSync(join(tmpdir(), "capstan-mutants-"));
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], { encoding: "utf8" });
  for (const file of files.split("\0").filter(Boolean)) {
    mkdirSync(join(copy, dirname(file)), { recursive: true });
    cpSync(file, join(copy, file), { dereference: false });
  }
  // Hard links where the system has them: the packages are not changed.
  for (const folder of ["node_modules", "packages/cli/node_modules"])
    execFileSync("cp", [process.platform === "linux" ? "-al" : "-R", folder, join(copy, folder)]);
  return copy;
}

/** Runs the cheap tests first; those in a browser only if the fault survives them. */
async function tryMutant(copy: string, mutant: Mutant, tests: readonly Test[]): Promise<Outcome> {
  const path = join(copy, mutant.file);
  const source = readFileSync(path, "utf8");
  const mutated = applyMutant(source, mutant);
  const browser = tests.filter(({ file }) => file.includes(".browser."));
  const others = tests.filter((test) => !browser.includes(test));
  for (const group of [others, browser]) {
    writeFileSync(path, mutated);
    const failed = await findFailed(copy, group).finally(() => writeFileSync(path, source));
    if (failed === undefined) return "unclear";
    if (failed.length > 0) return (await findFailed(copy, failed))?.length === 0 ? "killed" : "unclear";
  }
  return "survived";
}

const maxMs = 240_000;

type FileResult = {
  readonly name: string;
  readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
};

/**
 * Runs tests until one fails, and returns those that failed; undefined if they hang. A file that does not load has no
 * failed test: that it breaks proves nothing.
 */
async function findFailed(copy: string, tests: readonly Test[]): Promise<readonly Test[] | undefined> {
  if (tests.length === 0) return [];
  const results = join(copy, "mutant-results.json");
  rmSync(results, { force: true });
  const files = new Set(tests.flatMap(({ file }) => listTestFiles(file)));
  const titles = tests.map(({ title }) => toPattern(title)).join("|");
  const options = ["--reporter=json", `--outputFile=${results}`, "--testTimeout=60000", "--bail=1"];
  const args = [join(copy, "node_modules/vitest/vitest.mjs"), "run", ...files, "-t", titles, ...options];
  const child = spawn(process.execPath, args, { cwd: copy, stdio: "ignore", timeout: maxMs });
  const signal = await new Promise((resolve) => child.on("exit", (_, sent) => resolve(sent)));
  if (signal !== null) return undefined;
  const { testResults }: { testResults: FileResult[] } = JSON.parse(readFileSync(results, "utf8"));
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === "failed")
      .map(({ title }) => ({ file: relative(copy, name), title })),
  );
}

/** A suite is run by the tests that import it. */
function listTestFiles(file: string): string[] {
  if (!file.endsWith("-suite.ts")) return [file];
  const name = file.split("/").at(-1) ?? file;
  const found = execFileSync(
    "git",
    ["grep", "-l", "--untracked", name.replace(/\.ts$/, ""), "--", "*.test.ts"],
    {
      encoding: "utf8",
    },
  );
  return found.split("\n").filter(Boolean);
}

/** Placeholders of a table or template stand for any text. */
function toPattern(title: string): string {
  const parts = title.split(/%[a-zA-Z#$%]|\$\{[^}]*\}|\$\w+/);
  return parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".*");
}

if (process.argv[1] === import.meta.filename) await main();
