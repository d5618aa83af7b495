import { AgentError, type Store } from "capstan";
import { removeApprovalRules, subscribe } from "capstan/sessions";
import type { Deployment } from "../deployment.ts";
import { deleteRequests } from "../runs/idempotency.ts";
import { deleteBranches } from "./branches.ts";

const cancelTimeoutMs = 5000;

/**
 * Removes a session. Cancels an active run first; throws `session_busy` and removes nothing if that run does not end
 * within five seconds.
 */
export async function removeSession(deployment: Deployment, sessionId: string): Promise<void> {
  const { store } = deployment;
  const runs = await store.listRuns(sessionId);
  for (const { runId, state } of runs) if (state === "active") await cancelRun(deployment, runId);
  await deleteSession(store, sessionId);
}

/** Deletes a session and the server's records of it. */
export async function deleteSession(store: Store, sessionId: string): Promise<void> {
  await removeApprovalRules(store, sessionId);
  await store.remove(sessionId);
  await deleteBranches(store, sessionId);
  await deleteRequests(store, sessionId);
}

async function cancelRun({ store, engine }: Deployment, runId: string): Promise<void> {
  try {
    await engine.send(runId, {
      key: crypto.randomUUID(),
      type: "cancel",
      reason: "The session is being removed.",
    });
  } catch (thrown) {
    if (thrown instanceof AgentError && thrown.code === "run_ended") return;
    throw thrown;
  }
  let isOver = false;
  for await (const event of subscribe(store, { runId }, { signal: AbortSignal.timeout(cancelTimeoutMs) }))
    isOver = event.type === "done" && event.runId === runId;
  if (isOver) return;
  const message = `Run "${runId}" is being cancelled and has not ended yet. Remove its session in a moment.`;
  throw new AgentError("session_busy", message, { retryAfterMs: cancelTimeoutMs });
}
