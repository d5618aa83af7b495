import type { Store } from "capstan";
import { getScope } from "capstan/sessions";
import type { Caller } from "../access/caller.ts";
import type { Quota } from "../access/quota.ts";

/**
 * Counts the engine's active runs in this process against their users' quotas, including runs that it resumed or took
 * over. A run is active while the engine holds the lease of its session.
 */
export interface ActiveRuns {
  /** Store wrapper for the engine; observes its leases. */
  readonly store: Store;
  /** Whether a run of this session is active or reserved. */
  has(sessionId: string): boolean;
  /**
   * Reserves a place for a run that is about to start or resume; it counts until the run suspends. Throws
   * `rate_limited`.
   */
  reserve(caller: Caller, sessionId: string): RunReservation;
  /** Tells that the engine is about to resume a run of this session. */
  markStarted(sessionId: string): void;
}

/** The place of a run that has not acquired its lease yet. */
export interface RunReservation {
  /** Whether the engine of this process runs it. */
  isStarted(): boolean;
  /** Gives the place back, if the run did not start or is over. */
  release(): void;
}

type PendingReservation = { readonly release: () => void; isStarted: boolean };

/** `owner` is the prefix of the engine's lease owners. */
export function trackActiveRuns(
  store: Store,
  { owner, quota }: { readonly owner: string; readonly quota: Quota },
): ActiveRuns {
  const reservations = new Map<string, PendingReservation>();
  const active = new Map<string, () => void>();

  function dropReservation(sessionId: string): void {
    reservations.get(sessionId)?.release();
    reservations.delete(sessionId);
  }

  function activate(sessionId: string): void {
    const one = reservations.get(sessionId);
    if (one) one.isStarted = true;
    reservations.delete(sessionId);
    active.set(sessionId, one?.release ?? quota.add(getScope(sessionId), "runs"));
  }

  const lease: Store["lease"] = async (sessionId, by, ms) => {
    if (!by.startsWith(owner)) return store.lease(sessionId, by, ms);
    try {
      const taken = await store.lease(sessionId, by, ms);
      if (taken && !active.has(sessionId)) activate(sessionId);
      return taken;
    } finally {
      // The lease is held elsewhere, or its state is unknown.
      dropReservation(sessionId);
    }
  };
  const release: Store["release"] = async (held) => {
    if (held.owner.startsWith(owner)) {
      active.get(held.sessionId)?.();
      active.delete(held.sessionId);
    }
    await store.release(held);
  };

  return {
    store: withOverrides(store, { lease, release }),
    has: (sessionId) => active.has(sessionId) || reservations.has(sessionId),
    reserve(caller, sessionId) {
      const one: PendingReservation = { release: quota.acquire(caller, "runs"), isStarted: false };
      reservations.set(sessionId, one);
      return {
        isStarted: () => one.isStarted,
        release() {
          one.release();
          if (reservations.get(sessionId) === one) reservations.delete(sessionId);
        },
      };
    },
    markStarted(sessionId) {
      const one = reservations.get(sessionId);
      if (one) one.isStarted = true;
    },
  };
}

/** Overrides methods of a store. A proxy, because the store may be a class instance with private fields. */
function withOverrides(store: Store, own: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(own, name) ?? Reflect.get(target, name);
      return typeof value === "function" && !(name in own) ? value.bind(target) : value;
    },
  });
}
