import type { Clock } from "../base/clock.ts";

export interface FakeClock extends Clock {
  /** Advances time and fires due timers in order, letting each take effect before the next. */
  advance(ms: number): Promise<void>;
  /** Sets the date forward, or back with a negative `ms`, as when the machine's clock is set or the machine sleeps. */
  step(ms: number): void;
  /** Number of pending timers. */
  readonly pending: number;
}

export type FakeClockOptions = {
  /** Milliseconds since the epoch. Default: the start of 2026. */
  readonly start?: number;
  /** Waits up to this length pass at once, so that retries cost a test no time. */
  readonly skipUpToMs?: number;
};

/** Lets the code that a timer has woken run. A timer of Node would wait for a millisecond each time. */
const runPendingWork = () => new Promise((resolve) => setImmediate(resolve));

/** A clock that only moves when told to. */
export function fakeClock({
  start = Date.UTC(2026, 0, 1),
  skipUpToMs = 0,
}: FakeClockOptions = {}): FakeClock {
  let now = 0;
  let epoch = start;
  const timers = new Set<{ at: number; fire: () => void }>();
  const fireDue = () => {
    const [next] = [...timers].filter(({ at }) => at <= now).sort((left, right) => left.at - right.at);
    if (!next) return false;
    timers.delete(next);
    next.fire();
    return true;
  };
  return {
    now: () => epoch + now,
    monotonic: () => now,
    after(ms, fire) {
      const timer = { at: now + ms, fire };
      timers.add(timer);
      if (ms <= skipUpToMs) {
        setTimeout(() => {
          if (!timers.has(timer)) return;
          now = Math.max(now, timer.at);
          // Also fire the timers that are due by then, in order.
          while (fireDue());
        }, 0);
      }
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const until = now + ms;
      for (;;) {
        const next = Math.min(...[...timers].map(({ at }) => at));
        if (next > until) break;
        now = Math.max(now, next);
        fireDue();
        await runPendingWork();
      }
      now = until;
      await runPendingWork();
    },
    step(ms) {
      epoch += ms;
    },
    get pending() {
      return timers.size;
    },
  };
}
