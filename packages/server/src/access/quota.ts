import { getHeapSpaceStatistics, getHeapStatistics } from "node:v8";
import { AgentError } from "capstan";
import type { Caller } from "./caller.ts";

/** Counts each user's open streams and active runs in this process. */
export interface Quota {
  /**
   * Counts one stream or run of the caller until the returned function is called. Throws `rate_limited` at the limit.
   */
  acquire(caller: Caller, what: "streams" | "runs"): () => void;
  /** Counts one stream or run without checking the limit. */
  add(scope: string, what: "streams" | "runs"): () => void;
  /** Returns the count of all users. */
  getTotal(what: "streams" | "runs"): number;
}

export function createQuota(): Quota {
  const counts = new Map<string, number>();
  const totals = { streams: 0, runs: 0 };
  const buildKey = (scope: string, what: string) => `${what} ${scope}`;

  function add(scope: string, what: "streams" | "runs"): () => void {
    const key = buildKey(scope, what);
    counts.set(key, (counts.get(key) ?? 0) + 1);
    totals[what]++;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      totals[what]--;
      const now = (counts.get(key) ?? 1) - 1;
      if (now === 0) counts.delete(key);
      else counts.set(key, now);
    };
  }
  return {
    add,
    getTotal: (what) => totals[what],
    acquire({ scope, limits }, what) {
      const before = counts.get(buildKey(scope, what)) ?? 0;
      if (before < limits[what]) return add(scope, what);
      const message = `You have ${before} open ${what}, which is the limit. End one, or wait.`;
      throw new AgentError("rate_limited", message, { retryAfterMs: 5000 });
    },
  };
}

export type CapacityOptions = {
  /** Max number of active runs in this process. */
  readonly maxRuns: number;
  countRuns(): number;
  /** Share of the heap in use, 0 to 1. */
  readonly measureMemory?: (() => number) | undefined;
};

const maxHeapShare = 0.9;

/** Returns a function that throws `overloaded` when the process has no capacity for more work. */
export function createCapacityCheck({
  maxRuns,
  countRuns,
  measureMemory = measureOldHeap,
}: CapacityOptions): () => void {
  return () => {
    if (countRuns() >= maxRuns)
      throw new AgentError(
        "overloaded",
        `The server is at its limit of ${maxRuns} active runs. Try again later.`,
      );
    if (measureMemory() > maxHeapShare)
      throw new AgentError("overloaded", "The server is low on memory. Try again in a moment.");
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
