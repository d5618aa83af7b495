import type { Clock } from "../clock.ts";

export interface FakeClock extends Clock {
  /** Moves time on and fires what has come due, in order, letting each take effect before the next. */
  advance(ms: number): Promise<void>;
  /** Waits that have not come due. */
  readonly pending: number;
}

export type FakeClockOptions = {
  /** Milliseconds since the epoch; by default the start of 2026. */
  readonly start?: number;
  /** Moves on by itself whenever someone waits for at most so long: a retry then costs a test no time. */
  readonly skipUpToMs?: number;
};

/** A clock that stands still until it is told otherwise. */
export function fakeClock({
  start = Date.UTC(2026, 0, 1),
  skipUpToMs = 0,
}: FakeClockOptions = {}): FakeClock {
  let now = start;
  const timers = new Set<{ at: number; fire: () => void }>();
  const fireDue = () => {
    const [next] = [...timers].filter(({ at }) => at <= now).sort((left, right) => left.at - right.at);
    if (!next) return false;
    timers.delete(next);
    next.fire();
    return true;
  };
  return {
    now: () => now,
    after(ms, fire) {
      const timer = { at: now + ms, fire };
      timers.add(timer);
      if (ms <= skipUpToMs) {
        setTimeout(() => {
          if (!timers.has(timer)) return;
          now = Math.max(now, timer.at);
          // Whatever has come due by then comes with it, in order.
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
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      now = until;
      await new Promise((resolve) => setTimeout(resolve, 0));
    },
    get pending() {
      return timers.size;
    },
  };
}
