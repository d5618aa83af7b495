// Computes the tables and the plot of docs/scale.md from the measured costs: `npm run scale-model`.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BusCell } from "./buses.ts";
import type { EngineCosts, MeasuredCosts } from "./engine-report.ts";
import { formatTable, updateFile } from "./markdown.ts";
import {
  assumptions,
  type Cluster,
  computeNeeds,
  computeRunCosts,
  computeThroughput,
  countRunSteps,
  type ScaleNeeds,
  typicalRun,
} from "./scale-model.ts";
import { createScalePlot } from "./scale-plot.ts";
import { simulateThroughput } from "./scale-simulation.ts";

export const scalePage: string = join(import.meta.dirname, "..", "docs", "scale.md");
export const scalePlot: string = join(import.meta.dirname, "..", "docs", "scale.svg");
export const scales: readonly number[] = [10_000, 1_000_000, 100_000_000];
export const simulatedWorkers: readonly number[] = [1, 2, 4, 8, 16, 32, 64];

/** The engines that several machines can share. */
const titles = { postgres: "`local`", restate: "Restate", dbos: "DBOS" } as const;
type SharedEngine = keyof typeof titles;
const sharedEngines = Object.keys(titles) as SharedEngine[];

export type ScaleInput = { readonly costs: MeasuredCosts; readonly buses: readonly BusCell[] };

export function loadScaleInput(): ScaleInput {
  const load = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, name), "utf8"));
  return { costs: load("engine-costs.json"), buses: load("bus-costs.json") };
}

function getCosts({ costs }: ScaleInput, engine: SharedEngine | "sqlite"): EngineCosts {
  const found = costs.engines[engine];
  if (!found) throw new Error(`bench/engine-costs.json has no ${engine}: repeat npm run bench:engines.`);
  return found;
}

/** The sections of docs/scale.md, by name. */
export function buildScaleSections(input: ScaleInput): Readonly<Record<string, string>> {
  return {
    assumptions: formatAssumptions(input),
    needs: formatNeeds(input),
    "first limits": formatFirstLimits(input),
    engines: formatEngines(input),
    simulation: formatSimulation(input),
    check: formatCheck(input),
  };
}

const formatCount = (value: number): string =>
  (value < 10 ? Number(value.toPrecision(2)) : Number(value.toPrecision(3))).toLocaleString("en-US");
const formatDollars = (value: number): string => `$${formatCount(value)}`;

function formatAssumptions({ costs }: ScaleInput): string {
  const { date, processor, cores, rounds, load } = costs.measured;
  const { postgres } = assumptions;
  return [
    `- **A run**: ${typicalRun.toolTurns} turns with a tool call and an answer, so ${countRunSteps(typicalRun)} steps; ${formatCount(typicalRun.inputTokensPerTurn)} tokens in and ${typicalRun.outputTokensPerTurn} out per turn; tool results of 1,000 characters; active for ${typicalRun.activeSeconds} seconds, mostly waiting for the model; one reader elsewhere. The peak is ${typicalRun.peakFactor} times the average. Facts are kept for ${typicalRun.retentionDays} days.`,
    `- **Machines** are used to ${100 * assumptions.targetUse} % at the peak. A worker has one core and ${assumptions.maxRunsPerWorker} runs (\`maxRuns\`). A Postgres server has ${postgres.cores} cores, ${formatCount(postgres.diskGb)} GB, ${postgres.walMbPerSecond} MB of WAL and ${formatCount(postgres.transactionsPerSecond)} transactions a second, and one replica. A partition has ${assumptions.partitionGb} GB.`,
    `- **Prices**: $${assumptions.vcpuHour} for a vCPU hour with 4 GB, $${assumptions.diskGbMonth} for a GB of database disk a month, $${assumptions.inputMillion} and $${assumptions.outputMillion} for a million tokens in and out.`,
    `- **Measured** on ${date}, ${cores} × ${processor}, ${rounds} rounds, load average ${load} before it started: see [the benchmark](../bench/README.md#engines).`,
  ].join("\n");
}

const computeAll = (input: ScaleInput, engine: SharedEngine): readonly ScaleNeeds[] =>
  scales.map((runsPerDay) =>
    computeNeeds({ ...typicalRun, runsPerDay }, { engine: getCosts(input, engine), buses: input.buses }),
  );

function formatNeeds(input: ScaleInput): string {
  const needs = computeAll(input, "postgres");
  const addRow = (title: string, pick: (need: ScaleNeeds) => string) => [title, ...needs.map(pick)];
  const head = ["runs per day", ...scales.map((scale) => scale.toLocaleString("en-US"))];
  return formatTable(head, [
    addRow("runs per second at the peak", (need) => formatCount(need.peakRunsPerSecond)),
    addRow("steps per second at the peak", (need) => formatCount(need.peakStepsPerSecond)),
    addRow("active runs", (need) => formatCount(need.activeRuns)),
    addRow("workers", (need) => formatCount(need.workers)),
    addRow("Postgres: cores in use", (need) => formatCount(need.postgresCores)),
    addRow("Postgres: servers", (need) => formatCount(need.postgresServers)),
    addRow("Postgres: transactions per second", (need) => formatCount(need.transactionsPerSecond)),
    addRow("Postgres: syncs per second, at most", (need) => formatCount(need.walSyncsPerSecond)),
    addRow("Postgres: WAL, MB per second", (need) => formatCount(need.walMbPerSecond)),
    addRow("Postgres: stored, GB", (need) => formatCount(need.storedGb)),
    addRow("Postgres: partitions", (need) => formatCount(need.partitions)),
    addRow("bus: tokens per second", (need) => formatCount(need.busTokensPerSecond)),
    addRow("bus: messages per second", (need) => formatCount(need.busMessagesPerSecond)),
    addRow("the provider: tokens per minute", (need) => formatCount(need.modelTokensPerMinute)),
    addRow("machines, per month", ({ money }) => formatDollars(money.machines)),
    addRow("disk, per month", ({ money }) => formatDollars(money.disk)),
    addRow("the model, per month", ({ money }) => formatDollars(money.model)),
  ]);
}

