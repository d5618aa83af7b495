import { cpus } from "node:os";
import { join } from "node:path";
import type { EngineCell, RunCosts } from "./engine-cell.ts";
import type { EngineResults } from "./engines.ts";
import { formatEnvironment, formatRounds, formatTable } from "./markdown.ts";
import type { EngineName } from "./open-engine.ts";
import { computeMedian } from "./statistics.ts";

/** The file with the measured costs, from which the model of scale computes. */
export const costsFile: string = join(import.meta.dirname, "engine-costs.json");

export type Throughput = {
  readonly workers: number;
  readonly stepsPerSecond: number;
  readonly min: number;
  readonly max: number;
};

/** A run costs `perRun` once and `perStep` for each of its model and tool calls. */
export type EngineCosts = {
  readonly perRun: RunCosts;
  readonly perStep: RunCosts;
  /** One run at a time: before the first step, and for each step. */
  readonly startMs: number;
  readonly stepMs: number;
  readonly throughput: readonly Throughput[];
};

export type MeasuredCosts = {
  readonly measured: {
    readonly date: string;
    readonly node: string;
    readonly processor: string;
    readonly cores: number;
    readonly rounds: number;
    readonly load: number;
    readonly concurrency: number;
  };
  readonly loopStepMs: number;
  readonly engines: Readonly<Partial<Record<EngineName, EngineCosts>>>;
};

export const engineTitles: { readonly [Name in EngineName]: string } = {
  sqlite: "`local`, SQLite",
  postgres: "`local`, Postgres",
  restate: "Restate, Postgres",
  dbos: "DBOS, Postgres",
};

export function buildEngineCosts({ cells, rounds, load, loopStepMs }: EngineResults): MeasuredCosts {
  const engines = Map.groupBy(cells, ({ order }) => order.address.engine);
  return {
    measured: {
      date: new Date().toISOString().slice(0, 10),
      node: process.version,
      processor: cpus()[0]?.model.trim() ?? "unknown",
      cores: cpus().length,
      ...{ rounds, load: round(load), concurrency: cells[0]?.order.concurrency ?? 0 },
    },
    loopStepMs: round(loopStepMs),
    engines: Object.fromEntries([...engines].map(([name, own]) => [name, separateCosts(own)])),
  };
}

/** Separates the cost of a step from that of a run, by runs of two lengths. */
function separateCosts(cells: readonly EngineCell[]): EngineCosts {
  const alone = cells.filter(({ order }) => order.workers === 1);
  const lengths = [...new Set(alone.map(({ steps }) => steps))].toSorted((left, right) => left - right);
  const [short = 0, long = 0] = lengths;
  const separate = (pick: (cell: EngineCell) => number) => {
    const computeMiddle = (steps: number) =>
      computeMedian(alone.filter((cell) => cell.steps === steps).map(pick));
    const perStep = (computeMiddle(long) - computeMiddle(short)) / (long - short);
    const perRun = computeMiddle(short) - short * perStep;
    // The difference of two noisy figures: what is negative is nothing.
    if (perStep < 0) return { perStep: 0, perRun: round(computeMiddle(long)) };
    return perRun < 0
      ? { perStep: round(computeMiddle(long) / long), perRun: 0 }
      : { perStep: round(perStep), perRun: round(perRun) };
  };
  const keys = Object.keys(cells[0]?.costs ?? {}) as (keyof RunCosts)[];
  const costs = keys.map((key) => [key, separate((cell) => cell.costs[key])] as const);
  const computeTime = (pick: (cell: EngineCell) => number) =>
    round(computeMedian(alone.filter(({ steps }) => steps === long).map(pick)));
  const stepMs = computeTime((cell) => cell.stepMs);
  const startMs = computeTime((cell) => cell.startMs);
  const collect = (part: "perRun" | "perStep") =>
    Object.fromEntries(costs.map(([key, cost]) => [key, cost[part]])) as RunCosts;
  const longCells = cells.filter(({ steps }) => steps === long);
  return {
    ...{ perRun: collect("perRun"), perStep: collect("perStep"), startMs, stepMs },
    throughput: [...Map.groupBy(longCells, ({ order }) => order.workers)].map(([workers, own]) => {
      const rates = own.map(({ stepsPerSecond }) => stepsPerSecond);
      const [min, max] = [Math.min(...rates), Math.max(...rates)];
      return { workers, stepsPerSecond: round(computeMedian(rates)), min: round(min), max: round(max) };
    }),
  };
}

const round = (value: number): number => Number(value.toPrecision(4));

export function formatEngineReport(results: EngineResults): string {
  const { engines, loopStepMs } = buildEngineCosts(results);
  const entries = Object.entries(engines) as [EngineName, EngineCosts][];
  const load = `load average ${results.load.toFixed(1)} before it started`;
  const about = `${formatEnvironment("npm run bench:engines", formatRounds(results.rounds), load)}.`;
  const formatRates = ({ stepsPerSecond, min, max }: Throughput) =>
    `${stepsPerSecond.toFixed(0)} (${min.toFixed(0)} to ${max.toFixed(0)})`;
  const workers = entries[0]?.[1].throughput.map(({ workers: count }) => count) ?? [];
  const speed = formatTable(
    [
      "steps per second",
      ...workers.map((count) => `${count} ${count === 1 ? "worker" : "workers"}`),
      "ms added per step",
      "ms to start",
    ],
    entries.map(([name, { throughput, stepMs, startMs }]) => [
      engineTitles[name],
      ...throughput.map(formatRates),
      Math.max(0, stepMs - loopStepMs).toFixed(2),
      startMs.toFixed(1),
    ]),
  );
  return `${about}\n\n${speed}\n\n${formatCosts(entries)}`;
}

const costColumns: readonly (readonly [title: string, format: (costs: RunCosts) => string])[] = [
  ["worker CPU, ms", ({ workerCpuMs }) => workerCpuMs.toFixed(3)],
  ["client CPU, ms", ({ clientCpuMs }) => clientCpuMs.toFixed(3)],
  ["Restate CPU, ms", ({ engineCpuMs }) => engineCpuMs.toFixed(3)],
  ["Postgres CPU, ms", ({ postgresCpuMs }) => postgresCpuMs.toFixed(3)],
  ["round trips", ({ roundTrips }) => roundTrips.toFixed(2)],
  ["traffic, KB", ({ trafficBytes }) => (trafficBytes / 1_000).toFixed(1)],
  ["transactions", ({ transactions }) => transactions.toFixed(2)],
  ["WAL, KB", ({ walBytes }) => (walBytes / 1_000).toFixed(1)],
  ["WAL syncs", ({ walSyncs }) => walSyncs.toFixed(2)],
  ["stored, KB", ({ storedBytes }) => (storedBytes / 1_000).toFixed(1)],
];

function formatCosts(entries: readonly [EngineName, EngineCosts][]): string {
  const rows = entries.flatMap(([name, { perRun, perStep }]) => [
    [`${engineTitles[name]}: a step`, ...costColumns.map(([, format]) => format(perStep))],
    [`${engineTitles[name]}: a run, besides`, ...costColumns.map(([, format]) => format(perRun))],
  ]);
  return formatTable(["", ...costColumns.map(([title]) => title)], rows);
}
