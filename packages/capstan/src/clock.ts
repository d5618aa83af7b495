import { AgentError } from "./errors.ts";

/** Time as the runtime sees it; injected, so that tests decide when a second has passed. */
export interface Clock {
  /** Milliseconds since the epoch. Never goes back within a process. */
  now(): number;
  /** Calls `fire` once after `ms`; the returned function takes that back. */
  after(ms: number, fire: () => void): () => void;
}

/** Timers hold 31 bits; a longer wait would fire at once. */
const maxTimerMs = 2_147_483_647;

/** Read from the monotonic timer, so that a wall clock set forward or back moves no deadline and no budget. */
export const systemClock: Clock = {
  now: () => Math.round(performance.timeOrigin + performance.now()),
  after(ms, fire) {
    const timer = setTimeout(fire, Math.min(ms, maxTimerMs));
    return () => clearTimeout(timer);
  },
};

/** The same time; what waits for it does not keep a process that has nothing else to do. */
export const backgroundClock: Clock = {
  now: systemClock.now,
  after(ms, fire) {
    const timer = setTimeout(fire, Math.min(ms, maxTimerMs));
    if (typeof timer === "object" && "unref" in timer) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Calls `fire` every `ms` until the returned function is called. */
export function repeatEvery(clock: Clock, ms: number, fire: () => void): () => void {
  let cancel = clock.after(ms, tick);
  function tick(): void {
    cancel = clock.after(ms, tick);
    fire();
  }
  return () => cancel();
}

/** Waits `ms`, or rejects with the signal's reason as soon as it is aborted. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    signal.addEventListener("abort", stop, { once: true });
  });
}

/** Settles with the promise, or rejects with the signal's reason as soon as it is aborted, even if the work goes on. */
export function rejectOnAbort<Value>(work: PromiseLike<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      Promise.resolve(work).catch(() => undefined); // its late rejection must not end the process
      return reject(signal.reason);
    }
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    const finish = () => signal.removeEventListener("abort", abort);
    work.then(
      (value) => {
        finish();
        resolve(value);
      },
      (reason) => {
        finish();
        reject(reason);
      },
    );
  });
}

/** Whether a time limit aborted the signal. Any other abort is a cancellation. */
export function isDeadline({ reason }: AbortSignal): boolean {
  return reason instanceof AgentError && (reason.code === "tool_timeout" || reason.code === "model_timeout");
}
