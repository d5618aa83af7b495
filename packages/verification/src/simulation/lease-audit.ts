import type { Lease } from "capstan";
import type { World } from "./world.ts";

export type AuditedLease = {
  readonly worker: string;
  readonly owner: string;
  readonly token: number;
  /** Number of messages sent to any run before the lease was granted. */
  readonly messagesBefore: number;
  hasWritten: boolean;
  /** Whether the holder has recorded that it took the run over. Until then it waits at the gate of its process. */
  hasRecovered: boolean;
  until: number;
};

/** Tracks who may write, without querying the store. */
export interface LeaseAudit {
  onGrant(lease: Lease, ms: number, more: { readonly worker: string; readonly messagesBefore: number }): void;
  onRenew(lease: Lease, ms: number): void;
  onRelease(lease: Lease): void;
  /** Called for each accepted write, which must come from the newest holder. */
  onWrite(lease: Lease): AuditedLease | undefined;
  /** True if the lease was released, not expired. */
  wasReleased(token: number | undefined): boolean;
  /** The holder of an unexpired lease. */
  findHolder(sessionId: string): AuditedLease | undefined;
  /** A session on which the worker holds an unexpired lease. */
  findHeldBy(worker: string): string | undefined;
}

export function createLeaseAudit(world: World, now: () => number): LeaseAudit {
  const newestLeases = new Map<string, AuditedLease>();
  const releasedTokens = new Set<number>();
  const findHolder = (sessionId: string) => {
    const lease = newestLeases.get(sessionId);
    return lease && lease.until > now() ? lease : undefined;
  };
  return {
    onGrant({ sessionId, owner, token }, ms, { worker, messagesBefore }) {
      const held = findHolder(sessionId);
      if (held && held.owner !== owner)
        world.reportViolation(
          "a lease has one holder",
          `${sessionId} is granted to ${owner} while ${held.owner} holds it`,
        );
      newestLeases.set(sessionId, {
        worker,
        owner,
        token,
        messagesBefore,
        hasWritten: false,
        hasRecovered: false,
        until: now() + ms,
      });
    },
    onRenew({ sessionId, owner, token }, ms) {
      const lease = newestLeases.get(sessionId);
      if (lease?.token !== token)
        return world.reportViolation("a lost lease stays lost", `${sessionId} of ${owner}`);
      lease.until = now() + ms;
    },
    onRelease({ sessionId, token }) {
      releasedTokens.add(token);
      if (newestLeases.get(sessionId)?.token === token) newestLeases.delete(sessionId);
    },
    onWrite({ sessionId, owner, token }) {
      const lease = newestLeases.get(sessionId);
      if (lease?.token === token) return lease;
      world.reportViolation(
        "stale writers are refused",
        `${owner} wrote to ${sessionId}; the holder is ${lease?.owner}`,
      );
      return undefined;
    },
    wasReleased: (token) => token !== undefined && releasedTokens.has(token),
    findHolder,
    findHeldBy: (worker) =>
      [...newestLeases.keys()].find((sessionId) => findHolder(sessionId)?.worker === worker),
  };
}
