import type { Result } from "capstan";
import { subscribe } from "capstan/sessions";
import type { Workspace } from "../workspace/workspace.ts";

/** A run that waits for its model provider. It continues by itself. */
export function isWaitingForProvider({ status, pending, until }: Result): boolean {
  return status === "waiting" && pending.length === 0 && until !== undefined;
}

const keepAliveMs = 3_600_000;

/** Resolves when a suspended run continues, also to be cancelled: when there is a fact after position `after`. */
export async function waitForWake(
  { store }: Pick<Workspace, "store">,
  position: { readonly runId: string; readonly after: number },
): Promise<void> {
  // The timers of the store and the engine do not keep the process alive.
  const keepAlive = setInterval(() => undefined, keepAliveMs);
  const events = subscribe(store, position);
  try {
    await events.next();
  } finally {
    clearInterval(keepAlive);
    await events.return?.();
  }
}
