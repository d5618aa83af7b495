import { type Clock, repeatEvery } from "../clock.ts";
import type { RunInfo, Store } from "../store.ts";
import { startWorkPoll } from "./work-poll.ts";

export type RecoveryOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** Returns how many more runs this process may execute. */
  countFreePlaces(): number;
  /** Continues a run, unless another process is faster. Resolves with false if that is not possible here. */
  takeOver(run: RunInfo): Promise<boolean>;
  /** Starts the next queued run of every session. */
  startQueued(): Promise<void>;
};

/** Takes over runs without a process, from now on until it is closed. */
export interface Recovery {
  /** Takes over all that this process can, and returns their ids. */
  recover(): Promise<readonly string[]>;
  close(): void;
}

/** Runs that a process takes over at once. Other processes take the next ones. */
const batchSize = 10;
/** How long other processes leave a run to the one that takes it over. */
const maxClaimMs = 500;
/** For how long a run that could not be taken over here is left to other processes, and how many such runs are known. */
const retryMs = 2_000;
const maxRefusedRuns = 100;

export function startRecovery({ store, clock, leaseMs, takeOver, ...options }: RecoveryOptions): Recovery {
  const claimMs = Math.min(maxClaimMs, leaseMs / 2);
  const refusedRuns = new Map<string, number>();

  async function tryTakeOver(run: RunInfo): Promise<boolean> {
    const isTaken = await takeOver(run).catch(() => false); // it must not hold up the others
    if (!isTaken) refusedRuns.set(run.runId, clock.monotonic() + retryMs);
    return isTaken;
  }

  function listRefused(): readonly string[] {
    for (const [runId, until] of refusedRuns)
      if (until <= clock.monotonic() || refusedRuns.size > maxRefusedRuns) refusedRuns.delete(runId);
    return [...refusedRuns.keys()];
  }

  async function takeSome(): Promise<{ readonly runIds: readonly string[]; readonly isFull: boolean }> {
    const limit = Math.min(batchSize, options.countFreePlaces());
    if (limit <= 0) return { runIds: [], isFull: false };
    const orphans = await store.listOrphans({ limit, claimMs, except: listRefused() });
    const taken = await Promise.all(orphans.map(tryTakeOver));
    const runIds = orphans.filter((_, index) => taken[index]).map(({ runId }) => runId);
    return { runIds, isFull: orphans.length === limit };
  }

  const poll = startWorkPoll({
    ...{ clock, maxPauseMs: leaseMs / 2 },
    async look() {
      const { runIds, isFull } = await takeSome();
      return isFull && runIds.length > 0;
    },
  });
  const unwatch = store.watchWork?.(poll.wake);
  // If the store cannot be read now, the next check tries again.
  const checkQueues = () => void options.startQueued().catch(() => undefined);
  const stopChecks = repeatEvery(clock, leaseMs / 2, checkQueues);
  checkQueues();

  return {
    async recover() {
      const recovered: string[] = [];
      for (let hasMore = true; hasMore; ) {
        const { runIds, isFull } = await takeSome();
        recovered.push(...runIds);
        hasMore = isFull;
      }
      await options.startQueued();
      return recovered;
    },
    close() {
      poll.close();
      unwatch?.();
      stopChecks();
    },
  };
}
