import { createHash } from "node:crypto";
import type { Event, RunInfo, Store } from "capstan";
import { getScope, subscribe } from "capstan/sessions";
import type { Deployment } from "../deployment.ts";
import { newSessionId } from "./start-run.ts";

/** A conversation that a client of another protocol names by an id of its own. */
export type Thread = { readonly protocol: string; readonly scope: string; readonly id: string };

const kind = "threads";

/**
 * The session of a thread. Its id is made from the thread's, so it is the caller's by construction, and the same one on
 * every process and after every restart. Once an answer was made anew, it is the fork that has the new one.
 */
export async function sessionOfThread(store: Store, thread: Thread): Promise<string> {
  const first = firstSession(thread);
  const other = (await store.getRecord(kind, first))?.body;
  const isTheirs = typeof other === "string" && getScope(other) === thread.scope;
  return isTheirs && (await store.getSession(other)) !== undefined ? other : first;
}

/** From here on the thread goes on in this session. */
export async function moveThread(store: Store, thread: Thread, sessionId: string): Promise<void> {
  const id = firstSession(thread);
  const { version = 0 } = (await store.getRecord(kind, id)) ?? {};
  await store.putRecord({ kind, id, body: sessionId, replaces: true }, version);
}

function firstSession({ protocol, scope, id }: Thread): string {
  return newSessionId(
    scope,
    createHash("sha256")
      .update(JSON.stringify([protocol, id]))
      .digest("base64url"),
  );
}

/** The newest run of a session. */
export async function lastRun(store: Store, sessionId: string): Promise<RunInfo | undefined> {
  return (await store.listRuns(sessionId)).at(-1);
}

/** Where a run has last come to rest; 0 when it has not. */
export async function lastRest(store: Store, { sessionId, runId }: RunInfo): Promise<number> {
  const facts = await store.read(sessionId);
  return facts.findLast((fact) => fact.type === "waiting" && fact.runId === runId)?.seq ?? 0;
}

/**
 * The events of a run behind a position until it ends, or waits for somebody: not when it only waits for a time, nor when it
 * was told something already. Ends early when the server leaves.
 */
export async function* untilRest(
  { store, leaving }: Pick<Deployment, "store" | "leaving">,
  { runId, after = 0 }: { readonly runId: string; readonly after?: number },
): AsyncGenerator<Event, void, undefined> {
  for await (const event of subscribe(store, { runId, after }, { signal: leaving })) {
    yield event;
    if (event.type !== "waiting" || event.runId !== runId || event.until !== undefined) continue;
    const isTold = (await store.listMessages(runId)).length > 0;
    const { facts = 0 } = (await store.getSession(event.sessionId)) ?? {};
    if (!isTold && facts === event.seq) return;
  }
}
