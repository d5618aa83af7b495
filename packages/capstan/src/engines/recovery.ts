import { type Clock, repeatEvery } from "../base/clock.ts";
import type { RunInfo, Store } from "../runtime/store.ts";

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

/** Takes over runs without a process until it is closed. */
export interface Recovery {
  /** Takes over every run that this process can, and returns their ids. */
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

  /** Tries runs again that could not be taken over here before: what they need may be there now. */
  async function retryRefused(): Promise<string[]> {
    const retried: string[] = [];
    for (const runId of [...refusedRuns.keys()]) {
      refusedRuns.delete(runId);
      const [run] = await store.listOrphans({ runId });
      if (run && options.countFreePlaces() > 0 && (await tryTakeOver(run))) retried.push(runId);
    }
    return retried;
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
      const recovered = await retryRefused();
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

/** Looks for work at intervals, and soon when there may be some. */
interface WorkPoll {
  /** Called when there may be work. */
  wake(): void;
  close(): void;
}

type WorkPollOptions = {
  readonly clock: Clock;
  readonly maxPauseMs: number;
  /** Takes some work. Resolves with true if there may be more. */
  look(): Promise<boolean>;
};

/** Work is found at the latest after this long, also if nothing reports it. */
const idleMs = 400;
/** The least time between two looks: each process takes a little in turn, so that all take their share. */
const busyMs = 40;

/** Looks for work now, and until it is closed. The pauses are random, so that processes do not look at the same time. */
function startWorkPoll({ clock, maxPauseMs, look }: WorkPollOptions): WorkPoll {
  let cancel: (() => void) | undefined;
  let lookedAt = 0;
  let isLooking = false;
  let isAwake = false;
  let isClosed = false;

  function schedule(ms: number): void {
    cancel?.();
    if (isClosed) return;
    cancel = clock.after(
      Math.round(Math.min(ms, maxPauseMs) * (0.5 + Math.random() / 2)),
      () => void lookOnce(),
    );
  }

  async function lookOnce(): Promise<void> {
    isLooking = true;
    isAwake = false;
    const hasMore = await look().catch(() => false); // if the store cannot be read now, the next look tries again
    isLooking = false;
    lookedAt = clock.monotonic();
    schedule(hasMore || isAwake ? busyMs : idleMs);
  }

  void lookOnce();
  return {
    wake() {
      if (!isLooking && !isAwake) schedule(clock.monotonic() - lookedAt < busyMs ? busyMs : 0);
      isAwake = true;
    },
    close() {
      isClosed = true;
      cancel?.();
    },
  };
}
