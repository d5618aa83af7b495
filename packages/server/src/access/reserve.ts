import type { PolicyOverrides, ScopeSize } from "capstan";
import { createQuotaError } from "./quota-error.ts";
import { getLimit, type Quotas, quotaWindows } from "./quotas.ts";
import { addToWindows } from "./usage-ledger.ts";
import {
  type Reservation,
  reservationMs,
  type Spending,
  type UsageRecord,
  waitingMs,
  withReservation,
} from "./usage-record.ts";

/** A run that is about to start or to resume. */
export type ReservationRequest = {
  readonly id: string;
  readonly quotas: Quotas;
  readonly now: number;
  /** The sessions of the user, if a quota limits them. */
  readonly storage?: ScopeSize | undefined;
  readonly policy?: PolicyOverrides;
  /** A session that the run creates. */
  readonly newSession?: string | undefined;
  /** Bytes that are about to be stored. */
  readonly bytes?: number | undefined;
  readonly isResumed?: boolean | undefined;
  /** Whether the run starts after another one of its session, whose place it takes. */
  readonly isQueued?: boolean | undefined;
  /** What a resumed run without a reservation has used before. */
  readonly counted?: Spending | undefined;
  readonly isEphemeral?: boolean | undefined;
};

/** Tokens and dollars that the run may use; absent where no quota limits them. */
export type Grant = Partial<Spending>;

/** How many runs share what is left, where `concurrentRuns` does not say it. */
const defaultShares = 10;

/**
 * Reserves a run's place, and its share of what is left of the quotas, so that concurrent runs cannot use it twice. The
 * share is an equal part for every run that the user may still start. Throws `quota_exceeded`.
 */
export function reserveRun(usage: UsageRecord, request: ReservationRequest): readonly [UsageRecord, Grant] {
  const { id, quotas, now, isResumed = false, isQueued = false } = request;
  const current = removeExpired(usage, now);
  const known = current.reservations[id];
  if (known && !(known.isSuspended && isResumed)) return [usage, pickGrant(known, quotas)]; // the same request, in another process
  const active = Object.values(current.reservations).filter(isActive).length;
  const maxActive = getLimit(quotas, "concurrentRuns");
  if (active >= maxActive && !isQueued)
    throw createQuotaError({ name: "concurrentRuns", limit: maxActive, now });
  if (!isResumed) assertRuns(current, quotas, now);
  assertStorage(current, request);
  const reservation = createReservation(request, known, computeShares(current, request));
  const next = withReservation(current, id, reservation);
  return [isResumed ? next : addToWindows(next, { runs: 1 }), pickGrant(reservation, quotas)];
}

/** Returns what a run would get, without the quotas that have nothing to share. Throws `quota_exceeded`. */
export function computeGrant(usage: UsageRecord, request: Omit<ReservationRequest, "id">): Grant {
  return pickGrant(computeShares(usage, request), request.quotas);
}

/** Reserves the place of a session that is created without a run. Throws `quota_exceeded`. */
export function reserveSession(usage: UsageRecord, request: ReservationRequest): UsageRecord {
  assertStorage(usage, request);
  const place = createReservation(request, undefined, { tokens: 0, cost: 0 });
  return withReservation(usage, request.id, { ...place, isSessionOnly: true });
}

/** Lowers a policy's budget to a grant, and never raises it. */
export function clampBudget(policy: PolicyOverrides, grant: Grant): PolicyOverrides {
  if (grant.tokens === undefined && grant.cost === undefined) return policy;
  return { ...policy, budget: { ...policy.budget, ...grant } };
}

function computeShares(usage: UsageRecord, request: Omit<ReservationRequest, "id">): Spending {
  const { quotas, now, policy } = request;
  const maxActive = getLimit(quotas, "concurrentRuns");
  const active = Object.values(usage.reservations).filter(isActive).length;
  const shares = Math.max(1, (maxActive === Infinity ? defaultShares : maxActive) - active);
  return {
    tokens: computeShare(usage, { name: "tokens", quotas, now, shares, budget: policy?.budget?.tokens }),
    cost: computeShare(usage, { name: "cost", quotas, now, shares, budget: policy?.budget?.cost }),
  };
}

