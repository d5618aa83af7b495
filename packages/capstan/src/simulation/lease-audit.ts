import type { Lease } from "../store.ts";
import type { World } from "./world.ts";

export type AuditedLease = {
  readonly worker: string;
  readonly owner: string;
  readonly token: number;
  /** Messages that had been told to anybody when it was granted. */
  readonly toldBefore: number;
  hasWritten: boolean;
  until: number;
};

/** Knows who may write, without asking the store. */
export interface LeaseAudit {
  granted(lease: Lease, ms: number, more: { readonly worker: string; readonly toldBefore: number }): void;
  renewed(lease: Lease, ms: number): void;
  released(lease: Lease): void;
  /** A write was let through: it must be one of the newest holder's. */
  wrote(lease: Lease): AuditedLease | undefined;
  /** Given back, not lapsed. */
  wasReleased(token: number | undefined): boolean;
  /** The holder of a lease that has not lapsed. */
  holder(sessionId: string): AuditedLease | undefined;
}

export function leaseAudit(world: World, now: () => number): LeaseAudit {
  const newest = new Map<string, AuditedLease>();
  const given = new Set<number>();
  const current = (sessionId: string) => {
    const lease = newest.get(sessionId);
    return lease && lease.until > now() ? lease : undefined;
  };
  return {
    granted({ sessionId, owner, token }, ms, { worker, toldBefore }) {
      const held = current(sessionId);
      if (held && held.owner !== owner)
        world.violate(
          "a lease has one holder",
          `${sessionId} is given to ${owner} while ${held.owner} has it`,
        );
      newest.set(sessionId, { worker, owner, token, toldBefore, hasWritten: false, until: now() + ms });
    },
    renewed({ sessionId, owner, token }, ms) {
      const lease = newest.get(sessionId);
      if (lease?.token !== token) return world.violate("a lost lease stays lost", `${sessionId} of ${owner}`);
      lease.until = now() + ms;
    },
    released({ sessionId, token }) {
      given.add(token);
      if (newest.get(sessionId)?.token === token) newest.delete(sessionId);
    },
    wrote({ sessionId, owner, token }) {
      const lease = newest.get(sessionId);
      if (lease?.token === token) return lease;
      world.violate(
        "stale writers are refused",
        `${owner} wrote to ${sessionId}; it belongs to ${lease?.owner}`,
      );
      return undefined;
    },
    wasReleased: (token) => token !== undefined && given.has(token),
    holder: current,
  };
}
