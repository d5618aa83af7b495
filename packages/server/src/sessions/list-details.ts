import type { RunStatus, RunSummary, Store } from "capstan";
import { getScope } from "capstan/sessions";
import { loadOrigins } from "./branches.ts";

/** The details of a session that a list shows next to its title. */
export type ListDetails = {
  /** The agent of its newest run. */
  readonly agent?: string;
  /** The state of its newest run. */
  readonly state?: RunSummary["state"];
  /** How its newest run has ended. */
  readonly status?: RunStatus;
  /** The id of the session it was forked from. */
  readonly origin?: string;
};

/** Loads what a list shows of the sessions of a page: one read of their runs, and one of their origins. */
export async function loadListDetails(
  store: Store,
  sessionIds: readonly string[],
): Promise<(sessionId: string) => ListDetails> {
  const [{ runs }, origins] = await Promise.all([
    store.queryRuns({ newestOf: sessionIds, limit: sessionIds.length }),
    loadOrigins(store, sessionIds),
  ]);
  const runsBySession = new Map(runs.map((run) => [run.sessionId, run]));
  return (sessionId) => {
    const run = runsBySession.get(sessionId);
    const origin = origins.get(sessionId);
    const isSameUser = origin !== undefined && getScope(origin.sessionId) === getScope(sessionId);
    return {
      ...(run && { agent: run.agent, state: run.state, ...(run.status && { status: run.status }) }),
      ...(isSameUser && { origin: origin.sessionId }),
    };
  };
}
