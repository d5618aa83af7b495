import type { Feedback, RunFilter, RunPage, RunQuery, RunStatistics } from "../runtime/run-catalog.ts";
import type { Connection } from "./connection.ts";

/** Selects runs. Only an admin may name another `user`, or `*` for all of them. */
export type RunListFilter = Omit<RunFilter, "scope" | "newestOf"> & { readonly user?: string | undefined };
export type RunListQuery = RunListFilter & Omit<RunQuery, keyof RunFilter>;
export type RunStatisticsQuery = RunListFilter & {
  /** The length of the periods in milliseconds. Default: a day. */
  readonly bucket?: number;
};
export type NewFeedback = Pick<Feedback, "rating" | "note" | "correction">;

/** Lists the runs of all sessions, and takes feedback on them. */
export interface RunListClient {
  /** Lists a page of runs, the newest first by default. */
  listRuns(query?: RunListQuery): Promise<RunPage>;
  /** Adds up runs by time, agent, model and tool. */
  summarizeRuns(query?: RunStatisticsQuery): Promise<RunStatistics>;
  /** Replaces the feedback on a run. An empty one removes it. */
  sendFeedback(runId: string, feedback: NewFeedback): Promise<Feedback | undefined>;
}

export function createRunListClient({ request }: Connection): RunListClient {
  return {
    listRuns: (query = {}) => request({ method: "GET", path: "/api/runs", query }),
    summarizeRuns: (query = {}) => request({ method: "GET", path: "/api/runs/stats", query }),
    async sendFeedback(runId, feedback) {
      const path = `/api/runs/${encodeURIComponent(runId)}/feedback`;
      const stored = await request<{ readonly feedback?: Feedback }>({
        ...{ method: "POST", path, body: feedback, isIdempotent: true },
      });
      return stored.feedback;
    },
  };
}
