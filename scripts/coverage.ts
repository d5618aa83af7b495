// Writes docs/coverage.md: which test proves which requirement. A test names the ids it proves in its title, as in
// "finished effects are not performed again (S0-20, F13)"; "F27..F30" or "S0-19..23" names each of a range.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { titlesOf } from "./test-titles.ts";

/** Id to sentence, in the order of the page. */
export type Requirements = Readonly<Record<string, string>>;
/** `file` is relative to the root of the workspace. */
export type Test = { readonly file: string; readonly title: string };
export type Row = { readonly id: string; readonly sentence: string; readonly tests: readonly Test[] };
export type Coverage = { readonly rows: readonly Row[]; readonly problems: readonly string[] };

// Two digits after a dash, so that "P-256" is not taken for an id.
const reference = /(?<![\w-])([A-Z]\d?-(?=\d\d(?!\d))|[A-Z])(\d+)(?:\.\.\1?(\d+))?(?!\w)/g;

/** Who proves what; a problem for every id in a title that is no requirement. */
export function coverageOf(requirements: Requirements, tests: readonly Test[]): Coverage {
  const proofs = new Map<string, Test[]>(Object.keys(requirements).map((id) => [id, []]));
  const groups = new Set(Object.keys(requirements).map(groupOf));
  const problems: string[] = [];
  for (const test of tests) {
    for (const id of idsIn(test.title, groups)) {
      const proof = proofs.get(id);
      if (!proof)
        problems.push(`Unknown requirement ${id} in "${test.title}" (${test.file}). Correct the id.`);
      else if (!proof.some((known) => known.file === test.file && known.title === test.title))
        proof.push(test);
    }
  }
  const rows = Object.entries(requirements).map(([id, sentence]) => ({
    id,
    sentence,
    tests: proofs.get(id) ?? [],
  }));
  return { rows, problems };
}

/** "S0-" of S0-20, "F" of F13. */
function groupOf(id: string): string {
  return id.replace(/\d+$/, "");
}

/** A single letter with a number ("H2", "A4") is an id only where requirements have that letter. */
function idsIn(title: string, groups: ReadonlySet<string>): string[] {
  return [...title.matchAll(reference)].flatMap(([, group = "", first = "", last = first]) => {
    if (!group.endsWith("-") && !groups.has(group)) return [];
    const length = Math.max(0, Number(last) - Number(first) + 1);
    const number = (offset: number): string => String(Number(first) + offset).padStart(first.length, "0");
    return Array.from({ length }, (_, offset) => group + number(offset));
  });
}

export function pageOf({ rows }: Coverage): string {
  const groups = Map.groupBy(rows, (row) => groupOf(row.id));
  const counts = [...groups].map(([group, members]) => `| ${nameOf(group)} | ${countOf(members)} |`);
  const tables = [...groups].flatMap(([group, members]) => [
    `## ${nameOf(group)}`,
    "",
    "| id | requirement | tests |",
    "| --- | --- | --- |",
    ...members.map(lineOf),
    "",
  ]);
  return [
    "# Requirements and the tests that prove them",
    "",
    "Written by `npm run coverage` from `requirements.json` and the titles of the tests; `npm run check` fails when it is out of date.",
    "",
    "| group | covered |",
    "| --- | --- |",
    ...counts,
    `| all | ${countOf(rows)} |`,
    "",
    ...tables,
  ].join("\n");
}

const nameOf = (group: string): string => group.replace(/-$/, "");

function countOf(rows: readonly Row[]): string {
  return `${rows.filter((row) => row.tests.length > 0).length} of ${rows.length}`;
}

function lineOf({ id, sentence, tests }: Row): string {
  const links = tests.map(({ file, title }) => {
    const mark = file.endsWith(".live.test.ts") ? " (opt-in, needs a key)" : "";
    return `[${escaped(title).replace(/[[\]]/g, "\\$&")}](../${file})${mark}`;
  });
  return `| ${id} | ${escaped(sentence)} | ${links.join("<br>") || "**no test yet**"} |`;
}

/** For a cell of a table: a bar ends the cell even inside `code`, a "<" begins a tag only outside. */
function escaped(text: string): string {
  const parts = text
    .replace(/\s+/g, " ")
    .replaceAll("|", "\\|")
    .split(/(`[^`]*`)/);
  return parts.map((part, index) => (index % 2 === 1 ? part : part.replaceAll("<", "&lt;"))).join("");
}

// Suites hold the tests that every implementation of an interface runs. Live tests need a key: they are marked.
const testFiles = ["{packages,scripts,bench,apps}/**/*.test.{ts,tsx}", "packages/*/src/**/*-suite.ts"];

function readTests(): Test[] {
  const files = globSync(testFiles, { exclude: ["**/node_modules/**", "**/dist/**"] });
  return files.sort().flatMap((path) => {
    const file = path.replaceAll("\\", "/");
    return titlesOf(readFileSync(file, "utf8")).map((title) => ({ file, title }));
  });
}

function main(check: boolean): void {
  const coverage = coverageOf(JSON.parse(readFileSync("docs/requirements.json", "utf8")), readTests());
  const page = pageOf(coverage);
  const problems = [...coverage.problems];
  if (!check) writeFileSync("docs/coverage.md", page);
  else if (globSync("docs/coverage.md").length === 0 || readFileSync("docs/coverage.md", "utf8") !== page)
    problems.push("Out of date: docs/coverage.md. Run npm run coverage.");
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

// Not import.meta.main: Node 22 lacks it, and the check would pass by doing nothing.
if (process.argv[1] === import.meta.filename) main(process.argv.includes("--check"));
