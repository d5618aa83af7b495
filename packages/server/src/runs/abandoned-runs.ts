import type { RunInfo, Store } from "capstan";
import type { Deployment } from "../deployment.ts";
import { updateRecord } from "../sessions/update-record.ts";

/*
 * The clients of some protocols stop an answer by closing its connection, which looks like a lost connection. Therefore
 * the run continues, and a client that reconnects reads the rest. If a new message comes instead, the user has stopped
 * the run. The record is in the store, because another process may receive the message.
 */

type RunLocation = Pick<RunInfo, "runId" | "sessionId">;

const kind = "abandoned";

/** Records that the client of this run has disconnected before its end. On shutdown, the server has disconnected. */
export function abandonRun(
  { store, shutdownSignal, report }: Pick<Deployment, "store" | "shutdownSignal" | "report">,
  { runId, sessionId }: RunLocation,
): void {
  if (!shutdownSignal.aborted) setAbandoned(store, sessionId, runId).catch(report);
}

/** Records which run of a session is abandoned. */
export async function setAbandoned(
  store: Store,
  sessionId: string,
  runId: string | undefined,
): Promise<void> {
  await updateRecord(store, { kind, id: sessionId }, () => runId);
}

export async function isAbandoned(store: Store, { runId, sessionId }: RunLocation): Promise<boolean> {
  return (await store.getRecord(kind, sessionId))?.body === runId;
}
