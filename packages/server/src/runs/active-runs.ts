import { getScope } from "capstan/sessions";
import type { Caller } from "../access/caller.ts";
import type { Quota } from "../access/quota.ts";

/** A run that the engine of this process executes. */
export type ExecutedRun = { readonly runId: string; readonly sessionId: string };

/** A segment of a run that is over, with the code of the error that stopped it. */
export type ExecutedSegment = ExecutedRun & { readonly errorCode?: string };

/**
 * Counts the runs that the engine of this process executes against their users' quotas, including runs that it resumed or
 * took over.
 */
export interface ActiveRuns {
  /** For the engine: called when it starts to execute a run, and when the run suspends or ends. */
  readonly callbacks: {
    onRunStart(run: ExecutedRun): void;
    onRunEnd(segment: ExecutedSegment): void;
  };
  /** Lists the runs that the engine of this process executes now. */
  list(): readonly ExecutedRun[];
  /** Whether a run of this session is active or reserved. */
  has(sessionId: string): boolean;
  /**
   * Reserves a place for a run that is about to start or resume; it counts until the run suspends. Throws
   * `rate_limited`.
   */
  reserve(caller: Caller, sessionId: string): RunReservation;
  /** Marks the reservation of this session as used: the engine is about to resume its run. */
  markStarted(sessionId: string): void;
}

/** The place of a run that is not executing yet. */
export interface RunReservation {
  /** Whether the engine of this process runs it. */
  isStarted(): boolean;
  /** Gives the place back, if the run did not start or is over. */
  release(): void;
}

type PendingReservation = { readonly release: () => void; isStarted: boolean };
type ActiveRun = { readonly sessionId: string; readonly release: () => void };

export function trackActiveRuns(quota: Quota, onSegment?: (segment: ExecutedSegment) => void): ActiveRuns {
  const reservations = new Map<string, PendingReservation>();
  const activeRuns = new Map<string, ActiveRun>();

  return {
    callbacks: {
      onRunStart({ runId, sessionId }) {
        const reservation = reservations.get(sessionId);
        if (reservation) reservation.isStarted = true;
        reservations.delete(sessionId);
        const release = reservation?.release ?? quota.add(getScope(sessionId), "runs");
        activeRuns.set(runId, { sessionId, release });
      },
      onRunEnd(segment) {
        activeRuns.get(segment.runId)?.release();
        activeRuns.delete(segment.runId);
        onSegment?.(segment);
      },
    },
    list: () => [...activeRuns].map(([runId, { sessionId }]) => ({ runId, sessionId })),
    has(sessionId) {
      if (reservations.has(sessionId)) return true;
      for (const run of activeRuns.values()) if (run.sessionId === sessionId) return true;
      return false;
    },
    reserve(caller, sessionId) {
      const reservation: PendingReservation = { release: quota.acquire(caller, "runs"), isStarted: false };
      reservations.set(sessionId, reservation);
      return {
        isStarted: () => reservation.isStarted,
        release() {
          reservation.release();
          if (reservations.get(sessionId) === reservation) reservations.delete(sessionId);
        },
      };
    },
    markStarted(sessionId) {
      const reservation = reservations.get(sessionId);
      if (reservation) reservation.isStarted = true;
    },
  };
}
