import type { Store } from "../store.ts";
import { memory } from "../stores/memory.ts";
import { type FactAudit, factAudit } from "./fact-audit.ts";
import { type LeaseAudit, leaseAudit } from "./lease-audit.ts";
import { type MessageAudit, messageAudit } from "./message-audit.ts";
import type { World } from "./world.ts";

/** The store that all workers share, and what its auditors know about it. */
export interface AuditedStore {
  /** The store as a worker reaches it, at the instant of each call. */
  as(worker: string): Store;
  readonly facts: FactAudit;
  readonly leases: LeaseAudit;
  readonly messages: MessageAudit;
  /** The clock of the store jumps: leases lapse at once. */
  jump(ms: number): void;
}

export function auditedStore(world: World, broken: (store: Store) => Store = (store) => store): AuditedStore {
  let skewMs = 0;
  const now = () => world.scheduler.now() + skewMs;
  const store = broken(memory({ clock: { now, after: world.scheduler.after } }));
  const facts = factAudit(world);
  const leases = leaseAudit(world, now);
  const messages = messageAudit(world);

  const as = (worker: string): Store => ({
    ...store,
    async append(batch, at) {
      const placed = await store.append(batch, at);
      const { acknowledged: heard = [] } = at;
      messages.wrote(leases.wrote(at.lease), batch, heard);
      facts.read(at.lease.sessionId, placed);
      return placed;
    },
    async lease(sessionId, owner, ms) {
      const lease = await store.lease(sessionId, owner, ms);
      if (lease) leases.granted(lease, ms, { worker, toldBefore: messages.count() });
      return lease;
    },
    async renew(lease, ms) {
      const isHeld = await store.renew(lease, ms);
      if (isHeld) leases.renewed(lease, ms);
      return isHeld;
    },
    async release(lease) {
      await store.release(lease);
      leases.released(lease);
    },
    async sendMessage(runId, message) {
      await store.sendMessage(runId, message);
      messages.stored(runId, message);
    },
  });

  return {
    as,
    facts,
    leases,
    messages,
    jump(ms) {
      skewMs += ms;
      world.note("clock", `of the store jumps by ${ms} ms`);
    },
  };
}
