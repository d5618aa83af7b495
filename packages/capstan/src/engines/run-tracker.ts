import type { Clock } from "../base/clock.ts";
import { describeThrown } from "../base/errors.ts";
import { getScope } from "../kernel/session-id.ts";
import type { Result } from "../runtime/result.ts";
import type { Run } from "../runtime/run-handle.ts";

/** The runs that this process executes, or cannot continue for now. */
export interface RunTracker {
  /** Lists a run until it suspends or ends. */
  track(handle: Run): Run;
  /** Called when this process begins to execute a run, also after an answer on the handle, and when it stops. */
  onStart(runId: string): void;
  onEnd(runId: string): void;
  /** Resolves when this process executes no run, and all handles have suspended or ended. */
  whenIdle(): Promise<void>;
  list(): readonly Run[];
  /** False while this process executes the run, and for a while after it could not continue the run. */
  isDue(runId: string): boolean;
  /** Makes a run due: it has received a message. */
  unschedule(runId: string): void;
  /** Whether the run failed here because of its store or its agents, so that no process is gone. Forgets it. */
  takeFailure(runId: string): boolean;
}

/** A run that cannot continue is tried again after this long: the agents of a process may change. */
const retryStuckMs = 60_000;
const stuckCodes: readonly string[] = ["unknown_agent", "invalid_context", "newer_version"];

/** `onSettled` is called when a run suspends or ends. */
export function createRunTracker(clock: Clock, onSettled: (result: Result) => void): RunTracker {
  /** The handles of each run, the newest last: a repeated start has its own handle until it follows the first. */
  const activeRuns = new Map<string, readonly Run[]>();
  /** Segments in progress by run: a message on the handle of a run that waits starts one. */
  const segments = new Map<string, number>();
  const failedRuns = new Set<string>();
  const scheduledRuns = new Map<string, number>();
  let onIdle: (() => void)[] = [];
  return {
    track(handle) {
      activeRuns.set(handle.id, [...(activeRuns.get(handle.id) ?? []), handle]);
      const removeRun = () => {
        const others = (activeRuns.get(handle.id) ?? []).filter((other) => other !== handle);
        if (others.length > 0) activeRuns.set(handle.id, others);
        else activeRuns.delete(handle.id);
      };
      const settle = (result: Result) => {
        removeRun();
        onSettled(result);
      };
      handle.then(settle, (thrown) => {
        const { code } = describeThrown(thrown, "store_failed");
        if (code.startsWith("store_") || stuckCodes.includes(code)) failedRuns.add(handle.id);
        if (stuckCodes.includes(code)) scheduledRuns.set(handle.id, clock.now() + retryStuckMs);
        removeRun();
      });
      return handle;
    },
    onStart: (runId) => void segments.set(runId, (segments.get(runId) ?? 0) + 1),
    onEnd(runId) {
      const count = (segments.get(runId) ?? 0) - 1;
      if (count > 0) segments.set(runId, count);
      else segments.delete(runId);
      if (segments.size > 0) return;
      for (const resolve of onIdle) resolve();
      onIdle = [];
    },
    async whenIdle() {
      await Promise.allSettled([...activeRuns.values()].flat().map(async (handle) => handle));
      if (segments.size > 0) await new Promise<void>((resolve) => onIdle.push(resolve));
    },
    list: () => [...activeRuns.values()].flatMap((handles) => handles.at(-1) ?? []),
    isDue(runId) {
      if (activeRuns.has(runId) || segments.has(runId) || (scheduledRuns.get(runId) ?? 0) > clock.now())
        return false;
      scheduledRuns.delete(runId);
      return true;
    },
    unschedule: (runId) => void scheduledRuns.delete(runId),
    takeFailure: (runId) => failedRuns.delete(runId),
  };
}

/** Limits how many places of a process the runs of one user have, so that another user's first run finds one. */
export interface UserShare {
  /** Whether the user of the session may have another run in this process. */
  hasPlace(sessionId: string): boolean;
  add(run: { readonly runId: string; readonly sessionId: string }): void;
  remove(runId: string): void;
}

export type UserShareOptions = { readonly maxRuns: number; readonly maxRunsPerUser?: number | undefined };

/** By default, a user leaves a tenth of the places to others. */
const defaultShare = 0.9;

export function createUserShare({ maxRuns, maxRunsPerUser }: UserShareOptions): UserShare {
  const limit = maxRunsPerUser ?? Math.ceil(maxRuns * defaultShare);
  const users = new Map<string, string>();
  return {
    hasPlace(sessionId) {
      const user = getScope(sessionId);
      if (user === "") return true; // sessions without a user share nothing
      let count = 0;
      for (const other of users.values()) if (other === user) count += 1;
      return count < limit;
    },
    add: ({ runId, sessionId }) => void users.set(runId, getScope(sessionId)),
    remove: (runId) => void users.delete(runId),
  };
}
