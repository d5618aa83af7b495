// Measures the cost of durable runs and prints tables. See README.md.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { buildProgramArguments } from "@capstan/verification/program-arguments";
import pg from "pg";
import type { DurableCell, DurableOrder, DurableStore } from "./durable-cell.ts";
import { formatEnvironment, formatRounds, formatTable, updateReadme } from "./markdown.ts";
import { computeMedian } from "./statistics.ts";

const help = `Measures durable runs, compared with runs in memory, with plain disk writes and with bare INSERTs.

  npm run bench:durable                        about five minutes; updates the tables in bench/README.md
  npm run bench:durable -- --quick             rough figures in half a minute
  npm run bench:durable -- --postgres <url>    includes PostgreSQL: a server where schemas can be created

  --rounds <n>   number of rounds; default 5, with --quick 1
`;

export type Plan = {
  readonly rounds: number;
  readonly quick: boolean;
  readonly postgres?: string;
  log(text: string): void;
};

type Works = { readonly one: Shape; readonly many: Shape; readonly waiting: number };
type Shape = Pick<DurableOrder, "runs" | "toolTurns" | "samples" | "leastMs">;

const fullWorks: Works = {
  one: { runs: 1, toolTurns: 100, samples: 3, leastMs: 600 },
  many: { runs: 200, toolTurns: 5, samples: 3, leastMs: 600 },
  waiting: 10_000,
};
const quickWorks: Works = {
  one: { runs: 1, toolTurns: 10, samples: 1, leastMs: 1 },
  many: { runs: 50, toolTurns: 2, samples: 1, leastMs: 1 },
  waiting: 200,
};

const execute = promisify(execFile);

async function runCell(order: DurableOrder): Promise<DurableCell> {
  const program = join(import.meta.dirname, "durable-cell.ts");
  const command = ["--expose-gc", ...buildProgramArguments(program), JSON.stringify(order)];
  const { stdout } = await execute(process.execPath, command);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}

/** Every round measures all cells, so that other load on the machine affects all equally. */
export async function measureDurable(plan: Plan): Promise<readonly DurableCell[]> {
  const { one, many, waiting } = plan.quick ? quickWorks : fullWorks;
  const stores: DurableStore[] = ["disk", "plain", "memory", "sqlite", "factsOnly"];
  if (plan.postgres) stores.push("insert", "postgres");
  const cells: DurableCell[] = [];
  async function addCell(
    store: DurableStore,
    rest: Pick<DurableOrder, "work" | "folder"> & Shape,
  ): Promise<void> {
    const postgres = plan.postgres && { url: plan.postgres, schema: getSchemaName(rest.folder) };
    cells.push(await runCell({ store, ...rest, ...(postgres && { postgres }) }));
    plan.log(`${rest.work}, ${rest.runs} at once, ${store}`);
  }
  for (let round = 0; round < plan.rounds; round++) {
    await withFolder(plan.postgres, async (folder) => {
      for (const store of rotate(stores, round)) await addCell(store, { work: "runs", ...one, folder });
      for (const store of rotate(stores, round)) await addCell(store, { work: "runs", ...many, folder });
    });
  }
  for (const store of stores.filter((name) => name === "sqlite" || name === "postgres"))
    await withFolder(plan.postgres, async (folder) => {
      const shape = { runs: waiting, toolTurns: 1, samples: 1, leastMs: 1, folder };
      await addCell(store, { work: "wait", ...shape });
      await addCell(store, { work: "open", ...shape });
    });
  return cells;
}

const rotate = <Item>(items: readonly Item[], by: number): Item[] => {
  const first = by % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
};

const getSchemaName = (folder: string): string => `bench_${folder.slice(-6).toLowerCase()}`;

async function withFolder(
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
      await pool.query(`DROP SCHEMA IF EXISTS "${getSchemaName(folder)}" CASCADE`);
      await pool.end();
    }
  }
}

const titles: { readonly [Store in DurableStore]: string } = {
  disk: "write and sync alone",
  insert: "INSERT alone",
  plain: "`run`, in memory",
  memory: "`local` on `memory()`",
  sqlite: "`local` on `sqlite(file)`",
  factsOnly: "the same, without the requests",
  postgres: "`local` on `postgres(pool)`",
};

export function formatDurableReport(cells: readonly DurableCell[], rounds: number): string {
  const about = `${formatEnvironment("npm run bench:durable", formatRounds(rounds))}.`;
  const runs = cells.filter(({ order }) => order.work === "runs");
  const [one, many] = [
    runs.filter(({ order }) => order.runs === 1),
    runs.filter(({ order }) => order.runs > 1),
  ];
  return [
    about,
    formatRunsTable("One run", one),
    formatRunsTable("Many runs at once", many),
    formatWaitingTable(cells),
  ].join("\n\n");
}

type Series = "turnMs" | "turnCpu" | "stepsPerSecond";

function formatRunsTable(title: string, cells: readonly DurableCell[]): string {
  const stores = [...new Set(cells.map(({ order }) => order.store))].toSorted(
    (left, right) => Object.keys(titles).indexOf(left) - Object.keys(titles).indexOf(right),
  );
  const getMedians = (store: DurableStore, series: Series) =>
    cells.filter(({ order }) => order.store === store).map((cell) => computeMedian(cell[series]));
  const formatRatio = (store: DurableStore, base: DurableStore, series: Series) => {
    const below = getMedians(base, series);
    return formatSpread(getMedians(store, series).map((cost, round) => cost / (below[round] ?? Number.NaN)));
  };
  const rows = stores.map((store) => [
    titles[store],
    computeMedian(getMedians(store, "stepsPerSecond")).toFixed(0),
    computeMedian(getMedians(store, "turnMs")).toFixed(3),
    computeMedian(getMedians(store, "turnCpu")).toFixed(0),
    formatRatio(store, "plain", "turnMs"),
    formatRatio(store, "disk", "turnMs"),
    stores.includes("insert") ? formatRatio(store, "insert", "turnMs") : "",
  ]);
  const [first] = cells;
  const shape = `${first?.order.runs} × ${first?.order.toolTurns} tool turns`;
  const head = [
    "",
    "steps per second",
    "ms per turn",
    "µs of CPU per turn",
    "times `run`",
    "times write and sync",
    "times INSERT",
  ];
  return `### ${title}: ${shape}\n\n${formatTable(head, rows)}`;
}

function formatSpread(values: readonly number[]): string {
  return `${computeMedian(values).toFixed(2)} (${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)})`;
}

function formatWaitingTable(cells: readonly DurableCell[]): string {
  const waiting = cells.filter(({ order }) => order.work !== "runs");
  const rows = waiting.map(({ order, bytesPerRun = 0, lookMs, approvalMs }) => [
    `${order.store}, ${order.work === "wait" ? "the process that started them" : "a fresh process"}`,
    bytesPerRun.toFixed(1),
    lookMs?.toFixed(0) ?? "",
    approvalMs?.toFixed(0) ?? "",
  ]);
  const head = ["", "bytes of heap per run", "ms to scan for orphans", "ms from approval to the end"];
  return `### ${waiting[0]?.order.runs} waiting runs\n\n${formatTable(head, rows)}`;
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
  const plan = { rounds, quick, ...(postgres && { postgres }), log: (text: string) => console.error(text) };
  const report = formatDurableReport(await measureDurable(plan), rounds);
  console.log(report);
  if (!quick) updateReadme("durable", report);
}

if (process.argv[1] === import.meta.filename) await main();
