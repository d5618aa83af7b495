import { type Clock, systemClock } from "../clock.ts";
import { AgentError } from "../errors.ts";

/** Time limits for a response. */
export type Timeouts = {
  /** From the request to the first byte. Default: 120,000. */
  readonly firstByteMs: number;
  /** Between two reads. Default: 60,000. */
  readonly idleMs: number;
};

const defaultTimeouts: Timeouts = { firstByteMs: 120_000, idleMs: 60_000 };

export type IdleTimer = {
  /** Aborts with the caller's signal or on a timeout. */
  readonly signal: AbortSignal;
  /** Restarts the idle timeout after a read. */
  reset(): void;
  /** Returns the timeout error, if a timeout caused the abort. */
  getFailure(): AgentError | undefined;
  /** Aborts the request because its reader stopped. */
  abort(): void;
  stop(): void;
};

/** Uses real time by default, not the run's clock, because it limits a network connection. */
export function createIdleTimer(
  signal: AbortSignal,
  timeouts: Partial<Timeouts> = {},
  clock: Clock = systemClock,
): IdleTimer {
  const { firstByteMs, idleMs } = { ...defaultTimeouts, ...timeouts };
  const controller = new AbortController();
  let failure: AgentError | undefined;
  let lastReadAt: number | undefined;
  let cancelTimer = clock.after(firstByteMs, check);

  // The timer is not restarted on every read, which would cost more than the read itself: when it fires, it checks
  // the time of the last read.
  function check(): void {
    const remainingMs = lastReadAt === undefined ? 0 : lastReadAt + idleMs - clock.monotonic();
    if (remainingMs > 0) cancelTimer = clock.after(remainingMs, check);
    else timeOut();
  }
  function timeOut(): void {
    const [ms, when] =
      lastReadAt === undefined ? [firstByteMs, "after the request"] : [idleMs, "in mid-answer"];
    failure = new AgentError("model_timeout", `The provider sent nothing for ${ms} ms ${when}.`);
    controller.abort(failure);
  }
  const forward = () => controller.abort(signal.reason);
  if (signal.aborted) forward();
  else signal.addEventListener("abort", forward, { once: true });
  return {
    signal: controller.signal,
    reset() {
      if (lastReadAt === undefined) {
        cancelTimer();
        cancelTimer = clock.after(idleMs, check);
      }
      lastReadAt = clock.monotonic();
    },
    getFailure: () => failure,
    abort: () => controller.abort(),
    stop() {
      cancelTimer();
      signal.removeEventListener("abort", forward);
    },
  };
}
