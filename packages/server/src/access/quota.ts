import { getHeapSpaceStatistics, getHeapStatistics } from "node:v8";
import { AgentError } from "capstan";
import type { Caller } from "./caller.ts";

/** What each user has at this moment, in this process. */
export interface Allowance {
  /** Counts a stream or a run of the caller until the returned function is called. Throws `rate_limited`. */
  take(caller: Caller, what: "streams" | "runs"): () => void;
  /** Counts what is there already, whatever the limit is. */
  count(scope: string, what: "streams" | "runs"): () => void;
  /** How many all users have together. */
  taken(what: "streams" | "runs"): number;
}

/** Counts from nothing. */
export function allowance(): Allowance {
  const taken = new Map<string, number>();
  const all = { streams: 0, runs: 0 };
  const keyOf = (scope: string, what: string) => `${what} ${scope}`;

  function count(scope: string, what: "streams" | "runs"): () => void {
    const key = keyOf(scope, what);
    taken.set(key, (taken.get(key) ?? 0) + 1);
    all[what]++;
    let isGiven = false;
    return () => {
      if (isGiven) return;
      isGiven = true;
      all[what]--;
      const now = (taken.get(key) ?? 1) - 1;
      if (now === 0) taken.delete(key);
      else taken.set(key, now);
    };
  }
  return {
    count,
    taken: (what) => all[what],
    take({ scope, limits }, what) {
      const before = taken.get(keyOf(scope, what)) ?? 0;
      if (before < limits[what]) return count(scope, what);
      const message = `You have ${before} ${what} open, as many as you may: end one, or wait.`;
      throw new AgentError("rate_limited", message, { retryAfterMs: 5000 });
    },
  };
}

export type RoomOptions = {
  /** So many runs at work in this process. */
  readonly maxRuns: number;
  /** How many there are. */
  runs(): number;
  /** The share of the memory for objects that is in use, 0 to 1. */
  readonly memory?: (() => number) | undefined;
};

const fullest = 0.9;

/** Throws `overloaded` while there is no room for more work: what is at work is to come to its end. */
export function room({ maxRuns, runs, memory = oldHeapInUse }: RoomOptions): () => void {
  return () => {
    if (runs() >= maxRuns)
      throw new AgentError(
        "overloaded",
        `The server works on ${maxRuns} runs, as many as it takes: ask again.`,
      );
    if (memory() > fullest)
      throw new AgentError("overloaded", "The memory of the server is nearly full: ask again in a moment.");
  };
}

const mebibyte = 1024 * 1024;
/** What V8 sets aside for young objects, which is part of its limit; the rest is what can run full. */
const youngLimit = (Number.parseInt(process.versions.v8, 10) >= 13 ? 192 : 48) * mebibyte;

function oldHeapInUse(): number {
  const old = getHeapSpaceStatistics().filter(({ space_name }) => !space_name.startsWith("new_"));
  const used = old.reduce((sum, { space_used_size }) => sum + space_used_size, 0);
  const { heap_size_limit } = getHeapStatistics();
  return used / Math.max(heap_size_limit - youngLimit, heap_size_limit / 8);
}
