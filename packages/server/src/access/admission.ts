import { getHeapSpaceStatistics, getHeapStatistics } from "node:v8";
import { AgentError, systemClock } from "capstan";
import { createOpenRequests, type OpenRequest } from "./open-requests.ts";

/** Limits of a whole process. A request for work beyond them is refused with `overloaded`. */
export type LoadLimits = {
  /** Open event streams. Default: 5,000. */
  readonly maxStreams?: number;
  /** Requests that are being answered. Default: 2,000. */
  readonly maxRequests?: number;
  /** How long work may wait for its turn of the event loop, in milliseconds. Default: 250. */
  readonly maxDelayMs?: number;
};

export type RefusalReason = "runs" | "streams" | "requests" | "memory" | "delay";

/** What an operator wants to know about the load of a process. */
export type LoadFigures = {
  readonly delayMs: number;
  readonly requests: number;
  readonly admitted: number;
  readonly refused: readonly (readonly [RefusalReason, number])[];
};

/** Decides whether this process takes on more work, before anything is done for it. */
export interface Admission {
  /**
   * Throws `overloaded` when the process has no capacity for more work. Work that can wait does not count the active runs:
   * a process with capacity executes it.
   */
  assertCapacity(work?: { readonly canWait?: boolean }): void;
  /**
   * Returns a promise if the request has to wait for its turn, so that a burst of requests does not block the event loop.
   * Health checks and answers to runs do not wait.
   */
  waitForTurn(request: Request): Promise<void> | undefined;
  /** Counts a request until it ends. */
  addRequest(): OpenRequest;
  /** Whether the event loop or the memory has been at its limit for long. */
  isOverloaded(): boolean;
  getFigures(): LoadFigures;
  close(): void;
}

export type AdmissionOptions = LoadLimits & {
  /** Active runs. */
  readonly maxRuns: number;
  countRuns(): number;
  countStreams(): number;
  /** Share of the heap in use, 0 to 1. */
  readonly measureMemory?: (() => number) | undefined;
  readonly delayMeter?: DelayMeter | undefined;
};

/** Health checks, and what a user sends to a run that is waiting or has to stop. */
const urgentPath = /\/(?:health|healthz|readyz|cancel|stop|approvals\/[^/?]+|results\/[^/?]+)(?:\?|$)/;
const maxHeapShare = 0.9;
/** With fewer runs, something else delays the event loop, and refusing work would not help. */
const minRunsForDelay = 32;
const overloadedAfterMs = 15_000;
/** Refused clients come back at different times within this range. */
const [minRetryMs, maxRetryMs] = [1000, 5000];

export function createAdmission(options: AdmissionOptions): Admission {
  const {
    maxRuns,
    maxStreams = 5000,
    maxRequests = 2000,
    maxDelayMs = 250,
    countRuns,
    countStreams,
  } = options;
  for (const [name, limit] of Object.entries({ maxRuns, maxStreams, maxRequests, maxDelayMs }))
    if (!(limit >= 0))
      throw new AgentError("invalid_definition", `Invalid ${name}: must be a number from 0.`);
  const { measureMemory = measureOldHeap, delayMeter = createDelayMeter() } = options;
  const refused = new Map<RefusalReason, number>();
  const requests = createOpenRequests();
  let admitted = 0;
  let isDelayed = false;
  let overloadedSince: number | undefined;

  /** Once the delay is too long, work is refused until it has halved. */
  function checkDelay(): boolean {
    const limit = isDelayed ? maxDelayMs / 2 : maxDelayMs;
    isDelayed = delayMeter.read() > limit && countRuns() >= minRunsForDelay;
    return isDelayed;
  }
  function findReason(): RefusalReason | undefined {
    if (countRuns() >= maxRuns) return "runs";
    if (countStreams() >= maxStreams) return "streams";
    if (requests.count() > maxRequests) return "requests";
    if (checkDelay()) return "delay";
    return measureMemory() > maxHeapShare ? "memory" : undefined;
  }
  function checkCapacity(): RefusalReason | undefined {
    const reason = findReason();
    if (reason === "delay" || reason === "memory") overloadedSince ??= performance.now();
    else overloadedSince = undefined;
    return reason;
  }

  return {
    assertCapacity({ canWait = false } = {}) {
      const reason = checkCapacity();
      if (reason === undefined || (reason === "runs" && canWait)) {
        admitted += 1;
        return;
      }
      refused.set(reason, (refused.get(reason) ?? 0) + 1);
      const retryAfterMs = Math.round(minRetryMs + Math.random() * (maxRetryMs - minRetryMs));
      throw new AgentError("overloaded", formatRefusal(reason, maxRuns), { retryAfterMs });
    },
    waitForTurn: ({ url }) => (urgentPath.test(url) ? undefined : systemClock.yieldIfBusy?.()),
    addRequest: requests.add,
    isOverloaded() {
      checkCapacity();
      return overloadedSince !== undefined && performance.now() - overloadedSince >= overloadedAfterMs;
    },
    getFigures: () => ({
      ...{ delayMs: delayMeter.read(), requests: requests.count(), admitted },
      refused: [...refused],
    }),
    close: () => delayMeter.close(),
  };
}

function formatRefusal(reason: RefusalReason, maxRuns: number): string {
  if (reason === "runs") return `The server is at its limit of ${maxRuns} active runs. Try again later.`;
  if (reason === "memory") return "The server is low on memory. Try again in a moment.";
  return "The server is busy. Try again in a moment.";
}

/** Measures how long work waits for its turn of the event loop. */
export interface DelayMeter {
  /** Returns the delay in milliseconds, smoothed. The first call starts the measurement. */
  read(): number;
  close(): void;
}

const sampleMs = 50;
/** Of a new sample. A single pause, such as a garbage collection, is no overload. */
const sampleWeight = 0.2;

export function createDelayMeter(): DelayMeter {
  let delayMs = 0;
  let dueAt = 0;
  let timer: NodeJS.Timeout | undefined;

  const addSample = (sample: number) => delayMs + sampleWeight * (sample - delayMs);
  function startSample(): void {
    dueAt = performance.now() + sampleMs;
    timer = setTimeout(waitForTurn, sampleMs).unref();
  }
  /** Waits like a chunk of a run, then for a whole turn: timers that are always due keep requests from being read. */
  async function waitForTurn(): Promise<void> {
    await systemClock.yieldIfBusy?.();
    setImmediate(() => {
      delayMs = addSample(performance.now() - dueAt);
      if (timer) startSample();
    });
  }
  return {
    read() {
      if (!timer) startSample();
      // The current sample may already be late.
      return Math.max(delayMs, addSample(performance.now() - dueAt));
    },
    close() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

const mebibyte = 1024 * 1024;
/** V8 reserves this part of the heap limit for young objects; only the rest can fill up. */
const youngHeapBytes = (Number.parseInt(process.versions.v8, 10) >= 13 ? 192 : 48) * mebibyte;

function measureOldHeap(): number {
  const old = getHeapSpaceStatistics().filter(({ space_name }) => !space_name.startsWith("new_"));
  const used = old.reduce((sum, { space_used_size }) => sum + space_used_size, 0);
  const { heap_size_limit } = getHeapStatistics();
  return used / Math.max(heap_size_limit - youngHeapBytes, heap_size_limit / 8);
}
