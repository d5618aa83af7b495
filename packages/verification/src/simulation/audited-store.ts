import type { Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { createFactAudit, type FactAudit } from "./fact-audit.ts";
import { createLeaseAudit, type LeaseAudit } from "./lease-audit.ts";
import { createMessageAudit, type MessageAudit } from "./message-audit.ts";
import { findScheduledRun, type PlannedRun } from "./plan.ts";
import { createRequestAudit, type RequestAudit } from "./request-audit.ts";
import { withSnapshotAudit } from "./snapshot-audit.ts";
import { createVersionAudit, type VersionAudit, type VersionOptions } from "./version-view.ts";
import type { World } from "./world.ts";

/** The store shared by all workers, with its auditors. */
export interface AuditedStore {
  /** The store as seen by one worker, which runs a version of the runtime. */
  forWorker(worker: string, version: number): Store;
  readonly facts: FactAudit;
  readonly leases: LeaseAudit;
  readonly messages: MessageAudit;
  readonly requests: RequestAudit;
  readonly versions: VersionAudit;
  /** The records of the store, without faults. */
  readonly records: Pick<Store, "getRecord">;
  /** Advances the store's clock, so that leases expire at once. */
  jumpClock(ms: number): void;
}

export type AuditOptions = VersionOptions & {
  readonly runs: readonly PlannedRun[];
  readonly mutateStore?: ((store: Store) => Store) | undefined;
};

export function createAuditedStore(
  world: World,
  { runs, mutateStore: mutate = (store) => store, ...options }: AuditOptions,
): AuditedStore {
  let skewMs = 0;
  const now = () => world.scheduler.now() + skewMs;
  const store = mutate(memory({ clock: { now, monotonic: now, after: world.scheduler.after } }));
  const facts = createFactAudit(world);
  const leases = createLeaseAudit(world, now);
  const messages = createMessageAudit(world);
  const requests = createRequestAudit(world, runs);
  const versions = createVersionAudit(world, options);
  const snapshots = withSnapshotAudit(world, { store, facts });

  /** The first run of a schedule is the planned one. There must be no other. */
  function identifyRun(runId: string): void {
    const run = findScheduledRun(runs, runId);
    if (!run || run.runId === runId) return;
    if (run.runId.startsWith("run_"))
      world.reportViolation("a schedule starts one run for each time", `${run.runId} and ${runId}`);
    world.totals.schedules += 1;
    run.runId = runId;
  }

  const createView = (worker: string): Store => ({
    ...store,
    ...snapshots,
    async append(batch, at) {
      const placed = await store.append(batch, at);
      for (const { type, runId } of placed) if (type === "run_start") identifyRun(runId);
      const { acknowledged: heard = [] } = at;
      const lease = leases.onWrite(at.lease);
      if (lease) lease.hasRecovered ||= batch.some(({ type }) => type === "recovered");
      messages.onWrite(lease, batch, heard);
      const known = facts.getSession(at.lease.sessionId).facts.length;
      facts.read(at.lease.sessionId, placed);
      for (const fact of placed) if (fact.seq > known) requests.onFact(fact);
      return placed;
    },
    async lease(sessionId, owner, ms) {
      const lease = await store.lease(sessionId, owner, ms);
      if (lease) leases.onGrant(lease, ms, { worker, messagesBefore: messages.count() });
      return lease;
    },
    async renew(lease, ms) {
      const isHeld = await store.renew(lease, ms);
      if (isHeld) leases.onRenew(lease, ms);
      return isHeld;
    },
    async release(lease) {
      await store.release(lease);
      leases.onRelease(lease);
    },
    async sendMessage(runId, message) {
      await store.sendMessage(runId, message);
      messages.onStore(runId, message);
    },
  });

  return {
    forWorker: (worker, version) => versions.view(createView(worker), version),
    facts,
    leases,
    messages,
    requests,
    versions,
    records: store,
    jumpClock(ms) {
      skewMs += ms;
      world.log("clock", `of the store jumps by ${ms} ms`);
    },
  };
}
