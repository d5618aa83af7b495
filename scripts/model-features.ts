// Writes the table "feature × provider" of docs/models.md. Each cell comes from the request that the real client sends
// with the feature, compared with the request that it sends without.
import { readFileSync, writeFileSync } from "node:fs";
import { columns, features } from "./model-features/catalog.ts";
import { type Cell, checkCell } from "./model-features/check-cell.ts";

export type FeatureTable = {
  /** By feature, then in the order of the columns. */
  readonly rows: ReadonlyMap<string, readonly Cell[]>;
  /** Where a client sends something else than its limits say. */
  readonly problems: readonly string[];
};

export async function buildTable(): Promise<FeatureTable> {
  const rows = new Map<string, readonly Cell[]>();
  const problems: string[] = [];
  for (const feature of features) {
    const cells: Cell[] = [];
    for (const column of columns) {
      const { cell, problem } = await checkCell(feature, column);
      cells.push(cell);
      if (problem !== undefined) problems.push(problem);
    }
    rows.set(feature.label, cells);
  }
  return { rows, problems };
}

export function formatTable({ rows }: FeatureTable): string {
  return [
    `| feature | ${columns.map(({ label }) => label).join(" | ")} |`,
    `| --- |${" --- |".repeat(columns.length)}`,
    ...[...rows].map(([label, cells]) => `| ${label} | ${cells.join(" | ")} |`),
  ].join("\n");
}

const start = "<!-- features: npm run model-features writes this table -->";
const end = "<!-- end of features -->";

/** Returns the page with the table between its two markers. */
export function replaceTable(page: string, table: string): string {
  const [before, rest] = page.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`docs/models.md needs the lines "${start}" and "${end}": add them.`);
  return `${before}${start}\n\n${table}\n\n${end}${after}`;
}

// Not import.meta.main: Node 22 lacks it.
if (process.argv[1] === import.meta.filename) {
  const path = `${import.meta.dirname}/../docs/models.md`;
  const table = await buildTable();
  for (const problem of table.problems) console.error(problem);
  if (table.problems.length > 0) process.exitCode = 1;
  writeFileSync(path, replaceTable(readFileSync(path, "utf8"), formatTable(table)));
}
