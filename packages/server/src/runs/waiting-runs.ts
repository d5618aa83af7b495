import type { Run } from "capstan";

/** A run that waits for results of its client. */
export type WaitingRun = {
  readonly handle: Run;
  readonly scope: string;
  /** The tools that the client runs. */
  readonly declared: ReadonlySet<string>;
  readonly callIds: readonly string[];
};

export type WaitingLimits = {
  /** By default an hour. */
  readonly patienceMs?: number | undefined;
  /** Of one user; 100 by default. */
  readonly most?: number | undefined;
};

/** Runs that wait for their clients: for a while, and only so many of each user. The oldest one makes room. */
export interface WaitingRuns {
  keep(run: WaitingRun): void;
  /** The run of this scope that waits for all of these calls: it waits no more. */
  take(wanted: Omit<WaitingRun, "handle" | "declared"> & { readonly runId: string }): WaitingRun | undefined;
  /** Gives up all of them; they come to their ends. */
  clear(): readonly Run[];
}

/** In the memory of this process. */
export function waitingRuns({ patienceMs = 3_600_000, most = 100 }: WaitingLimits): WaitingRuns {
  const waiting = new Map<string, WaitingRun & { readonly timer: NodeJS.Timeout }>();

  function remove(runId: string): WaitingRun | undefined {
    const found = waiting.get(runId);
    clearTimeout(found?.timer);
    waiting.delete(runId);
    return found;
  }
  /** It comes to its end, so that what it has used is counted. */
  function giveUp(runId: string): readonly Run[] {
    const handle = remove(runId)?.handle;
    return handle ? [handle.cancel("Nobody came back with the results that it waited for.")] : [];
  }

  return {
    keep(run) {
      const { id } = run.handle;
      const own = [...waiting].filter(([, { scope }]) => scope === run.scope);
      const [oldest] = own;
      if (oldest && own.length >= most) giveUp(oldest[0]);
      waiting.set(id, { ...run, timer: setTimeout(() => giveUp(id), patienceMs).unref() });
    },
    take({ runId, scope, callIds }) {
      const found = waiting.get(runId);
      if (!found || found.scope !== scope || callIds.length === 0) return undefined;
      return callIds.every((callId) => found.callIds.includes(callId)) ? remove(runId) : undefined;
    },
    clear: () => [...waiting.keys()].flatMap(giveUp),
  };
}
