import { createHash } from "node:crypto";
import { AgentError, type Event, type Fact, isFact, type RunInfo, type Store } from "capstan";
import { getScope, loadRunFacts, subscribe, updateRecord } from "capstan/sessions";
import type { Deployment } from "../deployment.ts";
import { createSessionId } from "./start-run.ts";
import { cancelQueued, stopRun } from "./stop-run.ts";

/** A conversation that another protocol's client identifies by its own id. */
export type Thread = { readonly protocol: string; readonly scope: string; readonly id: string };

const threadKind = "threads";

/**
 * Returns the session of a thread. Its id derives from the thread's id, so it belongs to the caller and is the same
 * in every process. After an answer was regenerated, it is the fork with the new answer.
 */
export async function findThreadSession(store: Store, thread: Thread): Promise<string> {
  const first = buildThreadSessionId(thread);
  const other = (await store.getRecord(threadKind, first))?.body;
  const isTheirs = typeof other === "string" && getScope(other) === thread.scope;
  return isTheirs && (await store.getSession(other)) !== undefined ? other : first;
}

/** Continues the thread in another session. */
export async function moveThread(store: Store, thread: Thread, sessionId: string): Promise<void> {
  await updateRecord(store, { kind: threadKind, id: buildThreadSessionId(thread) }, () => sessionId);
}

function buildThreadSessionId({ protocol, scope, id }: Thread): string {
  return createSessionId(
    scope,
    createHash("sha256")
      .update(JSON.stringify([protocol, id]))
      .digest("base64url"),
  );
}

/**
 * Stops the named run of a thread, or else its last one. Does nothing if that has ended. The name matters where the
 * client has sent its next message meanwhile. Throws `not_found` if the thread has no session.
 */
export async function stopThread(deployment: Deployment, thread: Thread, runId?: string): Promise<void> {
  const { store } = deployment;
  const sessionId = await findThreadSession(store, thread);
  if (!(await store.getSession(sessionId)))
    throw new AgentError("not_found", `Nothing to stop: there is no conversation "${thread.id}".`);
  if (runId !== undefined && (await cancelQueued(deployment, { runId, sessionId }))) return;
  const named = runId === undefined ? undefined : await store.findRun(runId);
  const isTheirs = named !== undefined && getScope(named.sessionId) === thread.scope;
  const run = isTheirs ? named : await findLastRun(store, sessionId);
  if (run && run.state !== "ended") await stopRun(deployment, run);
}

export async function findLastRun(store: Store, sessionId: string): Promise<RunInfo | undefined> {
  return (await store.listRuns(sessionId, 1)).at(-1);
}

/** Returns the position of the run's last `waiting` fact, or 0. */
export async function findLastWait(store: Store, { runId }: RunInfo): Promise<number> {
  const facts = await loadRunFacts(store, runId);
  return facts.findLast((fact) => fact.type === "waiting" && fact.runId === runId)?.seq ?? 0;
}

/** Whether a run waits for input. A run that waits for a point in time resumes by itself. */
export function waitsForInput(event: Event): boolean {
  return event.type === "waiting" && event.until === undefined;
}

/**
 * Yields the events of a run after a position until it ends or waits for input. Continues if the run only waits for a
 * point in time or has queued messages. Omits an end after which the run was retried. Ends early on shutdown.
 */
export async function* readUntilSuspended(
  { store, shutdownSignal }: Pick<Deployment, "store" | "shutdownSignal">,
  { runId, after = 0 }: { readonly runId: string; readonly after?: number },
): AsyncGenerator<Event, void, undefined> {
  for await (const event of subscribe(store, { runId, after }, { signal: shutdownSignal })) {
    if (event.type === "done" && event.canRetry && (await wasRetried(store, event))) continue;
    yield event;
    if (!isFact(event) || event.runId !== runId || !waitsForInput(event)) continue;
    const isTold = (await store.listMessages(runId)).length > 0;
    const { facts = 0 } = (await store.getSession(event.sessionId)) ?? {};
    if (!isTold && facts === event.seq) return;
  }
}

async function wasRetried(store: Store, { sessionId, seq }: Fact): Promise<boolean> {
  const [next] = await store.read(sessionId, seq, 1);
  return next?.type === "retried";
}
