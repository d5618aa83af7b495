import { backgroundClock, type Clock, every } from "./clock.ts";
import { AgentError } from "./errors.ts";
import type { Lease, Store } from "./store.ts";

export type HeldLease = { readonly lease: Lease; release(): Promise<void> };

export type Holding = {
  readonly store: Store;
  readonly sessionId: string;
  readonly owner: string;
  /** For how long it is held without being renewed; a minute when left out. */
  readonly leaseMs?: number | undefined;
  /** Of the store's owners, who must agree on it; not the run's, which may stand still. */
  readonly clock?: Clock | undefined;
  /** Somebody else has taken it. */
  onLost(error: AgentError): void;
};

/** Takes a session's lease and keeps it until released. A store that dies lets it lapse, and someone else may go on. */
export async function holdLease(holding: Holding): Promise<HeldLease> {
  const { store, sessionId, owner, leaseMs = 60_000, clock = backgroundClock, onLost } = holding;
  const lease = await store.lease(sessionId, owner, leaseMs);
  if (!lease) {
    throw new AgentError(
      "session_busy",
      `The session "${sessionId}" is in use by another run: wait for its end, or use another session.`,
    );
  }
  const renew = async () => {
    if (await store.renew(lease, leaseMs)) return;
    stop();
    onLost(new AgentError("lease_lost", `Another writer has taken over the session "${sessionId}".`));
  };
  const stop = every(clock, leaseMs / 3, () => void renew().catch(() => undefined));
  return {
    lease,
    async release() {
      stop();
      await store.release(lease);
    },
  };
}