/** For how many runs one unit of a resource is enough, and how much of it is used: the first to be used up first. */
function formatFirstLimits(input: ScaleInput): string {
  const formatShare = (share: number) =>
    share < 1 ? `${formatCount(100 * share)} %` : `${formatCount(share)} times`;
  const needs = computeAll(input, "postgres");
  const rows = (needs[0]?.resources ?? []).map(({ name, enoughForRuns }) => [
    name,
    Number(enoughForRuns.toPrecision(2)).toLocaleString("en-US"),
    ...needs.map(({ resources }) =>
      formatShare(resources.find((resource) => resource.name === name)?.share ?? 0),
    ),
  ]);
  const head = ["one unit", "is enough for, runs per day"];
  return formatTable([...head, ...scales.map((scale) => `at ${scale.toLocaleString("en-US")}`)], rows);
}

function formatEngines(input: ScaleInput): string {
  const largest = scales.length - 1;
  const rows = sharedEngines.map((engine) => {
    const run = computeRunCosts(getCosts(input, engine), countRunSteps(typicalRun));
    const need = computeAll(input, engine)[largest];
    return [
      titles[engine],
      run.workerCpuMs.toFixed(1),
      run.postgresCpuMs.toFixed(1),
      run.engineCpuMs.toFixed(1),
      run.roundTrips.toFixed(0),
      formatCount(need?.workers ?? 0),
      formatCount(need?.postgresCores ?? 0),
      formatCount(need?.restateNodes ?? 0),
    ];
  });
  const at = `at ${scales[largest]?.toLocaleString("en-US")}`;
  const head = ["a run", "worker CPU, ms", "Postgres CPU, ms", "Restate CPU, ms", "round trips"];
  return formatTable([...head, `workers ${at}`, "Postgres cores", "Restate nodes"], rows);
}

export const buildCluster = (workers: number): Cluster => ({
  workers,
  postgresCores: assumptions.postgres.cores,
  engineCores: assumptions.restateNodeCores,
});

/** The same runs as in the benchmark, whose throughput is compared. */
const stepsPerRun = 21;
const simulation = { stepsPerRun, steps: 20_000, seed: 1 };

const simulate = (costs: EngineCosts, cluster: Cluster, runsPerWorker = 32): number =>
  simulateThroughput(costs, { ...simulation, cluster, runsPerWorker });

function formatSimulation(input: ScaleInput): string {
  const rows = simulatedWorkers.map((workers) => [
    `${workers}`,
    ...sharedEngines.flatMap((engine) => {
      const costs = getCosts(input, engine);
      const cluster = buildCluster(workers);
      return [
        formatCount(simulate(costs, cluster)),
        formatCount(computeThroughput(costs, stepsPerRun, cluster)),
      ];
    }),
  ]);
  const columns = sharedEngines.flatMap((engine) => [`${titles[engine]}, simulated`, "model"]);
  return formatTable(["workers", ...columns], rows);
}

/** The measured throughput beside a simulation in which everything shares the cores of one machine. */
function formatCheck(input: ScaleInput): string {
  const { cores: sharedCores, concurrency } = input.costs.measured;
  const rows = sharedEngines.flatMap((engine) => {
    const costs = getCosts(input, engine);
    return costs.throughput.map(({ workers, stepsPerSecond, min, max }) => {
      const cluster = { workers, postgresCores: sharedCores, engineCores: sharedCores, sharedCores };
      const simulated = simulate(costs, cluster, Math.ceil(concurrency / workers));
      const measured = `${formatCount(stepsPerSecond)} (${formatCount(min)} to ${formatCount(max)})`;
      const ratio = (stepsPerSecond / simulated).toFixed(2);
      return [`${titles[engine]}, ${workers}`, formatCount(simulated), measured, ratio];
    });
  });
  return formatTable([`workers on ${sharedCores} cores`, "simulated", "measured", "ratio"], rows);
}

export function buildScalePlot(input: ScaleInput): string {
  const series = sharedEngines.map((engine) => ({
    title: titles[engine].replaceAll("`", ""),
    line: simulatedWorkers.map((workers) => ({
      workers,
      stepsPerSecond: simulate(getCosts(input, engine), buildCluster(workers)),
    })),
    points: getCosts(input, engine).throughput,
  }));
  return createScalePlot(series, input.costs.measured.cores);
}

if (process.argv[1] === import.meta.filename) {
  const input = loadScaleInput();
  for (const [section, text] of Object.entries(buildScaleSections(input)))
    updateFile(scalePage, section, text);
  writeFileSync(scalePlot, buildScalePlot(input));
}
