import { AgentError } from "./errors.ts";

/** The runtime's source of time; injected, so that tests control it. */
export interface Clock {
  /** Returns the date, in milliseconds since the epoch. It jumps, also back, when the clock of the machine is set. */
  now(): number;
  /**
   * Returns milliseconds since some moment in the past, for durations and deadlines. Never decreases within a process;
   * values of two processes cannot be compared. Depending on the machine, time spent asleep is included or not.
   */
  monotonic(): number;
  /** Calls `fire` once after `ms`, measured like `monotonic`. The returned function cancels it. */
  after(ms: number, fire: () => void): () => void;
  /**
   * Call between two pieces of work, such as the chunks of a model. Returns a promise once all runs together have kept the
   * event loop busy for some milliseconds: await it, so that the process also serves others. Absent in tests.
   */
  yieldIfBusy?(): Promise<void> | undefined;
}

/** A clock passed as an option. Without `monotonic`, it measures durations with `now`. */
export type ClockOption = Pick<Clock, "now" | "after"> & Partial<Clock>;

export function toClock(clock: ClockOption): Clock {
  const { monotonic = clock.now, yieldIfBusy } = clock;
  return {
    now: () => clock.now(),
    monotonic: () => monotonic.call(clock),
    after: (ms, fire) => clock.after(ms, fire),
    ...(yieldIfBusy && { yieldIfBusy }),
  };
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => Math.round(performance.now()),
  after: (ms, fire) => startTimer(ms, fire),
  yieldIfBusy,
};

/** The system clock with timers that do not keep the process alive. */
export const backgroundClock: Clock = {
  ...systemClock,
  after: (ms, fire) =>
    startTimer(ms, fire, (timer) => {
      if (typeof timer === "object" && "unref" in timer) timer.unref();
    }),
};

type Timer = ReturnType<typeof setTimeout>;

/** `setTimeout` takes 31 bits; a longer delay would fire immediately. */
const maxTimerMs = 2_147_483_647;

function startTimer(ms: number, fire: () => void, onStart?: (timer: Timer) => void): () => void {
  if (ms > maxTimerMs) return startLongTimer(ms, fire, onStart);
  const timer = setTimeout(fire, ms);
  onStart?.(timer);
  return () => clearTimeout(timer);
}

/** Splits a delay beyond the range of `setTimeout` into several timers. */
function startLongTimer(ms: number, fire: () => void, onStart?: (timer: Timer) => void): () => void {
  let cancel = startTimer(maxTimerMs, next, onStart);
  function next(): void {
    cancel = startTimer(ms - maxTimerMs, fire, onStart);
  }
  return () => cancel();
}

/** How long the runs of a process work in one turn of the event loop. */
const maxBusyMs = 2;
// In Cloudflare Workers the timers of a request end with it, so another request must not wait for them. Only they have
// this class. `navigator` names them too, but Node loads a module when it is read.
const isWorker = "WebSocketPair" in globalThis;
/** Undefined in browsers, which use a separate thread for the network. Read here, because tests replace it. */
const { setImmediate: onNextTurn } = (isWorker ? {} : globalThis) as {
  setImmediate?: (callback: () => void) => unknown;
};
let turnStartedAt: number | undefined;
const waitingWork: (() => void)[] = [];

function yieldIfBusy(): Promise<void> | undefined {
  if (!onNextTurn) return undefined;
  if (turnStartedAt === undefined) {
    startTurn();
    return undefined;
  }
  if (waitingWork.length === 0 && !isTurnOver()) return undefined;
  return new Promise((resolve) => waitingWork.push(resolve));
}

function isTurnOver(): boolean {
  return performance.now() - (turnStartedAt ?? 0) >= maxBusyMs;
}

function startTurn(): void {
  turnStartedAt = performance.now();
  onNextTurn?.(() => {
    turnStartedAt = undefined;
    if (waitingWork.length === 0) return;
    startTurn();
    continueWork();
  });
}

/** Continues what waits, one after the other, until the time of this turn is used up. */
function continueWork(): void {
  if (isTurnOver()) return;
  waitingWork.shift()?.();
  if (waitingWork.length > 0) queueMicrotask(continueWork);
}

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

/** Settles with the promise, or rejects with the signal's reason on abort, even if the work continues. */
export function rejectOnAbort<Value>(work: PromiseLike<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      Promise.resolve(work).catch(() => undefined); // a later rejection must not be unhandled
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

/** Doubles the wait with each attempt. Half of it is random, so that callers that failed together do not retry together. */
export function computeWaitMs(minMs: number, maxMs: number, attempt: number): number {
  const longestMs = Math.min(maxMs, minMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round(longestMs * (1 - Math.random() / 2));
}
