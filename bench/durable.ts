// Measures what it costs that a run survives its process, and prints tables. See README.md.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import pg from "pg";
import type { DurableCell, DurableOrder, DurableStore } from "./durable-cell.ts";
import { median } from "./statistics.ts";

const help = `Measures durable runs beside runs in memory, and beside a disk that only writes and syncs.

  npm run bench:durable                        about five minutes; writes the tables into bench/README.md
  npm run bench:durable -- --quick             rough figures in half a minute
  npm run bench:durable -- --postgres <url>    PostgreSQL too: a server where schemas can be made

  --rounds <n>   how often everything is measured; by default 5, with --quick 1
`;

export type Plan = {
  readonly rounds: number;
  readonly quick: boolean;
  readonly postgres?: string;
  say(text: string): void;
};

type Works = { readonly one: Shape; readonly many: Shape; readonly waiting: number };
type Shape = Pick<DurableOrder, "runs" | "toolTurns" | "samples" | "leastMs">;

const whole: Works = {
  one: { runs: 1, toolTurns: 100, samples: 3, leastMs: 600 },
  many: { runs: 200, toolTurns: 5, samples: 3, leastMs: 600 },
  waiting: 10_000,
};
const rough: Works = {
  one: { runs: 1, toolTurns: 10, samples: 1, leastMs: 1 },
  many: { runs: 50, toolTurns: 2, samples: 1, leastMs: 1 },
  waiting: 200,
};

const execute = promisify(execFile);

async function cellOf(order: DurableOrder): Promise<DurableCell> {
  const program = join(import.meta.dirname, "durable-cell.ts");
  const flags = ["--expose-gc", "--conditions=capstan-source", "--disable-warning=ExperimentalWarning"];
  const { stdout } = await execute(process.execPath, [...flags, program, JSON.stringify(order)]);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}

/** Every round goes through all cells, so that what else the machine does weighs on all alike. */
export async function measureDurable(plan: Plan): Promise<readonly DurableCell[]> {
  const { one, many, waiting } = plan.quick ? rough : whole;
  const stores: DurableStore[] = ["disk", "plain", "memory", "sqlite"];
  if (plan.postgres) stores.push("postgres");
  const cells: DurableCell[] = [];
  async function add(
    store: DurableStore,
    rest: Pick<DurableOrder, "work" | "folder"> & Shape,
  ): Promise<void> {
    const postgres = plan.postgres && { url: plan.postgres, schema: schemaFor(rest.folder) };
    cells.push(await cellOf({ store, ...rest, ...(postgres && { postgres }) }));
    plan.say(`${rest.work}, ${rest.runs} at once, ${store}`);
  }
  for (let round = 0; round < plan.rounds; round++) {
    await inFolder(plan.postgres, async (folder) => {
      for (const store of turned(stores, round)) await add(store, { work: "runs", ...one, folder });
      for (const store of turned(stores.slice(1), round)) await add(store, { work: "runs", ...many, folder });
    });
  }
  for (const store of stores.slice(3))
    await inFolder(plan.postgres, async (folder) => {
      const shape = { runs: waiting, toolTurns: 1, samples: 1, leastMs: 1, folder };
      await add(store, { work: "wait", ...shape });
      await add(store, { work: "open", ...shape });
    });
  return cells;
}

const turned = <Item>(items: readonly Item[], by: number): Item[] => {
  const first = by % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
};

const schemaFor = (folder: string): string => `bench_${folder.slice(-6).toLowerCase()}`;

async function inFolder(
  postgres: string | undefined,
  action: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "capstan-bench-"));
  try {
    await action(folder);
  } finally {
    rmSync(folder, { recursive: true });
    if (postgres) {
      const pool = new pg.Pool({ connectionString: postgres });
      await pool.query(`DROP SCHEMA IF EXISTS "${schemaFor(folder)}" CASCADE`);
      await pool.end();
    }
  }
}

const titles: { readonly [Store in DurableStore]: string } = {
  disk: "write and sync alone",
  plain: "`run`, in memory",
  memory: "`local` on `memory()`",
  sqlite: "`local` on `sqlite(file)`",
  postgres: "`local` on `postgres(pool)`",
};

