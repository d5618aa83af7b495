import { backgroundClock, type Clock, repeatEvery } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";
import type { Lease, Store } from "./store.ts";

export type HeldLease = {
  readonly lease: Lease;
  /** False once the lease may have expired, for example after the process was paused. */
  isCurrent(): boolean;
  /** Extends the lease. Rejects with `lease_lost` when another process has acquired it. */
  renew(): Promise<void>;
  release(): Promise<void>;
};

export type LeaseOptions = {
  readonly store: Store;
  readonly sessionId: string;
  readonly owner: string;
  /** How long the lease lasts without being renewed. Default: one minute. */
  readonly leaseMs?: number | undefined;
  readonly takeOver?: boolean | undefined;
  /** All owners of the store must agree on this clock. It is not the run's clock, which may stand still in tests. */
  readonly clock?: Clock | undefined;
  /** Called when another process has acquired the lease. */
  onLost(error: AgentError): void;
};

/** Acquires a session's lease and renews it until it is released. Rejects with `session_busy` while it is taken. */
export async function acquireLease(options: LeaseOptions): Promise<HeldLease> {
  const { store, sessionId, owner, leaseMs = 60_000, takeOver, clock = backgroundClock, onLost } = options;
  let isFresh = startLeaseTimer(clock, leaseMs);
  const lease = await store.lease(sessionId, owner, leaseMs, { takeOver });
  if (!lease) {
    throw new AgentError(
      "session_busy",
      `Session "${sessionId}" is in use by another run. Wait for that run to end, or use another session.`,
    );
  }
  let isReleased = false;
  const renew = async () => {
    const isFreshFromNow = startLeaseTimer(clock, leaseMs);
    if (await store.renew(lease, leaseMs)) {
      isFresh = isFreshFromNow;
      return;
    }
    stop();
    const error = new AgentError("lease_lost", `Another process has taken over session "${sessionId}".`);
    // A renewal that was requested before the release does not count as lost.
    if (!isReleased) onLost(error);
    throw error;
  };
  const stop = repeatEvery(clock, leaseMs / 3, () => void renew().catch(() => undefined));
  return {
    lease,
    isCurrent: () => isFresh(),
    renew,
    async release() {
      isReleased = true;
      stop();
      await store.release(lease);
    },
  };
}

/**
 * Returns a function that is false once `ms` have passed. Both clocks must agree: the monotonic clock may stand still
 * while the machine sleeps, and the wall clock may be set back.
 */
function startLeaseTimer(clock: Clock, ms: number): () => boolean {
  const wallEnd = clock.now() + ms;
  const monotonicEnd = clock.monotonic() + ms;
  return () => clock.now() < wallEnd && clock.monotonic() < monotonicEnd;
}
