import { setTimeout as pause } from "node:timers/promises";
import type { CrashHarness } from "./crash-harness.ts";
import type { WorkerOptions } from "./run-engine-worker.ts";

const maxCrashes = 30;
const pollMs = 20;

/** Starts a worker each time the previous one crashed, until these runs have ended. Returns the number of crashes. */
export async function crashUntilEnded(
  { store, startWorker }: CrashHarness,
  runIds: readonly string[],
  options: Partial<WorkerOptions>,
): Promise<number> {
  const hasEnded = async (runId: string) => (await store.listRuns(runId))[0]?.state === "ended";
  for (let crashes = 0; crashes <= maxCrashes; crashes++) {
    const worker = await startWorker(options);
    while (worker.isReady()) {
      if ((await Promise.all(runIds.map(hasEnded))).every(Boolean)) return crashes;
      await pause(pollMs);
    }
  }
  throw new Error(`After ${maxCrashes} crashes not all of these runs have ended: ${runIds.join(", ")}.`);
}
