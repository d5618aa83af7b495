import { AgentError } from "capstan";
import { formatCount, formatCounts } from "capstan/sessions";
import type { QuotaName, QuotaWindow } from "./quotas.ts";
import { computeWindowEnd } from "./usage-record.ts";

/** The quota that refused a request, as the error response contains it. */
export type ExceededQuota = {
  readonly name: QuotaName;
  readonly window?: QuotaWindow;
  readonly limit: number;
  /** ISO 8601; absent where only the user can make room. */
  readonly resetsAt?: string;
};

/** An error with code `quota_exceeded`, which names the quota. */
export type QuotaError = AgentError & { readonly quota: ExceededQuota };

type QuotaProblem = {
  readonly name: QuotaName;
  readonly limit: number;
  readonly now: number;
  readonly window?: QuotaWindow;
  /** Active runs hold what is left; when they end, it is free again. */
  readonly isReserved?: boolean;
};

/** It is unknown when active runs end. */
const reservedMs = 5000;

export function createQuotaError(problem: QuotaProblem): QuotaError {
  const { name, limit, now, window, isReserved } = problem;
  const end = window === undefined ? undefined : computeWindowEnd(window, now);
  const resetsAt = end === undefined ? undefined : new Date(end).toISOString().replace(".000Z", "Z");
  const retryAfterMs = isReserved || isConcurrent(name) ? reservedMs : end && end - now;
  const error = new AgentError("quota_exceeded", formatMessage(problem, resetsAt), {
    retryable: retryAfterMs !== undefined,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
  const quota: ExceededQuota = { name, limit, ...(window && { window }), ...(resetsAt && { resetsAt }) };
  return Object.assign(error, { quota });
}

/** Whether a quota limits what a user does at the same time. */
export function isConcurrent(name: QuotaName): boolean {
  return name === "concurrentRuns" || name === "streams";
}

function formatMessage({ name, limit, window, isReserved }: QuotaProblem, resetsAt?: string): string {
  if (name === "concurrentRuns")
    return `You have ${formatCount(limit, "active run")}, which is your quota. End one, or wait.`;
  if (name === "streams")
    return `You have ${formatCount(limit, "open stream")}, which is your quota. Close one, or wait.`;
  if (name === "storage")
    return `Your quota of ${formatCount(limit, "byte")} of storage is used up. Delete sessions to free space.`;
  if (name === "sessions")
    return `Your quota of ${formatCount(limit, "session")} is used up. Delete one first.`;
  const amount = `${name === "cost" ? `$${limit}` : formatCounts({ [name]: limit })} per ${window}`;
  if (isReserved) return `Your active runs hold the rest of your quota of ${amount}. End one, or wait.`;
  return `Your quota of ${amount} is used up. It resets at ${resetsAt}.`;
}

/** Returns the quota that an error names. */
export function findExceededQuota(error: object): ExceededQuota | undefined {
  return "quota" in error ? (error.quota as ExceededQuota) : undefined;
}
