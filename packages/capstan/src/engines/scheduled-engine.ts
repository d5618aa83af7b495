import type { Agent } from "../kernel/agent.ts";
import type { Result } from "../runtime/result.ts";
import type { LocalEngine, LocalOptions } from "./local-engine.ts";

/** Asks for one segment of a stored run: its start, or its continuation after a message or at a time. */
export type SegmentRequest = {
  readonly type: "start" | "wake";
  readonly runId: string;
  readonly sessionId: string;
  /** The same for requests of which one is enough. */
  readonly key: string;
  /** When to execute the segment, in milliseconds since 1970. Default: now. */
  readonly at?: number;
};

export type ScheduledOptions<A extends Agent = Agent> = Omit<LocalOptions<A>, "maxRuns" | "work"> & {
  /**
   * Has a worker call `executeSegment` for the run, at least once. Called when the start or the message is stored. A
   * request that is rejected or lost is repeated by `recover`. Without it, workers must poll the store.
   */
  readonly schedule?: (request: SegmentRequest) => Promise<void>;
  /** How often `recover` is called. Default: half of `leaseMs`. */
  readonly recoverEveryMs?: number;
  /** Set if no two segments of a session execute at the same time, so that a segment does not wait for a lease to expire. */
  readonly takeOver?: boolean;
  /** Receives what `schedule` rejects with. */
  readonly onScheduleError?: (error: unknown) => void;
};

/** An engine whose segments are executed when another system requests it: in this process, or in any other one. */
export interface ScheduledEngine extends LocalEngine {
  /**
   * Executes one segment of the run, then asks for the next: at the time until which the run waits for its provider, or
   * for the next queued run of the session. A call for a run that has nothing to do changes nothing, so that it may be
   * repeated. Rejects when the segment could not be executed here; call it again later, here or elsewhere.
   */
  executeSegment(run: { readonly runId: string }): Promise<Result>;
}
