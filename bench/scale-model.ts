// What a number of runs per day needs, computed from measured costs and stated assumptions. Pure functions.
import type { BusCell } from "./buses.ts";
import type { RunCosts } from "./engine-cell.ts";
import type { EngineCosts } from "./engine-report.ts";

/** One day of a deployment. */
export type Workload = {
  readonly runsPerDay: number;
  /** The busiest second, times the average. */
  readonly peakFactor: number;
  readonly toolTurns: number;
  readonly inputTokensPerTurn: number;
  readonly outputTokensPerTurn: number;
  /** How long a run is active: mostly waiting for its model. */
  readonly activeSeconds: number;
  readonly retentionDays: number;
};

export const typicalRun: Omit<Workload, "runsPerDay"> = {
  peakFactor: 4,
  toolTurns: 5,
  inputTokensPerTurn: 3_000,
  outputTokensPerTurn: 150,
  activeSeconds: 40,
  retentionDays: 30,
};

/** What is assumed and not measured. */
export const assumptions = {
  /** Worker CPU to call a provider over HTTP and to stream its answer, from `npm run bench`: a turn, and a token. */
  turnCpuMs: 0.75,
  tokenCpuMs: 0.022,
  /** Stored for each output token: its text, and its words in the search index. */
  bytesPerToken: 8,
  /** The share of a machine that is used at the peak; the rest is for failures and variation. */
  targetUse: 0.5,
  /** The default of `local`. */
  maxRunsPerWorker: 500,
  /** One Postgres server: cores, GB of disk, MB of WAL per second, and transactions per second that it is trusted with. */
  postgres: { cores: 32, diskGb: 8_000, walMbPerSecond: 100, transactionsPerSecond: 20_000 },
  /** Facts that one table or partition holds, so that maintenance ends within an hour. */
  partitionGb: 100,
  restateNodeCores: 8,
  /** NOTIFY takes one lock per transaction, so all notifications of a server use one core at most. */
  notifyCores: 1,
  /** Dollars: a vCPU with 4 GB of memory for an hour; a GB of database disk for a month; a million tokens. */
  vcpuHour: 0.04,
  diskGbMonth: 0.12,
  inputMillion: 0.5,
  outputMillion: 2,
  /** Postgres has one replica. */
  postgresCopies: 2,
} as const;

export type Resource = {
  readonly name: string;
  /** The need at the peak, divided by what one unit offers: above 1, one unit is not enough. */
  readonly share: number;
  /** Up to this many runs per day, one unit is enough. */
  readonly enoughForRuns: number;
};

export type ScaleNeeds = {
  readonly peakRunsPerSecond: number;
  readonly peakStepsPerSecond: number;
  readonly activeRuns: number;
  readonly workers: number;
  readonly restateNodes: number;
  readonly postgresCores: number;
  readonly postgresServers: number;
  readonly transactionsPerSecond: number;
  readonly walSyncsPerSecond: number;
  readonly walMbPerSecond: number;
  readonly storedGb: number;
  readonly partitions: number;
  readonly modelTokensPerMinute: number;
  readonly busTokensPerSecond: number;
  readonly busMessagesPerSecond: number;
  /** The largest share first. */
  readonly resources: readonly Resource[];
  /** Dollars per month. */
  readonly money: { readonly machines: number; readonly disk: number; readonly model: number };
};

export type MeasuredInput = { readonly engine: EngineCosts; readonly buses: readonly BusCell[] };

const secondsPerDay = 86_400;
const hoursPerMonth = 730;
const daysPerMonth = 30;

export const countRunSteps = ({ toolTurns }: Pick<Workload, "toolTurns">): number => 2 * toolTurns + 1;

/** The costs of a whole run. */
export function computeRunCosts({ perRun, perStep }: EngineCosts, steps: number): RunCosts {
  const keys = Object.keys(perRun) as (keyof RunCosts)[];
  return Object.fromEntries(keys.map((key) => [key, perRun[key] + steps * perStep[key]])) as RunCosts;
}

