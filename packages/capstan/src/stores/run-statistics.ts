import { AgentError } from "../base/errors.ts";
import type { NamedTotals, RunDurations, RunStatistics, RunTotals } from "../runtime/run-catalog.ts";

/** Runs of one period that have the same agent, models and tools. */
export type StatisticsRow = RunTotals & {
  /** The start of the period. */
  readonly at: number;
  /** The durations in ms of the runs that have ended. */
  readonly durations: readonly number[];
  readonly agent: string;
  readonly models: readonly string[];
  readonly tools: readonly string[];
};

type Counts = { runs: number; failed: number; cost: number; tokens: number };
type Bucket = Counts & { readonly bins: Map<number, number> };

/** Durations are counted in classes that are 2 % wide. */
const binsPerLog = 50;
const maxBuckets = 5_000;
const maxNames = 50;

/** Returns the class of a duration. */
function toDurationBin(ms: number): number {
  return Math.round(Math.log(Math.max(1, ms)) * binsPerLog);
}

/** Throws `invalid_input` unless a period is a positive number of milliseconds. */
export function assertBucketMs(bucketMs: number): void {
  if (Number.isFinite(bucketMs) && bucketMs >= 1) return;
  throw new AgentError("invalid_input", `The length of a period must be at least 1 ms, not ${bucketMs}.`);
}

/** Adds up rows. */
export function createStatistics(): { add(row: StatisticsRow): void; build(): RunStatistics } {
  const buckets = new Map<number, Bucket>();
  const [agents, models, tools] = [
    new Map<string, Counts>(),
    new Map<string, Counts>(),
    new Map<string, Counts>(),
  ];

  function addToPeriod(row: StatisticsRow): void {
    const bucket = buckets.get(row.at) ?? createBucket();
    buckets.set(row.at, bucket);
    if (buckets.size > maxBuckets) {
      const message = `There are more than ${maxBuckets} periods. Choose longer ones, or a shorter time.`;
      throw new AgentError("invalid_input", message);
    }
    addToBucket(bucket, row);
  }

  return {
    add(row) {
      addToPeriod(row);
      addNamed(agents, row.agent, row);
      for (const model of row.models) addNamed(models, model, row);
      for (const tool of row.tools) addNamed(tools, tool, row);
    },
    build: () => ({
      total: toTotals(joinBuckets([...buckets.values()])),
      buckets: [...buckets]
        .sort(([left], [right]) => left - right)
        .map(([at, bucket]) => ({ at, ...toTotals(bucket) })),
      agents: rankNames(agents),
      models: rankNames(models),
      tools: rankNames(tools),
    }),
  };
}

function createBucket(): Bucket {
  return { runs: 0, failed: 0, cost: 0, tokens: 0, bins: new Map() };
}

function joinBuckets(buckets: readonly Bucket[]): Bucket {
  const total = createBucket();
  for (const bucket of buckets) {
    addCounts(total, bucket);
    for (const [bin, runs] of bucket.bins) total.bins.set(bin, (total.bins.get(bin) ?? 0) + runs);
  }
  return total;
}

function addToBucket(bucket: Bucket, row: StatisticsRow): void {
  addCounts(bucket, row);
  for (const ms of row.durations) {
    const bin = toDurationBin(ms);
    bucket.bins.set(bin, (bucket.bins.get(bin) ?? 0) + 1);
  }
}

function addCounts(counts: Counts, { runs, failed, cost, tokens }: RunTotals): void {
  counts.runs += runs;
  counts.failed += failed;
  counts.cost += cost;
  counts.tokens += tokens;
}

function addNamed(named: Map<string, Counts>, name: string, row: RunTotals): void {
  const counts = named.get(name) ?? { runs: 0, failed: 0, cost: 0, tokens: 0 };
  named.set(name, counts);
  addCounts(counts, row);
}

function toTotals({ bins, ...totals }: Bucket): RunTotals & RunDurations {
  if (bins.size === 0) return totals;
  return { ...totals, p50Ms: findPercentile(bins, 0.5), p95Ms: findPercentile(bins, 0.95) };
}

function findPercentile(bins: ReadonlyMap<number, number>, share: number): number {
  const sorted = [...bins].sort(([left], [right]) => left - right);
  const count = sorted.reduce((sum, [, runs]) => sum + runs, 0);
  let before = 0;
  for (const [bin, runs] of sorted) {
    before += runs;
    if (before >= count * share) return Math.round(Math.exp(bin / binsPerLog));
  }
  return 0;
}

function rankNames(named: ReadonlyMap<string, Counts>): readonly NamedTotals[] {
  return [...named]
    .map(([name, counts]) => ({ name, ...counts }))
    .sort(
      (left, right) => right.cost - left.cost || right.runs - left.runs || (left.name < right.name ? -1 : 1),
    )
    .slice(0, maxNames);
}
