import type { RunStatus } from "../kernel/event.ts";
import type { StopReason, Usage } from "../kernel/model.ts";

/** What a user thinks of the answer of a run. */
export type Feedback = {
  readonly rating?: "up" | "down";
  readonly note?: string;
  /** The answer that would have been right. */
  readonly correction?: string;
  /** The user who gave it. */
  readonly by?: string;
  readonly at: number;
};

/** The delivery of a run's result to the `reply` of the webhook that started it. */
export type RunDelivery = {
  readonly webhook: string;
  readonly state: "pending" | "delivered" | "failed";
  readonly attempts: number;
  /** Why the last attempt failed. */
  readonly error?: string;
  /** When a pending delivery that failed is tried again. */
  readonly nextAt?: number;
};

/** A run in one row: what its facts add up to. Its nested runs are part of it; only `turns` counts its own. */
export type RunSummary = {
  readonly runId: string;
  readonly sessionId: string;
  readonly agent: string;
  /** The version of the agent's definition. */
  readonly agentVersion?: string;
  /** `active` means that it has work to do, whether or not a process is running it. */
  readonly state: "active" | "waiting" | "ended";
  readonly status?: RunStatus;
  /** Why the model stopped last. */
  readonly stopReason?: StopReason;
  readonly errorCode?: string;
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly endedAt?: number;
  /** From the start to the end. */
  readonly ms?: number;
  readonly turns: number;
  readonly toolCalls: number;
  /** The tools it called and the models that answered, in the order of their first use. */
  readonly tools: readonly string[];
  readonly models: readonly string[];
  readonly usage: Usage;
  readonly cost: number;
  /** The scope of its session; empty if it has none. */
  readonly user: string;
  readonly tags: readonly string[];
  /** The first line of the input. */
  readonly title: string;
  readonly feedback?: Feedback;
  /** Added by a server to runs that its webhooks started. */
  readonly delivery?: RunDelivery;
};

/** Selects runs. A field that is absent or undefined selects all. */
export type RunFilter = {
  readonly scope?: string | undefined;
  readonly sessionId?: string | undefined;
  /** Only the newest run of each of these sessions. */
  readonly newestOf?: readonly string[] | undefined;
  readonly agent?: string | undefined;
  readonly version?: string | undefined;
  readonly status?: RunStatus | undefined;
  readonly state?: RunSummary["state"] | undefined;
  readonly stopReason?: StopReason | undefined;
  readonly error?: string | undefined;
  readonly model?: string | undefined;
  readonly tool?: string | undefined;
  readonly tag?: string | undefined;
  readonly feedback?: "up" | "down" | "none" | undefined;
  /** Runs that started at this time or later, and before that time. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly minCost?: number | undefined;
  readonly minMs?: number | undefined;
  /** Words of messages and tool results, as in `Store.search`. Of many matches, the newest ones count. */
  readonly q?: string | undefined;
};

export type RunSort = "startedAt" | "cost" | "ms" | "tokens" | "turns";

export type RunQuery = RunFilter & {
  /** Default: `startedAt`. */
  readonly sort?: RunSort | undefined;
  /** Default: `desc`. */
  readonly order?: "asc" | "desc" | undefined;
  /** Default: 50. */
  readonly limit?: number | undefined;
  /** `next` of the previous page, for the same query. */
  readonly cursor?: string | undefined;
};

export type RunPage = {
  readonly runs: readonly RunSummary[];
  /** Present if there are more runs. */
  readonly next?: string;
};

export type RunTotals = {
  readonly runs: number;
  readonly failed: number;
  readonly cost: number;
  readonly tokens: number;
};

/** The durations that half of the runs and 95 % of them do not exceed, to within 1 %; absent if none has ended. */
export type RunDurations = { readonly p50Ms?: number; readonly p95Ms?: number };

/** Totals of the runs with one agent, model or tool. A run counts for each model and each tool it used. */
export type NamedTotals = RunTotals & { readonly name: string };

export type RunStatistics = {
  readonly total: RunTotals & RunDurations;
  /** The periods in which runs started, in order. `at` is the start of the period, a multiple of its length. */
  readonly buckets: readonly (RunTotals & RunDurations & { readonly at: number })[];
  /** The most expensive first, then those with the most runs. */
  readonly agents: readonly NamedTotals[];
  readonly models: readonly NamedTotals[];
  readonly tools: readonly NamedTotals[];
};
