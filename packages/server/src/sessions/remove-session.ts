import type { Store } from "capstan";
import { deleteSessionSchedules } from "capstan/schedules";
import { deleteQueue, removeApprovalRules } from "capstan/sessions";
import type { Deployment } from "../deployment.ts";
import { setAbandoned } from "../runs/abandoned-runs.ts";
import { deleteRequests } from "../runs/idempotency.ts";
import { stopRun } from "../runs/stop-run.ts";
import { deleteOutcomes } from "../webhooks/delivery-records.ts";
import { deleteBranches } from "./branches.ts";

/**
 * Removes a session. Cancels an active run first; throws `session_busy` and removes nothing if that run does not end
 * within five seconds.
 */
export async function removeSession(deployment: Deployment, sessionId: string): Promise<void> {
  const { store } = deployment;
  await deleteSessionSchedules(store, sessionId); // first, so that no run starts when the active one ends
  await deleteQueue(store, sessionId);
  const runs = await store.listRuns(sessionId);
  for (const run of runs)
    if (run.state === "active") await stopRun(deployment, run, "The session is being removed.");
  await deleteSession(store, sessionId);
}

/** Deletes a session and the server's records of it. */
export async function deleteSession(store: Store, sessionId: string): Promise<void> {
  await removeApprovalRules(store, sessionId);
  await deleteSessionSchedules(store, sessionId);
  await deleteQueue(store, sessionId);
  await store.remove(sessionId);
  await deleteBranches(store, sessionId);
  await deleteRequests(store, sessionId);
  await deleteOutcomes(store, sessionId);
  await setAbandoned(store, sessionId, undefined);
}
