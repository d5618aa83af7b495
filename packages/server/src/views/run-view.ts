import {
  AgentError,
  type PendingCall,
  type ResultData,
  type RunDelivery,
  type RunInfo,
  type RunSummary,
  type Store,
} from "capstan";
import type { LocalEngine, StuckRun } from "capstan/engines/local";
import { findQueuedRun, type ListedRun, listQueuedRuns, toListedRun } from "capstan/sessions";
import type { Deployment } from "../deployment.ts";
import { findDelivery, webhookTag } from "../webhooks/delivery-records.ts";

/** A run with its pending calls and, if it has ended or waits, its result. */
export type RunView = ListedRun & {
  readonly pending: readonly PendingCall[];
  readonly result?: ResultData;
  /** Of a run that a webhook started: whether its result was delivered. */
  readonly delivery?: RunDelivery;
};

/** Loads the current state without waiting. Throws `unknown_run`. */
export async function loadRunView({ store, engine }: Deployment, runId: string): Promise<RunView> {
  const run = await store.findRun(runId);
  const queued = run ? undefined : await findQueuedRun(store, runId);
  if (queued) return { ...toListedRun(queued), pending: [] };
  if (!run) throw new AgentError("unknown_run", `Run not found: "${runId}".`);
  const { firstSeq: _, ...info } = run;
  const { orThrow: __, ...result } = await engine.getResult(runId);
  // A run that waits for a point in time is listed as active: a process resumes it then.
  const hasResult = info.state !== "active" || result.until !== undefined;
  const delivery = await findDelivery(store, info);
  return { ...info, pending: result.pending, ...(hasResult && { result }), ...(delivery && { delivery }) };
}

/** Adds the delivery of their results to runs that webhooks started. */
export function addDeliveries(store: Store, runs: readonly RunSummary[]): Promise<readonly RunSummary[]> {
  return Promise.all(
    runs.map(async (run) => {
      const isOurs = run.tags.some((tag) => tag.startsWith(webhookTag));
      const delivery = isOurs ? await findDelivery(store, run) : undefined;
      return delivery ? { ...run, delivery } : run;
    }),
  );
}

type ListRunsOptions = {
  readonly sessionId?: string | undefined;
  readonly scope: string;
  readonly limit: number;
};

const maxSessions = 50;

/** Lists the runs of a session with their summaries, also queued ones; newest first. */
export async function listSessionRuns(
  store: Store,
  options: ListRunsOptions & { readonly sessionId: string },
): Promise<readonly ListedRun[]> {
  const { runs } = await store.queryRuns({ sessionId: options.sessionId, limit: options.limit });
  const summaries = new Map(runs.map((run) => [run.runId, run]));
  return (await listRuns(store, options)).map((run) => ({ ...summaries.get(run.runId), ...run }));
}

/** Lists runs of one session, or of the user's newest sessions; newest first. */
export async function listRuns(
  store: Store,
  { sessionId, scope, limit: most }: ListRunsOptions,
): Promise<readonly ListedRun[]> {
  const sessions =
    sessionId === undefined ? await store.list({ scope, limit: maxSessions }) : [{ id: sessionId }];
  const queued = sessionId === undefined ? [] : await listWaiting(store, sessionId);
  const runs = await Promise.all(sessions.map(({ id }) => store.listRuns(id, most)));
  const started = runs.flat();
  const isStarted = (runId: string) => started.some((run) => run.runId === runId);
  const waiting = queued.filter(({ runId }) => !isStarted(runId));
  return [...waiting.toReversed(), ...sortByStart(started)].slice(0, most);
}

/** Lists the queued runs of a session, without messages that were sent to the unfinished run. */
async function listWaiting(store: Store, sessionId: string): Promise<readonly ListedRun[]> {
  const queued = await listQueuedRuns(store, sessionId);
  return queued.filter(({ steers }) => steers === undefined).map(toListedRun);
}

/** Lists the runs of the user that cannot continue, with the reason; newest first. */
export async function listStuckRuns(
  engine: LocalEngine,
  { limit, ...filter }: ListRunsOptions,
): Promise<readonly StuckRun[]> {
  return sortByStart(await engine.listStuck(filter)).slice(0, limit);
}

function sortByStart<Run extends RunInfo>(runs: readonly Run[]): readonly Run[] {
  return runs.toSorted((left, right) => right.startedAt - left.startedAt);
}