/** The tables, as Markdown. */
export function durableReport(cells: readonly DurableCell[], rounds: number): string {
  const processor = cpus()[0]?.model.trim() ?? "an unknown processor";
  const date = new Date().toISOString().slice(0, 10);
  const about = `${date}, Node ${process.version}, ${cpus().length} × ${processor}, ${rounds} ${rounds === 1 ? "round" : "rounds"}, \`npm run bench:durable\`.`;
  const runs = cells.filter(({ order }) => order.work === "runs");
  const [one, many] = [
    runs.filter(({ order }) => order.runs === 1),
    runs.filter(({ order }) => order.runs > 1),
  ];
  return [about, runsTable("One run", one), runsTable("Many runs at once", many), waitingTable(cells)].join(
    "\n\n",
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, column) => (column === 0 ? "---" : "---:"))), ...rows.map(line)].join(
    "\n",
  );
}

type Series = "turnMs" | "turnCpu" | "stepsPerSecond";

function runsTable(title: string, cells: readonly DurableCell[]): string {
  const stores = [...new Set(cells.map(({ order }) => order.store))].toSorted(
    (left, right) => Object.keys(titles).indexOf(left) - Object.keys(titles).indexOf(right),
  );
  const of = (store: DurableStore, series: Series) =>
    cells.filter(({ order }) => order.store === store).map((cell) => median(cell[series]));
  const ratio = (store: DurableStore, base: DurableStore, series: Series) => {
    const below = of(base, series);
    return spread(of(store, series).map((cost, round) => cost / (below[round] ?? Number.NaN)));
  };
  const rows = stores.map((store) => [
    titles[store],
    store === "disk" ? "" : median(of(store, "stepsPerSecond")).toFixed(0),
    median(of(store, "turnMs")).toFixed(3),
    ratio(store, "plain", "turnMs"),
    ratio(store, "plain", "turnCpu"),
    stores.includes("disk") ? ratio(store, "disk", "turnMs") : "",
  ]);
  const [first] = cells;
  const shape = `${first?.order.runs} × ${first?.order.toolTurns} tool turns`;
  const head = [
    "",
    "steps per second",
    "ms per turn",
    "times `run`",
    "CPU, times `run`",
    "times write and sync",
  ];
  return `### ${title}: ${shape}\n\n${table(head, rows)}`;
}

function spread(values: readonly number[]): string {
  return `${median(values).toFixed(2)} (${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)})`;
}

function waitingTable(cells: readonly DurableCell[]): string {
  const waiting = cells.filter(({ order }) => order.work !== "runs");
  const rows = waiting.map(({ order, bytesPerRun = 0, lookMs, approvalMs }) => [
    `${order.store}, ${order.work === "wait" ? "the process that began them" : "a fresh process"}`,
    bytesPerRun.toFixed(1),
    lookMs?.toFixed(0) ?? "",
    approvalMs?.toFixed(0) ?? "",
  ]);
  const head = ["", "bytes of heap per run", "ms to look for lost runs", "ms from an approval to the end"];
  return `### ${waiting[0]?.order.runs} runs that wait for a person\n\n${table(head, rows)}`;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      postgres: { type: "string" },
      rounds: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return console.log(help);
  const { quick, postgres } = values;
  const rounds = Number(values.rounds ?? (quick ? 1 : 5));
  const plan = { rounds, quick, ...(postgres && { postgres }), say: (text: string) => console.error(text) };
  const report = durableReport(await measureDurable(plan), rounds);
  console.log(report);
  if (quick) return;
  const readme = join(import.meta.dirname, "README.md");
  const [before, rest = ""] = readFileSync(readme, "utf8").split("<!-- durable -->");
  const [, after = ""] = rest.split("<!-- end of durable -->");
  writeFileSync(readme, `${before}<!-- durable -->\n\n${report}\n\n<!-- end of durable -->${after}`);
}

if (process.argv[1] === import.meta.filename) await main();
