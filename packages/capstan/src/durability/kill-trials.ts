import { rmSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "../stores/testing/start-postgres.ts";
import { killTrial, type TrialReport } from "./kill-trial.ts";
import type { StoreAddress } from "./shared-store.ts";

export type TrialsOptions = {
  readonly kills: number;
  readonly store: StoreAddress["type"];
  readonly folder: string;
  /** Kills after which everything is looked at, and a new store is begun; 250 when left out. */
  readonly batch?: number;
  onBatch?(kills: number, sum: TrialReport): void;
};

/** As many kills as are wanted, in batches of a store each. Ends early when a batch has problems. */
export async function killTrials(options: TrialsOptions): Promise<TrialReport> {
  const { kills, folder, batch = 250 } = options;
  const server = options.store === "postgres" ? await startPostgres() : undefined;
  let sum: TrialReport | undefined;
  try {
    for (let done = 0; done < kills && !sum?.problems.length; ) {
      const count = Math.min(batch, kills - done);
      const place = join(folder, String(done));
      const store: StoreAddress = server
        ? { type: "postgres", url: server.url, schema: `after_${done}` }
        : { type: "sqlite", file: join(place, "store.db") };
      const report = await killTrial({ store, folder: place, kills: count });
      if (report.problems.length === 0) rmSync(place, { recursive: true });
      sum = sum ? added(sum, report) : report;
      done += count;
      options.onBatch?.(done, sum);
    }
  } finally {
    await server?.stop();
  }
  if (!sum) throw new Error("No kills were wanted.");
  return sum;
}

function added(left: TrialReport, right: TrialReport): TrialReport {
  const kills: { [by: string]: number } = { ...left.kills };
  for (const [by, count] of Object.entries(right.kills)) kills[by] = (kills[by] ?? 0) + count;
  return {
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
