import type { Store } from "capstan";
import { getScope } from "capstan/sessions";
import type { Caller } from "../access/caller.ts";
import type { Allowance } from "../access/quota.ts";

/**
 * The runs that the engine of this process works on, each counted as its user's: also one that goes on after a wait, or
 * in the place of a process that is gone. A run is at work as long as the engine has the lease of its session.
 */
export interface RunsAtWork {
  /** For the engine alone: its leases are seen here. */
  readonly store: Store;
  /** Whether a run of this session is at work, or about to be. */
  has(sessionId: string): boolean;
  /** A run of the caller is about to begin, or to go on: it counts from now until it comes to rest. Throws `rate_limited`. */
  expect(caller: Caller, sessionId: string): Expected;
  /** The engine is about to go on with a run of this session. */
  takenUp(sessionId: string): void;
}

/** A run that is to be at work in a moment. */
export interface Expected {
  /** Whether the engine of this process has it. */
  isTakenUp(): boolean;
  /** Nothing came of it, or it is over: it counts no more. */
  release(): void;
}

type Waiting = { readonly release: () => void; isTakenUp: boolean };

/** `owner` is what the leases of the engine begin with. */
export function runsAtWork(
  store: Store,
  { owner, allowance }: { readonly owner: string; readonly allowance: Allowance },
): RunsAtWork {
  const expected = new Map<string, Waiting>();
  const working = new Map<string, () => void>();

  function forget(sessionId: string): void {
    expected.get(sessionId)?.release();
    expected.delete(sessionId);
  }

  function begin(sessionId: string): void {
    const one = expected.get(sessionId);
    if (one) one.isTakenUp = true;
    expected.delete(sessionId);
    working.set(sessionId, one?.release ?? allowance.count(getScope(sessionId), "runs"));
  }

  const lease: Store["lease"] = async (sessionId, by, ms) => {
    if (!by.startsWith(owner)) return store.lease(sessionId, by, ms);
    try {
      const taken = await store.lease(sessionId, by, ms);
      if (taken && !working.has(sessionId)) begin(sessionId);
      return taken;
    } finally {
      // Somebody else has it, or nobody can tell.
      forget(sessionId);
    }
  };
  const release: Store["release"] = async (held) => {
    if (held.owner.startsWith(owner)) {
      working.get(held.sessionId)?.();
      working.delete(held.sessionId);
    }
    await store.release(held);
  };

  return {
    store: overlaid(store, { lease, release }),
    has: (sessionId) => working.has(sessionId) || expected.has(sessionId),
    expect(caller, sessionId) {
      const one: Waiting = { release: allowance.take(caller, "runs"), isTakenUp: false };
      expected.set(sessionId, one);
      return {
        isTakenUp: () => one.isTakenUp,
        release() {
          one.release();
          if (expected.get(sessionId) === one) expected.delete(sessionId);
        },
      };
    },
    takenUp(sessionId) {
      const one = expected.get(sessionId);
      if (one) one.isTakenUp = true;
    },
  };
}

/** A store with a few methods of its own; a store may be an object of a class, with fields that only it can read. */
function overlaid(store: Store, own: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(own, name) ?? Reflect.get(target, name);
      return typeof value === "function" && !(name in own) ? value.bind(target) : value;
    },
  });
}
