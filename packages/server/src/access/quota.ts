import { AgentError } from "capstan";
import type { Caller } from "./caller.ts";
import { createQuotaError } from "./quota-error.ts";
import type { Quotas } from "./quotas.ts";

/** Counts each user's open streams and active runs in this process. */
export interface Quota {
  /**
   * Counts one stream or run of the caller until the returned function is called. Throws `quota_exceeded` at the user's quota, and
   * `rate_limited` at the default limit.
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
    acquire({ scope, quotas }, what) {
      const before = counts.get(buildKey(scope, what)) ?? 0;
      if (before < getMaxConcurrent(quotas, what)) return add(scope, what);
      const name = what === "streams" ? "streams" : "concurrentRuns";
      if (quotas[name] !== undefined) throw createQuotaError({ name, limit: before, now: 0 });
      const message = `You have ${before} open ${what}, which is the limit. End one, or wait.`;
      throw new AgentError("rate_limited", message, { retryAfterMs: 5000 });
    },
  };
}

const defaultStreams = 100;
const defaultRuns = 50;

function getMaxConcurrent(
  { streams = defaultStreams, concurrentRuns = defaultRuns }: Quotas,
  what: "streams" | "runs",
): number {
  const limit = what === "streams" ? streams : concurrentRuns;
  return limit === "unlimited" ? Infinity : limit;
}
