import { rmSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "../postgres/start-postgres.ts";
import { runKillTrial, type TrialReport } from "./kill-trial.ts";
import type { StoreAddress } from "./open-shared-store.ts";

export type TrialsOptions = {
  readonly kills: number;
  readonly store: StoreAddress["type"];
  readonly folder: string;
  /** Seed of the first batch; each further one has the next. Default: a random one. */
  readonly seed?: number;
  /** Kills per store, after which all runs are checked. Default: 250. */
  readonly batch?: number;
  onBatch?(kills: number, sum: TrialReport): void;
};

/** Runs the given number of kills in batches, each with its own store. Stops early when a batch has problems. */
export async function runKillTrials(options: TrialsOptions): Promise<TrialReport> {
  const { kills, folder, batch = 250, seed: firstSeed } = options;
  const server = options.store === "postgres" ? await startPostgres() : undefined;
  let total: TrialReport | undefined;
  try {
    for (let done = 0; done < kills && !total?.problems.length; ) {
      const count = Math.min(batch, kills - done);
      const batchFolder = join(folder, String(done));
      const store: StoreAddress = server
        ? { type: "postgres", url: server.url, schema: `after_${done}` }
        : { type: "sqlite", file: join(batchFolder, "store.db") };
      const seed = total ? total.seed + done / batch : firstSeed;
      const report = await runKillTrial({ store, folder: batchFolder, kills: count, seed });
      if (report.problems.length === 0) rmSync(batchFolder, { recursive: true });
      total = total ? mergeReports(total, report) : report;
      done += count;
      options.onBatch?.(done, total);
    }
  } finally {
    await server?.stop();
  }
  if (!total) throw new Error("The number of kills must be positive.");
  return total;
}

function mergeReports(left: TrialReport, right: TrialReport): TrialReport {
  const kills: { [by: string]: number } = { ...left.kills };
  for (const [by, count] of Object.entries(right.kills)) kills[by] = (kills[by] ?? 0) + count;
  return {
    seed: left.seed,
    problems: [...left.problems, ...right.problems],
    kills,
    acknowledged: left.acknowledged + right.acknowledged,
    runs: left.runs + right.runs,
    facts: left.facts + right.facts,
    executions: left.executions + right.executions,
    repeated: left.repeated + right.repeated,
    interrupted: left.interrupted + right.interrupted,
    interruptedWithEffect: left.interruptedWithEffect + right.interruptedWithEffect,
    recoveries: left.recoveries + right.recoveries,
    quarantined: left.quarantined + right.quarantined,
  };
}
