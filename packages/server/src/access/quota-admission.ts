import {
  type Event,
  type PolicyOverrides,
  type Result,
  type ScopeSize,
  type Store,
  systemClock,
} from "capstan";
import { getScope } from "capstan/sessions";
import type { Caller } from "./caller.ts";
import type { Quotas, QuotaWindow } from "./quotas.ts";
import { createReserving, type Reserving } from "./reserving.ts";
import { countEnd, createUsageLedger, toSpending, type UsageLedger } from "./usage-ledger.ts";
import {
  activateReservation,
  countRetry,
  countSoFar,
  type Spending,
  suspendReservation,
  type UsageRecord,
  type WindowUsage,
} from "./usage-record.ts";

/** Admits runs within the quotas of their users and counts what they use, for all processes on the store. */
export interface QuotaAdmission {
  /** Reserves a run's share of its user's quotas. Throws `quota_exceeded`. */
  admit(caller: Caller, run: NewRun): Promise<AdmittedRun>;
  /** Reserves what a waiting or failed run needs to continue. The returned function gives it back. */
  admitResume(caller: Caller, run: Pick<NewRun, "runId" | "isEphemeral">): Promise<() => void>;
  /** Reserves the place of a new session of this size. The returned function ends the reservation. */
  admitSession(
    caller: Caller,
    session: { readonly sessionId: string; readonly bytes?: number },
  ): Promise<() => void>;
  /** Lowers a budget to what a run would get now, without reserving it. Throws `quota_exceeded`. */
  clampPolicy(caller: Caller, policy: PolicyOverrides): Promise<PolicyOverrides>;
  /** Counts the usage that an event of a run reports. */
  record(event: Event): void;
  /** Counts what an ephemeral run has used before it waits. */
  recordWait(user: string, run: Pick<Result, "runId" | "usage" | "cost">): void;
  loadUsage(user: string): Promise<UserUsage>;
  /** Resolves when everything is counted that was recorded. */
  close(): Promise<void>;
}

export type NewRun = {
  readonly runId: string;
  /** Absent for an ephemeral run, which stores nothing. */
  readonly sessionId?: string;
  readonly policy: PolicyOverrides;
  readonly isEphemeral?: boolean;
};

export type AdmittedRun = {
  /** The policy of the run, with a budget within its share. */
  readonly policy: PolicyOverrides;
  /** Gives the share back, if the run did not start. */
  release(): void;
};

/** What a user has used in the current windows. */
export type UserUsage = {
  readonly windows: { readonly [Window in QuotaWindow]: WindowUsage };
  /** What active runs may still use. */
  readonly reserved: Spending;
  readonly activeRuns: number;
  readonly storage: ScopeSize;
};

export type QuotaAdmissionOptions = {
  readonly store: Store;
  getResult(runId: string): Promise<Result>;
  report(thrown: unknown): unknown;
  readonly now?: () => number;
};

export function createQuotaAdmission({
  store,
  getResult,
  report,
  now = systemClock.now,
}: QuotaAdmissionOptions): QuotaAdmission {
  const ledger = createUsageLedger(store, now);
  let created: Reserving | undefined;
  /** Created for the first user with a quota: others need none of it. */
  function getReserving(): Reserving {
    created ??= createReserving({ store, ledger, getResult, report, now });
    return created;
  }
  const update = (user: string, change: (usage: UsageRecord) => UsageRecord): void => {
    ledger.update(user, (usage) => [change(usage), undefined]).catch(report);
  };

  async function countWait(user: string, runId: string): Promise<void> {
    const isReserved = await ledger.update(user, (usage) => [
      suspendReservation(usage, runId),
      usage.reservations[runId] !== undefined,
    ]);
    if (!isReserved || (await store.findRun(runId)) === undefined) return;
    const total = toSpending(await getResult(runId));
    await ledger.update(user, (usage) => [countSoFar(usage, runId, total), undefined]);
  }

  return {
    async admit(caller, run) {
      if (!isCounted(caller.quotas)) return { policy: run.policy, release: () => undefined };
      return getReserving().admit(caller, run);
    },
    async admitResume(caller, run) {
      if (!isCounted(caller.quotas)) return () => undefined;
      return getReserving().admitResume(caller, run);
    },
    async admitSession(caller, session) {
      const { storage = "unlimited", sessions = "unlimited" } = caller.quotas;
      if (!isCounted({ storage, sessions })) return () => undefined;
      return getReserving().admitSession(caller, session);
    },
    async clampPolicy(caller, policy) {
      if (!isCounted(caller.quotas)) return policy;
      return getReserving().clampPolicy(caller, policy);
    },
    record(event) {
      const { type, runId, parentRunId } = event;
      if (parentRunId !== undefined) return;
      const user = getScope(event.sessionId);
      if (type === "done") update(user, (usage) => countEnd(usage, runId, toSpending(event)));
      else if (type === "run_start")
        update(user, (usage) =>
          usage.reservations[runId]?.isSuspended ? activateReservation(usage, runId) : usage,
        );
      // A run that waits for its provider keeps its place, because it continues by itself.
      else if (type === "waiting" && event.until === undefined) countWait(user, runId).catch(report);
      else if (type === "retried" && event.usageBefore) {
        const counted = toSpending({ usage: event.usageBefore, cost: event.usageBefore.cost });
        update(user, (usage) => countRetry(usage, runId, counted));
      }
    },
    recordWait: (user, run) => update(user, (usage) => countSoFar(usage, run.runId, toSpending(run))),
    close: () => ledger.waitUntilStored(),
    loadUsage: (user) => loadUsage(store, user, ledger),
  };
}

/** Loads what a user has used in the current windows. */
export async function loadUsage(
  store: Store,
  user: string,
  ledger: Pick<UsageLedger, "read"> = createUsageLedger(store),
): Promise<UserUsage> {
  const [{ windows, reservations }, storage] = await Promise.all([
    ledger.read(user),
    store.measureScope(user),
  ]);
  const active = Object.values(reservations).filter(
    ({ isSuspended, isSessionOnly }) => !isSuspended && !isSessionOnly,
  );
  const reserved = {
    tokens: active.reduce((sum, { tokens }) => sum + tokens, 0),
    cost: active.reduce((sum, { cost }) => sum + cost, 0),
  };
  return { windows, reserved, activeRuns: active.length, storage };
}

/** Whether a quota is set that is counted across processes. */
function isCounted({ streams: _, ...quotas }: Quotas): boolean {
  return Object.values(quotas).some((value) => value !== undefined && value !== "unlimited");
}
