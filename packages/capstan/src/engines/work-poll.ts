import type { Clock } from "../clock.ts";

/** Looks for work at intervals, and soon when there may be some. */
export interface WorkPoll {
  /** Called when there may be work. */
  wake(): void;
  close(): void;
}

export type WorkPollOptions = {
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
export function startWorkPoll({ clock, maxPauseMs, look }: WorkPollOptions): WorkPoll {
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