/** Computes what a workload needs at its peak, with room for failures. */
export function computeNeeds(workload: Workload, { engine, buses }: MeasuredInput): ScaleNeeds {
  const { postgres, targetUse } = assumptions;
  const turns = workload.toolTurns + 1;
  const costs = computeRunCosts(engine, countRunSteps(workload));
  const peakRunsPerSecond = (workload.runsPerDay * workload.peakFactor) / secondsPerDay;
  const outputTokens = turns * workload.outputTokensPerTurn;
  const busTokensPerSecond = peakRunsPerSecond * outputTokens;
  const getBusCost = (name: BusCell["bus"], key: "writerCpuUs" | "serverCpuUs" | "messages") =>
    buses.find(({ bus }) => bus === name)?.[key] ?? 0;

  const streamCpuMs = turns * assumptions.turnCpuMs + outputTokens * assumptions.tokenCpuMs;
  const publishCpuMs = (outputTokens * getBusCost("postgres", "writerCpuUs")) / 1_000;
  // The starts are stored by workers, too, or by servers of the same size.
  const runCpuMs = costs.workerCpuMs + costs.clientCpuMs + streamCpuMs + publishCpuMs;
  const workerCores = (peakRunsPerSecond * runCpuMs) / 1_000;
  const activeRuns = peakRunsPerSecond * workload.activeSeconds;
  const postgresCores = (peakRunsPerSecond * costs.postgresCpuMs) / 1_000;
  const notifyCores = (busTokensPerSecond * getBusCost("postgres", "serverCpuUs")) / 1e6;
  const engineCores = (peakRunsPerSecond * costs.engineCpuMs) / 1_000;
  const storedPerRun = costs.storedBytes + outputTokens * assumptions.bytesPerToken;
  const storedGb = (workload.runsPerDay * workload.retentionDays * storedPerRun) / 1e9;
  const walMbPerSecond = (peakRunsPerSecond * costs.walBytes) / 1e6;
  const transactionsPerSecond = peakRunsPerSecond * costs.transactions;

  const database = {
    "Postgres CPU": postgresCores / (postgres.cores * targetUse),
    "Postgres disk": storedGb / postgres.diskGb,
    "Postgres WAL": walMbPerSecond / postgres.walMbPerSecond,
    "Postgres transactions": transactionsPerSecond / postgres.transactionsPerSecond,
  };
  const shares = {
    "CPU of a worker": workerCores / targetUse,
    "runs of a worker": activeRuns / (assumptions.maxRunsPerWorker * targetUse),
    ...database,
    NOTIFY: notifyCores / (assumptions.notifyCores * targetUse),
    ...(engineCores > 0 && { "Restate CPU": engineCores / (assumptions.restateNodeCores * targetUse) }),
  };
  const workers = Math.ceil(Math.max(shares["CPU of a worker"], shares["runs of a worker"], 1));
  const restateNodes = engineCores > 0 ? Math.max(3, Math.ceil(shares["Restate CPU"] ?? 0)) : 0;
  const postgresServers = Math.max(1, ...Object.values(database).map(Math.ceil));
  const databaseVcpu = Math.max(2 * postgresServers, postgresCores / targetUse) * assumptions.postgresCopies;
  const vcpu = workers + restateNodes * 2 + databaseVcpu;
  const inputTokens = turns * workload.inputTokensPerTurn;
  const tokenPrice = inputTokens * assumptions.inputMillion + outputTokens * assumptions.outputMillion;
  return {
    ...{ peakRunsPerSecond, activeRuns, workers, restateNodes, postgresCores, postgresServers },
    peakStepsPerSecond: peakRunsPerSecond * countRunSteps(workload),
    ...{ transactionsPerSecond, walMbPerSecond, storedGb, busTokensPerSecond },
    walSyncsPerSecond: peakRunsPerSecond * costs.walSyncs,
    modelTokensPerMinute: 60 * peakRunsPerSecond * (inputTokens + outputTokens),
    partitions: Math.ceil(storedGb / assumptions.partitionGb),
    busMessagesPerSecond: busTokensPerSecond * getBusCost("redis", "messages"),
    resources: Object.entries(shares)
      .map(([name, share]) => ({ name, share, enoughForRuns: workload.runsPerDay / share }))
      .toSorted((left, right) => right.share - left.share),
    money: {
      machines: vcpu * hoursPerMonth * assumptions.vcpuHour,
      disk: storedGb * assumptions.postgresCopies * assumptions.diskGbMonth,
      model: (workload.runsPerDay * daysPerMonth * tokenPrice) / 1e6,
    },
  };
}

/** The processors of a deployment. With `sharedCores`, everything runs on one machine. */
export type Cluster = {
  readonly workers: number;
  readonly postgresCores: number;
  readonly engineCores: number;
  readonly sharedCores?: number;
};

/** Computes the throughput at which the first resource is used up, in steps per second. */
export function computeThroughput(costs: EngineCosts, steps: number, cluster: Cluster): number {
  const run = computeRunCosts(costs, steps);
  const limits = [
    cluster.workers / run.workerCpuMs,
    cluster.postgresCores / run.postgresCpuMs,
    cluster.engineCores / run.engineCpuMs,
  ];
  const allCpuMs = run.workerCpuMs + run.postgresCpuMs + run.engineCpuMs + run.clientCpuMs;
  if (cluster.sharedCores !== undefined) limits.push(cluster.sharedCores / allCpuMs);
  return 1_000 * steps * Math.min(...limits);
}
