import type { Store } from "capstan";
import type { Caller } from "./caller.ts";
import type { NewRun, QuotaAdmission, QuotaAdmissionOptions } from "./quota-admission.ts";
import { clampBudget, computeGrant, type Grant, reserveRun, reserveSession } from "./reserve.ts";
import { type ChangeContext, toSpending, type UsageLedger } from "./usage-ledger.ts";
import {
  cancelReservation,
  countSoFar,
  endReservation,
  type Reservation,
  reservationMs,
  suspendReservation,
  type UsageRecord,
  waitingMs,
  withReservation,
} from "./usage-record.ts";

type ReservingContext = Required<QuotaAdmissionOptions> & { readonly ledger: UsageLedger };

const renewMs = reservationMs / 3;
/** Between two looks at the reservations of a user who is refused. */
const reconcileMs = 1000;
const maxUsers = 10_000;

/** The part of the admission for users with quotas. */
export type Reserving = Pick<QuotaAdmission, "admit" | "admitResume" | "admitSession" | "clampPolicy">;

export function createReserving(context: ReservingContext): Reserving {
  const { ledger, getResult, report, now } = context;
  const renew = createRenewal(ledger, report, now);
  const reconcile = createReconciler(context);
  const update = (user: string, change: (usage: UsageRecord) => UsageRecord): void => {
    ledger.update(user, (usage) => [change(usage), undefined]).catch(report);
  };

  async function reserve(
    { scope, quotas }: Caller,
    { runId, sessionId, policy, isEphemeral }: NewRun,
    isResumed: boolean,
  ): Promise<{ readonly grant: Grant; readonly isNew: boolean }> {
    const isKnown = isResumed && (await ledger.read(scope)).reservations[runId] !== undefined;
    const counted = isResumed && !isKnown && !isEphemeral ? toSpending(await getResult(runId)) : undefined;
    const isQueued = !isResumed && sessionId !== undefined && (await isBusy(context.store, sessionId));
    const attempt = () =>
      ledger.update(scope, async (stored, change) => {
        const usage = await confirmSessions(stored, change);
        const needsStorage = !isEphemeral && !isResumed && (quotas.storage ?? quotas.sessions) !== undefined;
        const isNewSession = sessionId !== undefined && needsStorage && !(await change.hasSession(sessionId));
        const [next, grant] = reserveRun(usage, {
          ...{ id: runId, quotas, policy, isResumed, isQueued, counted, isEphemeral, now: change.now },
          ...(isNewSession && { newSession: sessionId }),
          ...(needsStorage && { storage: await change.measureStorage() }),
        });
        return [next, { grant, isNew: next !== usage }];
      });
    try {
      return await attempt();
    } catch (thrown) {
      // Runs that have ended elsewhere, or never started, may hold the rest.
      if (!(await reconcile(scope))) throw thrown;
      return attempt();
    }
  }

  return {
    async admit(caller, run) {
      const { grant, isNew } = await reserve(caller, run, false);
      const { runId, isEphemeral } = run;
      if (isEphemeral) renew(caller.scope, runId);
      const release = () => update(caller.scope, (usage) => cancelReservation(usage, runId));
      return { policy: clampBudget(run.policy, grant), release: isNew ? release : () => undefined };
    },
    async admitResume(caller, run) {
      await reserve(caller, { ...run, policy: {} }, true);
      return () => update(caller.scope, (usage) => suspendReservation(usage, run.runId));
    },
    async admitSession({ scope, quotas }, { sessionId, bytes }) {
      const id = `session ${sessionId}`;
      await ledger.update(scope, async (stored, change) => {
        const usage = await confirmSessions(stored, change);
        const storage = await change.measureStorage();
        const request = { id, quotas, now: change.now, storage, bytes, newSession: sessionId };
        return [reserveSession(usage, request), undefined];
      });
      return () => update(scope, (usage) => cancelReservation(usage, id));
    },
    async clampPolicy({ scope, quotas }, policy) {
      return clampBudget(policy, computeGrant(await ledger.read(scope), { quotas, now: now(), policy }));
    },
  };
}

/** Whether a session has an unfinished run. */
async function isBusy(store: Store, sessionId: string): Promise<boolean> {
  return (await store.listRuns(sessionId, 1)).some(({ state }) => state !== "ended");
}

/** Removes the marks of new sessions that are stored by now: they are in the count of sessions. */
async function confirmSessions(usage: UsageRecord, { hasSession }: ChangeContext): Promise<UsageRecord> {
  let next = usage;
  for (const [id, reservation] of Object.entries(usage.reservations)) {
    const { newSession, ...rest } = reservation;
    if (newSession !== undefined && (await hasSession(newSession))) next = withReservation(next, id, rest);
  }
  return next;
}

/** Creates a function that keeps the reservation of an ephemeral run alive until it ends. */
function createRenewal(ledger: UsageLedger, report: (thrown: unknown) => unknown, now: () => number) {
  const renewed = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;

  async function renewAll(): Promise<void> {
    for (const [runId, user] of renewed) {
      const isOpen = await ledger.update(user, (usage) => {
        const reservation = usage.reservations[runId];
        if (!reservation) return [usage, false];
        return [withReservation(usage, runId, { ...reservation, expiresAt: now() + reservationMs }), true];
      });
      if (!isOpen) renewed.delete(runId);
    }
    if (renewed.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return (user: string, runId: string): void => {
    renewed.set(runId, user);
    timer ??= setInterval(() => void renewAll().catch(report), renewMs).unref();
  };
}

/** Creates a function that corrects a user's reservations by the facts. Returns false if it did so just before. */
function createReconciler({
  store,
  ledger,
  getResult,
  now,
}: ReservingContext): (user: string) => Promise<boolean> {
  const reconciledAt = new Map<string, number>();

  async function correct(user: string, runId: string, reservation: Reservation): Promise<void> {
    const isExpired = now() >= reservation.expiresAt;
    const run = await store.findRun(runId);
    const apply = (change: (usage: UsageRecord) => UsageRecord) =>
      ledger.update(user, (usage) => [usage.reservations[runId] ? change(usage) : usage, undefined]);
    const keepFor = (ms: number) =>
      apply((usage) =>
        withReservation(usage, runId, {
          ...(usage.reservations[runId] ?? reservation),
          expiresAt: now() + ms,
        }),
      );
    if (!run) return isExpired ? apply((usage) => cancelReservation(usage, runId)) : undefined;
    // A waiting run with a message continues as soon as a process takes it over.
    const isActive = run.state === "active" || (await store.listMessages(runId)).length > 0;
    if (isActive) return isExpired ? keepFor(reservationMs) : undefined;
    if (run.state === "waiting" && reservation.isSuspended) return keepFor(waitingMs);
    const total = toSpending(await getResult(runId));
    const mark = run.state === "ended" ? endReservation : suspendReservation;
    await apply((usage) => mark(countSoFar(usage, runId, total), runId, now()));
  }

  return async (user) => {
    if (now() - (reconciledAt.get(user) ?? -reconcileMs) < reconcileMs) return false;
    if (reconciledAt.size >= maxUsers) reconciledAt.clear();
    reconciledAt.set(user, now());
    const { reservations } = await ledger.read(user);
    for (const [id, reservation] of Object.entries(reservations)) {
      const { isEphemeral, isSessionOnly, isEnded, isSuspended, expiresAt } = reservation;
      if (isEphemeral || isSessionOnly || isEnded || (isSuspended && now() < expiresAt)) continue;
      await correct(user, id, reservation);
    }
    return true;
  };
}
