import type { RunStatus, RunSummary, Store } from "capstan";
import { getScope } from "capstan/sessions";
import { isAppAgent } from "../mcp-apps/app-agents.ts";
import { loadOrigins } from "./branches.ts";

/** The details of a session that a list shows next to its title. */
export type ListDetails = {
  /** The agent of its newest run, apart from the calls of MCP Apps. */
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
  const agents = await loadConversationAgents(store, runs);
  return (sessionId) => {
    const run = runsBySession.get(sessionId);
    const origin = origins.get(sessionId);
    const isSameUser = origin !== undefined && getScope(origin.sessionId) === getScope(sessionId);
    return {
      ...(run && {
        agent: agents.get(sessionId) ?? run.agent,
        state: run.state,
        ...(run.status && { status: run.status }),
      }),
      ...(isSameUser && { origin: origin.sessionId }),
    };
  };
}

/** How far back to look for a run that is not the call of an app. */
const maxRuns = 100;

/** Finds the agents of the sessions whose newest run is the call of an MCP App. */
async function loadConversationAgents(
  store: Store,
  newest: readonly RunSummary[],
): Promise<ReadonlyMap<string, string>> {
  const agents = new Map<string, string>();
  for (const { sessionId } of newest.filter(({ agent }) => isAppAgent(agent))) {
    const run = (await store.listRuns(sessionId, maxRuns)).findLast(({ agent }) => !isAppAgent(agent));
    if (run) agents.set(sessionId, run.agent);
  }
  return agents;
}
