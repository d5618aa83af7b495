import { AgentError, type PendingCall, type Result, type RunInfo, type Store } from "capstan";
import type { Deployment } from "../deployment.ts";

/** A run, the calls of it that only a person or a client can move, and, when it has ended or waits, what came of it. */
export type RunView = RunInfo & {
  readonly pending: readonly PendingCall[];
  readonly result?: Omit<Result, "orThrow">;
};

/** As it is now: nothing is waited for. Throws `unknown_run`. */
export async function runView({ store, engine }: Deployment, runId: string): Promise<RunView> {
  const sessionId = await store.findSession(runId);
  const runs = sessionId === undefined ? [] : await store.listRuns(sessionId);
  const info = runs.find((run) => run.runId === runId);
  if (!info) throw new AgentError("unknown_run", `There is no run "${runId}".`);
  const { orThrow: _, ...result } = await engine.getResult(runId);
  return { ...info, pending: result.pending, ...(info.state !== "active" && { result }) };
}

type Asked = { readonly sessionId?: string | undefined; readonly scope: string; readonly most: number };

const newestSessions = 50;

/** The newest runs first: of one session, or of the newest of a user. */
export async function listedRuns(
  store: Store,
  { sessionId, scope, most }: Asked,
): Promise<readonly RunInfo[]> {
  const sessions =
    sessionId === undefined ? await store.list({ scope, limit: newestSessions }) : [{ id: sessionId }];
  const runs = await Promise.all(sessions.map(({ id }) => store.listRuns(id)));
  return runs
    .flat()
    .toSorted((left, right) => right.startedAt - left.startedAt)
    .slice(0, most);
}
