import type { RunInfo, Store } from "capstan";
import type { Deployment } from "../deployment.ts";
import { updateRecord } from "../sessions/update-record.ts";
import { stopRun } from "./stop-run.ts";

/*
 * The clients of some protocols stop an answer by closing its connection, which looks like a lost connection. Therefore
 * the run continues, and a client that reconnects reads the rest. If a new message comes instead, the user has stopped
 * the run. The record is in the store, because another process may receive the message.
 */

type RunLocation = Pick<RunInfo, "runId" | "sessionId">;

const kind = "abandoned";

/** Called when the client of a run disconnects before its end. On shutdown, it is the server that disconnects. */
export function leaveRun(deployment: Deployment, run: RunLocation, action?: "stop"): void {
  const { store, shutdownSignal, report } = deployment;
  if (shutdownSignal.aborted) return;
  const left =
    action === "stop" ? stopActiveRun(deployment, run) : setAbandoned(store, run.sessionId, run.runId);
  left.catch(report);
}

/** Not a run that waits for the user, who may come back. */
async function stopActiveRun(deployment: Deployment, run: RunLocation): Promise<void> {
  if ((await deployment.store.findRun(run.runId))?.state === "active") await stopRun(deployment, run);
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
