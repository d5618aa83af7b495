import { AgentError } from "capstan";
import { subscribe } from "capstan/sessions";
import type { Deployment } from "../deployment.ts";
import { forgetAsked } from "../runs/idempotency.ts";
import { forgetBranches } from "./branches.ts";

const patienceMs = 5000;

/**
 * Removes a session for good. A run that is at work is cancelled first, as whoever removes it expects; when it does not
 * end within five seconds, nothing is removed yet: `session_busy`.
 */
export async function removeSession(deployment: Deployment, sessionId: string): Promise<void> {
  const { store } = deployment;
  const runs = await store.listRuns(sessionId);
  for (const { runId, state } of runs) if (state === "active") await endRun(deployment, runId);
  await store.remove(sessionId);
  await forgetBranches(store, sessionId);
  await forgetAsked(store, sessionId);
}

async function endRun({ store, engine }: Deployment, runId: string): Promise<void> {
  try {
    await engine.send(runId, { key: crypto.randomUUID(), type: "cancel", reason: "Its session is removed." });
  } catch (thrown) {
    if (thrown instanceof AgentError && thrown.code === "run_ended") return;
    throw thrown;
  }
  let isOver = false;
  for await (const event of subscribe(store, { runId }, { signal: AbortSignal.timeout(patienceMs) }))
    isOver = event.type === "done" && event.runId === runId;
  if (isOver) return;
  const message = `The run "${runId}" is being cancelled and has not ended yet: remove its session in a moment.`;
  throw new AgentError("session_busy", message, { retryAfterMs: patienceMs });
}
