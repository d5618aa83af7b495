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
