import { AgentError } from "capstan";
import { listQueuedRuns, subscribe } from "capstan/sessions";
import type { Deployment } from "../deployment.ts";

const stopTimeoutMs = 5000;

/**
 * Cancels a run, in whichever process executes it, and resolves when it has ended. Its partial answer stays in the
 * history. Does nothing if the run has ended already. Throws `session_busy` if it does not end within five seconds,
 * because its process is gone or hangs; the process that takes it over then ends it.
 */
export async function stopRun(
  { store, engine }: Pick<Deployment, "store" | "engine">,
  { runId, sessionId }: { readonly runId: string; readonly sessionId: string },
  reason = "The user stopped it.",
): Promise<void> {
  const { facts: after = 0 } = (await store.getSession(sessionId)) ?? {};
  try {
    await engine.send(runId, { key: crypto.randomUUID(), type: "cancel", reason });
  } catch (thrown) {
    if (thrown instanceof AgentError && thrown.code === "run_ended") return;
    throw thrown;
  }
  const signal = AbortSignal.timeout(stopTimeoutMs);
  let isOver = false;
  for await (const event of subscribe(store, { runId, sessionId, after }, { signal }))
    isOver = event.type === "done" && event.runId === runId;
  if (isOver) return;
  const message = `Run "${runId}" is being cancelled and has not ended yet. Try again in a moment.`;
  throw new AgentError("session_busy", message, { retryAfterMs: stopTimeoutMs });
}

/** Cancels a run that waits for its turn. False if it does not. */
export async function cancelQueued(
  { store, engine }: Pick<Deployment, "store" | "engine">,
  { runId, sessionId }: { readonly runId: string; readonly sessionId: string },
): Promise<boolean> {
  const isQueued = (await listQueuedRuns(store, sessionId)).some((queued) => queued.runId === runId);
  const reason = "The user stopped it.";
  if (isQueued) await engine.send(runId, { key: crypto.randomUUID(), type: "cancel", reason });
  return isQueued;
}
