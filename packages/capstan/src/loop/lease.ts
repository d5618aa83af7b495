import { backgroundClock, type Clock, repeatEvery } from "../clock.ts";
import { AgentError } from "../errors.ts";
import type { Lease, Store } from "../store.ts";

export type HeldLease = {
  readonly lease: Lease;
  /** Whether it could still be ours: a process that was stopped for longer finds out before it does anything. */
  isFresh(): boolean;
  /** Keeps it from now on. Rejects with `lease_lost` when somebody else has taken it. */
  renew(): Promise<void>;
  release(): Promise<void>;
};

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
  let askedAt = clock.now();
  const lease = await store.lease(sessionId, owner, leaseMs);
  if (!lease) {
    throw new AgentError(
      "session_busy",
      `The session "${sessionId}" is in use by another run: wait for its end, or use another session.`,
    );
  }
  let isReleased = false;
  const renew = async () => {
    const now = clock.now();
    if (await store.renew(lease, leaseMs)) {
      askedAt = now;
      return;
    }
    stop();
    const error = new AgentError("lease_lost", `Another writer has taken over the session "${sessionId}".`);
    // One that was asked for before it was given back is not lost.
    if (!isReleased) onLost(error);
    throw error;
  };
  const stop = repeatEvery(clock, leaseMs / 3, () => void renew().catch(() => undefined));
  return {
    lease,
    isFresh: () => clock.now() - askedAt < leaseMs,
    renew,
    async release() {
      isReleased = true;
      stop();
      await store.release(lease);
    },
  };
}
