import { isDeepStrictEqual } from "node:util";
import type { Snapshot, Store } from "capstan";
import { fold, parseState, serializeState } from "capstan/internal/verification";
import type { FactAudit } from "./fact-audit.ts";
import type { World } from "./world.ts";

/**
 * Checks that each snapshot is the state of the facts before it, and makes snapshots as unreliable as a cache may be:
 * one may be missing or older than the newest.
 */
export function withSnapshotAudit(
  { random, totals, reportViolation }: World,
  { store, facts }: { readonly store: Store; readonly facts: FactAudit },
): Pick<Store, "putSnapshot" | "getSnapshot"> {
  const stored = new Map<string, Snapshot[]>();
  return {
    async putSnapshot(snapshot, lease) {
      await store.putSnapshot(snapshot, lease);
      const { sessionId } = lease;
      totals.snapshots += 1;
      stored.set(sessionId, [...(stored.get(sessionId) ?? []), snapshot]);
      const folded = fold(sessionId, facts.getSession(sessionId).facts.slice(0, snapshot.seq));
      // Serialized as well, because a snapshot omits undefined members.
      if (!isDeepStrictEqual(parseState(snapshot.state), parseState(serializeState(folded))))
        reportViolation("a snapshot is the state of its facts", `${sessionId} at ${snapshot.seq}`);
    },
    async getSnapshot(sessionId) {
      if (random.chance(0.2)) return undefined;
      const snapshot = await store.getSnapshot(sessionId);
      return snapshot && random.chance(0.3) ? random.pick(stored.get(sessionId) ?? [snapshot]) : snapshot;
    },
  };
}