function isActive({ isSuspended, isSessionOnly }: Reservation): boolean {
  return !isSuspended && !isSessionOnly;
}

/** Drops the reservations of processes that are gone. The runs of the store are read instead, see `reconcile`. */
function removeExpired(usage: UsageRecord, now: number): UsageRecord {
  const isKept = ({ isEphemeral, isSessionOnly, isEnded, expiresAt }: Reservation) =>
    !(isEphemeral || isSessionOnly || isEnded) || now < expiresAt;
  const kept = Object.entries(usage.reservations).filter(([, reservation]) => isKept(reservation));
  return { ...usage, reservations: Object.fromEntries(kept) };
}

function createReservation(
  { now, newSession, counted, isEphemeral, isQueued }: ReservationRequest,
  known: Reservation | undefined,
  reserved: Spending,
): Reservation {
  const { isSuspended: _, ...before } = known ?? {};
  return {
    ...before,
    ...reserved,
    at: known?.at ?? now,
    expiresAt: now + (isQueued ? waitingMs : reservationMs),
    ...(isQueued && { isSuspended: true }),
    ...(newSession !== undefined && { newSession }),
    ...(counted && { counted }),
    ...(isEphemeral && { isEphemeral }),
  };
}

function pickGrant({ tokens, cost }: Spending, quotas: Quotas): Grant {
  return { ...(isLimited(quotas.tokens) && { tokens }), ...(isLimited(quotas.cost) && { cost }) };
}

function isLimited(value: Quotas["tokens"]): value is object {
  return typeof value === "object";
}

function assertRuns({ windows }: UsageRecord, { runs: limits }: Quotas, now: number): void {
  if (!isLimited(limits)) return;
  for (const window of quotaWindows.toReversed()) {
    const limit = limits[window];
    if (limit !== undefined && windows[window].runs >= limit)
      throw createQuotaError({ name: "runs", window, limit, now });
  }
}

function assertStorage(
  { reservations }: UsageRecord,
  { quotas, storage, newSession, bytes = 0, now }: ReservationRequest,
): void {
  if (!storage) return;
  const maxBytes = getLimit(quotas, "storage");
  if (storage.bytes + bytes >= maxBytes) throw createQuotaError({ name: "storage", limit: maxBytes, now });
  if (newSession === undefined) return;
  const maxSessions = getLimit(quotas, "sessions");
  const pending = Object.values(reservations).filter((reservation) => reservation.newSession !== undefined);
  if (storage.sessions + pending.length >= maxSessions)
    throw createQuotaError({ name: "sessions", limit: maxSessions, now });
}

type ShareRequest = {
  readonly name: "tokens" | "cost";
  readonly quotas: Quotas;
  readonly now: number;
  readonly shares: number;
  readonly budget: number | "unlimited" | undefined;
};

/** Returns the smaller of a run's own budget and its share of what is left in every window; 0 without a quota. */
function computeShare(usage: UsageRecord, { name, quotas, now, shares, budget }: ShareRequest): number {
  const limits = quotas[name];
  if (!isLimited(limits)) return 0;
  const reserved = Object.values(usage.reservations).reduce((sum, reservation) => sum + reservation[name], 0);
  let left = Infinity;
  for (const window of quotaWindows.toReversed()) {
    const limit = limits[window];
    if (limit === undefined) continue;
    const used = usage.windows[window][name];
    if (used >= limit) throw createQuotaError({ name, window, limit, now });
    if (limit - used - reserved <= 0) throw createQuotaError({ name, window, limit, now, isReserved: true });
    left = Math.min(left, limit - used - reserved);
  }
  const share = name === "tokens" ? Math.max(1, Math.floor(left / shares)) : left / shares;
  return Math.min(share, typeof budget === "number" ? budget : Infinity);
}
