import { AgentError } from "../errors.ts";
import type { Lease, Store } from "../store.ts";

type Holding = { readonly owner: string; readonly token: number; until: number };

/** Leases among the runs of this process. */
export function memoryLeases(now: () => number): Pick<Store, "lease" | "renew" | "release"> & {
  assertHeld(lease: Lease): void;
  isHeld(sessionId: string): boolean;
} {
  const holdings = new Map<string, Holding>();
  let tokens = 0;
  return {
    async lease(sessionId, owner, ms) {
      const holding = holdings.get(sessionId);
      if (holding && holding.owner !== owner && holding.until > now()) return undefined;
      tokens += 1;
      holdings.set(sessionId, { owner, token: tokens, until: now() + ms });
      return { sessionId, owner, token: tokens };
    },
    async renew({ sessionId, token }, ms) {
      const holding = holdings.get(sessionId);
      if (holding?.token !== token) return false;
      holding.until = now() + ms;
      return true;
    },
    async release({ sessionId, token }) {
      if (holdings.get(sessionId)?.token === token) holdings.delete(sessionId);
    },
    isHeld: (sessionId) => (holdings.get(sessionId)?.until ?? 0) > now(),
    assertHeld({ sessionId, token }) {
      if (holdings.get(sessionId)?.token === token) return;
      throw new AgentError("lease_lost", `Another writer has taken over the session "${sessionId}".`);
    },
  };
}
