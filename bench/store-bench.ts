import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Store } from "capstan";
import { postgres } from "capstan/stores/postgres";
import { sqlite } from "capstan/stores/sqlite";
import pg from "pg";
import { formatTable, updateReadme } from "./markdown.ts";

export type StorePlan = {
  readonly sizes: readonly number[];
  readonly samples: number;
  /** The URL of a PostgreSQL server; without it, only SQLite is measured. */
  readonly postgres?: string;
  log(text: string): void;
};

export type StoreUnderTest = {
  readonly name: string;
  readonly store: Store;
  /** Does what the server does by itself within a minute of a bulk load. */
  settle(): Promise<void>;
};

/** Measures a new SQLite file, then a new PostgreSQL schema. */
export async function measureStores<Cell>(
  plan: StorePlan,
  measure: (subject: StoreUnderTest) => Promise<readonly Cell[]>,
): Promise<readonly Cell[]> {
  const folder = mkdtempSync(join(tmpdir(), "capstan-bench-"));
  const file = sqlite(join(folder, "bench.db"));
  const cells = [...(await measure({ name: "SQLite", store: file, settle: async () => undefined }))];
  await file.close();
  rmSync(folder, { recursive: true });
  if (plan.postgres === undefined) return cells;
  const pool = new pg.Pool({ connectionString: plan.postgres });
  const schema = `bench_${folder.slice(-6).toLowerCase()}`;
  const database = postgres(pool, { schema });
  const settle = async () => {
    const tables = ["facts", "sessions", "runs", "run_summaries", "ended_runs"].map(
      (name) => `"${schema}".${name}`,
    );
    await pool.query(`VACUUM ANALYZE ${tables.join(", ")}`);
  };
  cells.push(...(await measure({ name: "PostgreSQL", store: database, settle })));
  await database.close();
  await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
  await pool.end();
  return cells;
}

type StoreTable<Cell> = {
  /** The titles of the columns after the first, which names the work. */
  head(cells: readonly Cell[]): readonly string[];
  /** The figures of one work, one cell for each size. */
  row(cells: readonly Cell[]): readonly string[];
};

/** Formats a table for each store, with a row for each work. */
export function formatStoreTables<Cell extends { readonly store: string; readonly work: string }>(
  cells: readonly Cell[],
  { head, row }: StoreTable<Cell>,
): string {
  const tables = [...Map.groupBy(cells, ({ store }) => store)].map(([store, own]) => {
    const rows = [...Map.groupBy(own, ({ work }) => work)].map(([work, sizes]) => [work, ...row(sizes)]);
    return formatTable([store, ...head(own)], rows);
  });
  return tables.join("\n\n");
}

type StoreBench = {
  readonly help: string;
  /** The section of bench/README.md that receives the report. */
  readonly section: string;
  readonly quick: Pick<StorePlan, "sizes" | "samples">;
  readonly full: Pick<StorePlan, "sizes" | "samples">;
  report(plan: StorePlan): Promise<string>;
};

/** Runs a benchmark of the stores from the command line. */
export async function runStoreBench({ help, section, quick, full, report }: StoreBench): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      postgres: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return console.log(help);
  const { postgres: url } = values;
  const plan = { ...(values.quick ? quick : full), ...(url && { postgres: url }) };
  const text = await report({ ...plan, log: (line) => console.error(line) });
  console.log(text);
  if (!values.quick) updateReadme(section, text);
}
