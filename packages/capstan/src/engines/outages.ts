import type { Clock } from "../base/clock.ts";
import type { Result } from "../runtime/result.ts";

/** A run that is suspended because its model's provider is down. */
export type SuspendedRun = {
  readonly runId: string;
  readonly sessionId: string;
  readonly model: string;
  /** When the run calls its model again at the latest. */
  readonly until: number;
  /** How long the provider asks to wait. */
  readonly retryAfterMs?: number | undefined;
};

/**
 * Schedules suspended runs: knows which models are down and which runs wait for them. While a model is down, one of its
 * runs at a time calls it again, at intervals that grow from one second to half a minute. Once a call succeeds, by
 * whichever run, the others continue, 50 per second. A run whose own time has come continues at the same pace.
 */
export interface Outages {
  /** Adds a run that suspended until a time. Other runs are ignored. */
  add(result: Result): void;
  has(runId: string): boolean;
  /** Forgets a run, which then continues in another way. */
  remove(runId: string): void;
  wakeDueRuns(): void;
  /** Reports the outcome of a model call of any run in this process. */
  report(model: string, isUp: boolean): void;
  close(): void;
}

export type OutagesOptions = {
  readonly clock: Clock;
  /** Continues a suspended run. Resolves with false if that is not possible now; the run is tried again. */
  wake(run: SuspendedRun): Promise<boolean>;
};

/** An outage of one model. */
type Outage = {
  /** In the order in which they call the model again. */
  readonly runs: Map<string, SuspendedRun>;
  isOver: boolean;
  /** When one run calls the model for all others, on the monotonic clock, and the interval to the next time. */
  probeAt: number;
  probeMs: number;
};

const minProbeMs = 1_000;
/** Longer than the circuit breaker of a model client stays open, so that the call is not refused there. */
const maxProbeMs = 30_000;
/** Wake-ups at once, and the interval to the next ones: 50 per second. */
const maxWakeups = 5;
const wakeupMs = 100;

export function createOutages({ clock, wake }: OutagesOptions): Outages {
  const outages = new Map<string, Outage>();
  const models = new Map<string, string>();
  let timer: { readonly at: number; cancel(): void } | undefined;
  let isClosed = false;

  function schedule(ms: number): void {
    const at = clock.monotonic() + ms;
    if (isClosed || (timer && timer.at <= at)) return;
    timer?.cancel();
    timer = { at, cancel: clock.after(ms, wakeDueRuns) };
  }

  function wakeDueRuns(): void {
    timer?.cancel();
    timer = undefined;
    for (const [model, outage] of outages) {
      for (const run of selectRuns(outage, clock)) wakeRun(run);
      if (outage.runs.size > 0) schedule(computeDelayMs(outage, clock));
      else if (outage.isOver) outages.delete(model);
    }
  }

  function wakeRun(run: SuspendedRun): void {
    remove(run.runId);
    wake(run).then(
      (isAwake) => isAwake || addRun(run),
      () => addRun(run),
    );
  }

  function addRun(run: SuspendedRun): void {
    const { runId, model, retryAfterMs = 0 } = run;
    const outage = outages.get(model) ?? createOutage(clock.monotonic());
    outages.set(model, outage);
    models.set(runId, model);
    outage.runs.set(runId, run);
    outage.probeAt = Math.max(outage.probeAt, clock.monotonic() + retryAfterMs);
    schedule(computeDelayMs({ ...outage, runs: new Map([[runId, run]]) }, clock));
  }

  function remove(runId: string): void {
    const model = models.get(runId);
    models.delete(runId);
    if (model !== undefined) outages.get(model)?.runs.delete(runId);
  }

  return {
    add({ runId, sessionId, outage, until }) {
      if (until === undefined) return;
      const { model = "", error } = outage ?? {};
      addRun({ runId, sessionId, model, until, retryAfterMs: error?.retryAfterMs });
    },
    has: (runId) => models.has(runId),
    remove,
    wakeDueRuns,
    report(model, isUp) {
      const outage = outages.get(model);
      if (!outage || outage.isOver === isUp) return;
      outage.isOver = isUp;
      outage.probeMs = minProbeMs;
      outage.probeAt = clock.monotonic() + minProbeMs;
      schedule(isUp ? 0 : minProbeMs);
    },
    close() {
      isClosed = true;
      timer?.cancel();
    },
  };
}

function createOutage(now: number): Outage {
  return { runs: new Map(), isOver: false, probeAt: now + minProbeMs, probeMs: minProbeMs };
}

/** Returns the runs to wake now: all due runs, up to a limit, or one run that probes the provider. */
function selectRuns(outage: Outage, clock: Clock): readonly SuspendedRun[] {
  const runs = [...outage.runs.values()];
  const due = outage.isOver ? runs : runs.filter(({ until }) => until <= clock.now());
  const isProbe = !outage.isOver && runs.length > 0 && clock.monotonic() >= outage.probeAt;
  if (isProbe) {
    outage.probeMs = Math.min(outage.probeMs * 2, maxProbeMs);
    outage.probeAt = clock.monotonic() + outage.probeMs;
  }
  return isProbe && due.length === 0 ? runs.slice(0, 1) : due.slice(0, maxWakeups);
}

/** Returns the time until the next of the runs continues. */
function computeDelayMs({ runs, isOver, probeAt }: Outage, clock: Clock): number {
  if (isOver) return wakeupMs;
  let until = Number.POSITIVE_INFINITY;
  for (const run of runs.values()) until = Math.min(until, run.until);
  return Math.max(wakeupMs, Math.min(until - clock.now(), probeAt - clock.monotonic()));
}
