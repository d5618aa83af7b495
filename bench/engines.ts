// Measures the engines with several worker processes, and what a run costs in each of them. See README.md.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startPostgres } from "@capstan/verification/postgres";
import { findRestateServer, type RestateServer, startRestate } from "@capstan/verification/restate";
import { run } from "capstan";
import { memory } from "capstan/stores/memory";
import { countSteps, createBenchAgent } from "./engine-agent.ts";
import { type EngineCell, measureEngineCell } from "./engine-cell.ts";
import { buildEngineCosts, costsFile, formatEngineReport } from "./engine-report.ts";
import { updateReadme } from "./markdown.ts";
import { type EngineName, engineNames } from "./open-engine.ts";
import { computeMedian } from "./statistics.ts";

const help = `Measures the engines with 1, 2 and 4 worker processes, on servers that it starts itself. Needs Linux.

  npm run bench:engines                  about ten minutes; updates bench/README.md and bench/engine-costs.json
  npm run bench:engines -- --quick       rough figures in under two minutes; updates nothing

  --rounds <n>      number of rounds; default 3, with --quick 1
  --engine <name>   sqlite, postgres, restate or dbos; can be repeated
`;

export type EnginePlan = {
  readonly rounds: number;
  readonly quick: boolean;
  readonly engines: readonly EngineName[];
  log(text: string): void;
};

export type EngineResults = {
  readonly cells: readonly EngineCell[];
  readonly rounds: number;
  /** One step of a run in memory, without an engine or a database: wall-clock milliseconds, one run at a time. */
  readonly loopStepMs: number;
  /** The load average of the machine, before the first cell. */
  readonly load: number;
};

/** The tool turns of the two kinds of runs: their difference separates the cost of a step from that of a run. */
const shortRun = 1;
const longRun = 10;
const shapes = [
  { workers: 1, toolTurns: shortRun },
  { workers: 1, toolTurns: longRun },
  { workers: 2, toolTurns: longRun },
  { workers: 4, toolTurns: longRun },
] as const;
const fullEffort = { concurrency: 64, warmUpMs: 1_000, measureMs: 3_000, singleRuns: 9 };
const quickEffort = { concurrency: 16, warmUpMs: 500, measureMs: 1_000, singleRuns: 3 };

/** Every round measures all cells, engine after engine, so that other load on the machine affects all equally. */
export async function measureEngines(plan: EnginePlan): Promise<EngineResults> {
  const load = loadavg()[0] ?? 0;
  const folder = mkdtempSync(join(tmpdir(), "capstan-bench-"));
  const postgres = await startPostgres({ durable: true });
  const pool = postgres.pool({ max: 2 });
  let restate: RestateServer | undefined;
  const cells: EngineCell[] = [];
  try {
    if (plan.engines.includes("restate")) restate = await startRestate();
    for (let round = 0; round < plan.rounds; round++)
      for (const shape of shapes)
        for (const engine of rotate(plan.engines, round)) {
          const id = `bench${cells.length}`;
          const address = { engine, id, sqliteFile: join(folder, `${id}.db`), postgresUrl: postgres.url };
          const urls = { ingressUrl: restate?.ingressUrl ?? "", adminUrl: restate?.adminUrl ?? "" };
          const effort = plan.quick ? quickEffort : fullEffort;
          const order = { address: { ...address, ...urls }, adminUrl: urls.adminUrl, ...shape, ...effort };
          const cell = await measureEngineCell(order, pool);
          cells.push(cell);
          await pool.query(
            `DROP SCHEMA IF EXISTS "${id}" CASCADE; DROP SCHEMA IF EXISTS "${id}_queue" CASCADE`,
          );
          plan.log(
            `round ${round + 1}: ${engine}, ${shape.workers} workers, ${cell.steps} steps per run: ${cell.stepsPerSecond.toFixed(0)} steps per second`,
          );
        }
    return { cells, rounds: plan.rounds, load, loopStepMs: await measureLoop() };
  } finally {
    await restate?.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true });
  }
}

const rotate = <Item>(items: readonly Item[], by: number): readonly Item[] => {
  const first = by % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
};

async function measureLoop(): Promise<number> {
  const agent = createBenchAgent(longRun);
  const times: number[] = [];
  for (let count = 0; count < 60; count++) {
    const startedAt = performance.now();
    await run(agent, "Square.", { store: memory() });
    times.push(performance.now() - startedAt);
  }
  return computeMedian(times.slice(20)) / countSteps(longRun);
}

/** Without Restate where npm has no server for this system. */
function listEngines(names: readonly string[] | undefined): readonly EngineName[] {
  const chosen = engineNames.filter((name) => !names || names.includes(name));
  if (chosen.length === 0) throw new Error(`--engine must be one of ${engineNames.join(", ")}.`);
  if (findRestateServer() || !chosen.includes("restate")) return chosen;
  console.error("Restate is skipped: npm has no server for this system.");
  return chosen.filter((name) => name !== "restate");
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      rounds: { type: "string" },
      engine: { type: "string", multiple: true },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return console.log(help);
  const { quick } = values;
  const rounds = Number(values.rounds ?? (quick ? 1 : 3));
  const engines = listEngines(values.engine);
  const results = await measureEngines({ rounds, quick, engines, log: (text) => console.error(text) });
  const report = formatEngineReport(results);
  console.log(report);
  if (quick || engines.length < engineNames.length) return;
  updateReadme("engines", report);
  writeFileSync(costsFile, `${JSON.stringify(buildEngineCosts(results), undefined, 2)}\n`);
}

if (process.argv[1] === import.meta.filename) await main();
