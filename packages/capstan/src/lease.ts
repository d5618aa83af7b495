import { AgentError } from "./errors.ts";
import type { Lease, Store } from "./store.ts";

const leaseMs = 60_000;

export type HeldLease = { readonly lease: Lease; release(): Promise<void> };

/** Takes a session's lease and keeps it until released. A store that dies lets it lapse, and someone else may go on. */
export async function holdLease(store: Store, sessionId: string, owner: string): Promise<HeldLease> {
  const lease = await store.lease(sessionId, owner, leaseMs);
  if (!lease) {
    throw new AgentError(
      "session_busy",
      `The session "${sessionId}" is in use by another run: wait for its end, or use another session.`,
    );
  }
  // Real time, not the run's clock: it is the store's owners that must agree on it.
  const heartbeat = setInterval(() => store.renew(lease, leaseMs).catch(() => undefined), leaseMs / 3);
  if (typeof heartbeat === "object" && "unref" in heartbeat) heartbeat.unref();
  return {
    lease,
    async release() {
      clearInterval(heartbeat);
      await store.release(lease);
    },
  };
}
