import type { QuotaWindow } from "./quotas.ts";
import { addToWindows, computeWindowStart, windowMs, withoutReservation } from "./usage-ledger.ts";

// One record per user counts what the user has used, and what active runs may still use. Every function here is pure.

/** Used tokens and US dollars. */
export type Spending = { readonly tokens: number; readonly cost: number };

export type WindowUsage = Spending & { readonly start: number; readonly runs: number };

/** What a run that has not ended may still use. It is removed when the run ends. */
export type Reservation = Spending & {
  readonly at: number;
  /** After this time, the run's process may be gone; see `reconcile`. */
  readonly expiresAt: number;
  /** Whether the run waits, so that it does not count as active. */
  readonly isSuspended?: true;
  /** Whether the run has ended and is counted. Kept until it expires, in case its process counts it too. */
  readonly isEnded?: true;
  /** Whether the run exists only in its process, which renews the reservation. */
  readonly isEphemeral?: true;
  /** The part of the run's usage that is in the windows already. */
  readonly counted?: Spending;
  /** A session that is being created. */
  readonly newSession?: string;
  /** Whether it only holds a place for `newSession`. */
  readonly isSessionOnly?: true;
};

export type UsageRecord = {
  readonly windows: { readonly [Window in QuotaWindow]: WindowUsage };
  readonly reservations: { readonly [id: string]: Reservation };
};

export const reservationMs = 60_000;
/** Until a waiting run is read again: its session may be deleted. */
export const waitingMs = 3_600_000;

export function computeWindowEnd(window: QuotaWindow, now: number): number {
  const start = computeWindowStart(window, now);
  if (window !== "month") return start + windowMs[window];
  const date = new Date(start);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

export function withReservation(usage: UsageRecord, id: string, reservation: Reservation): UsageRecord {
  return { ...usage, reservations: { ...usage.reservations, [id]: reservation } };
}

/** Counts what a run with a reservation has used so far. */
export function countSoFar(usage: UsageRecord, runId: string, total: Spending): UsageRecord {
  const reservation = usage.reservations[runId];
  if (!reservation) return usage;
  const { counted = { tokens: 0, cost: 0 } } = reservation;
  const more = {
    tokens: Math.max(0, total.tokens - counted.tokens),
    cost: Math.max(0, total.cost - counted.cost),
  };
  const sum = { tokens: counted.tokens + more.tokens, cost: counted.cost + more.cost };
  return withReservation(addToWindows(usage, more), runId, { ...reservation, counted: sum });
}

/** Marks a run as waiting: it holds nothing. */
export function suspendReservation(usage: UsageRecord, runId: string): UsageRecord {
  const reservation = usage.reservations[runId];
  if (!reservation || reservation.isSuspended) return usage;
  return withReservation(usage, runId, { ...reservation, tokens: 0, cost: 0, isSuspended: true });
}

/** Marks a queued run as active. */
export function activateReservation(usage: UsageRecord, runId: string): UsageRecord {
  const { isSuspended: _, ...reservation } = usage.reservations[runId] ?? {};
  return withReservation(usage, runId, reservation as Reservation);
}

/** Marks a run as ended and counted by another process than its own. */
export function endReservation(usage: UsageRecord, runId: string, now: number): UsageRecord {
  const reservation = suspendReservation(usage, runId).reservations[runId];
  const isEnded = true;
  return reservation
    ? withReservation(usage, runId, { ...reservation, isEnded, expiresAt: now + reservationMs })
    : usage;
}

/** A retried run ended before, and its usage was counted then. */
export function countRetry(usage: UsageRecord, runId: string, counted: Spending): UsageRecord {
  const fresh = { at: 0, expiresAt: 0, tokens: 0, cost: 0 };
  return withReservation(usage, runId, { ...fresh, ...usage.reservations[runId], counted });
}

/** Removes the reservation of a run that did not start, as if it had never been requested. */
export function cancelReservation(usage: UsageRecord, id: string): UsageRecord {
  const reservation = usage.reservations[id];
  if (!reservation) return usage;
  const isCounted = reservation.isSessionOnly || reservation.counted !== undefined;
  const refunded = isCounted ? usage : addToWindows(usage, { runs: -1, since: reservation.at });
  return withoutReservation(refunded, id);
}
