import type { RunInfo, Store } from "capstan";
import { updateRecord } from "capstan/sessions";
import type { Deployment } from "../deployment.ts";
import type { FrameStreamOptions } from "../http/frame-stream.ts";
import { cancelQueued, stopRun } from "./stop-run.ts";

/*
 * The clients of some protocols stop an answer by closing its connection, which looks like a lost connection. Therefore
 * the run continues, and a client that reconnects reads the rest. If a new message comes instead, the user has stopped
 * the run. The record is in the store, because another process may receive the message.
 */

type RunLocation = Pick<RunInfo, "runId" | "sessionId">;

const kind = "abandoned";

/** Open connections by run id. */
const connections = new Map<string, number>();

export type ConnectionOptions = {
  /** What a closed connection means to the client. Without it, the run continues. */
  readonly onDisconnect?: "stop" | undefined;
  /** Called once when the connection is closed. */
  release(): void;
};

/**
 * Follows the connection through which a client reads a run. When the last one is gone before the end, the run is
 * abandoned or stopped; a client that reconnects may have two for a moment. On shutdown, it is the server that leaves.
 */
export function connectToRun(
  deployment: Deployment,
  run: RunLocation,
  { onDisconnect, release }: ConnectionOptions,
): Required<Pick<FrameStreamOptions, "onClose" | "onDisconnect">> {
  const { store, shutdownSignal, report } = deployment;
  const { runId, sessionId } = run;
  const count = () => connections.get(runId) ?? 0;
  connections.set(runId, count() + 1);
  return {
    onClose() {
      if (count() > 1) connections.set(runId, count() - 1);
      else connections.delete(runId);
      release();
    },
    onDisconnect() {
      if (shutdownSignal.aborted || count() > 0) return;
      const stops = onDisconnect === "stop";
      const left = stops ? stopActiveRun(deployment, run) : setAbandoned(store, sessionId, runId);
      left.catch(report);
    },
  };
}

/** Not a run that waits for the user, who may come back. */
async function stopActiveRun(deployment: Deployment, run: RunLocation): Promise<void> {
  if (await cancelQueued(deployment, run)) return;
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

/** The connection that a client closes and its next message may arrive in any order. */
const graceMs = 500;
const pollMs = 25;

/**
 * Called before a message of a conversation starts a run: stops the unfinished run if its client has left. The same
 * message sent again, with the same key, is no new one.
 */
export async function stopAbandonedRun(
  deployment: Deployment,
  sessionId: string,
  key: string | undefined,
): Promise<void> {
  const { store } = deployment;
  const [run] = await store.listRuns(sessionId, 1);
  if (!run || run.state === "ended" || run.runId === `run_${key}`) return;
  const deadline = performance.now() + graceMs;
  while (!(await isAbandoned(store, run))) {
    if (run.state === "waiting" || performance.now() > deadline) return;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  await stopRun(deployment, run);
}

async function isAbandoned(store: Store, { runId, sessionId }: RunLocation): Promise<boolean> {
  return (await store.getRecord(kind, sessionId))?.body === runId;
}
