import { systemClock } from "../base/clock.ts";
import { planSoloRetry } from "../features/recovery/rules.ts";
import type { RunState, State } from "../kernel/state.ts";
import type { Log } from "./log.ts";
import type { OpenRunOptions, SharedStoreOptions } from "./open-run.ts";
import type { Lease } from "./store.ts";

type EnterContext = {
  readonly state: State;
  readonly log: Log;
  readonly lease: Pick<Lease, "wasHeld">;
  readonly signal: AbortSignal;
};

export type ProcessEntry = {
  /** Records that a run that stops without a crash is no longer alone. Needs the lease. */
  stop(): Promise<void>;
  /** Admits other runs. Must follow the release of the lease: until then, a crash would count against this run. */
  leave(): void;
};

/**
 * Waits until the run may execute in this process, and records that another process takes over, or that the wait of a
 * run is over.
 */
export async function enterProcess(
  { shared, clock = systemClock }: OpenRunOptions,
  context: EnterContext,
): Promise<ProcessEntry> {
  const { state, log, lease } = context;
  const { run } = state;
  const isLost = shared?.isTakeover === true && lease.wasHeld === true;
  const isCrash = isLost && run !== undefined && !run.done && !run.waiting;
  const { isAlone, leave } = shared && run ? await passGate(shared, run, { ...context, isCrash }) : outside;
  let isRecordedAlone = false;
  const stop = async () => {
    // The process shuts down, or the store has failed.
    if (isRecordedAlone && run?.isAlone && !run.done) await endSolo(context).catch(() => undefined);
  };
  try {
    // Stored before the first effect, so that a crash finds it.
    if (shared && isCrash && !isStopping(shared, context)) {
      const alone = isAlone ? { alone: isAlone } : {};
      await log.append([{ type: "recovered", owner: shared.owner, ...alone }], `${state.seq}`);
      isRecordedAlone = isAlone;
    } else if (run?.isAlone && !run.done && !isCrash) await endSolo(context);
    if (run?.wakeAt !== undefined && !run.done && (shared?.isWakeup || clock.now() >= run.wakeAt))
      await log.append([{ type: "woken" }], `${state.seq}`);
  } catch (thrown) {
    await stop();
    leave();
    throw thrown;
  }
  return { stop, leave };
}

const outside = { isAlone: false, leave: () => undefined };

const resumesAlone = {
  type: "warning",
  code: "resumes_alone",
  message:
    "The process of this run crashed repeatedly before the run made progress. The run resumes alone in a process, after a wait that doubles with each crash.",
} as const;

async function passGate(
  { gate, leaseMs, shutdownSignal }: SharedStoreOptions,
  run: RunState,
  context: EnterContext & { readonly isCrash: boolean },
): Promise<{ readonly isAlone: boolean; leave(): void }> {
  const signal = shutdownSignal ? AbortSignal.any([context.signal, shutdownSignal]) : context.signal;
  const retry = context.isCrash ? planSoloRetry(run) : undefined;
  if (!retry) return { isAlone: false, leave: await gate.enter(signal) };
  const trialMs = leaseMs * retry.backoff;
  // Once per run: the user sees why nothing happens, and a crash loop does not fill the log.
  if (!run.warned.has(resumesAlone.code) && !signal.aborted)
    await context.log.append([resumesAlone], resumesAlone.code);
  return gate.enterAlone({ runId: run.id, trialMs, signal, endSolo: () => endSolo(context) });
}

function isStopping({ shutdownSignal }: SharedStoreOptions, { signal }: EnterContext): boolean {
  return signal.aborted || shutdownSignal?.aborted === true;
}

function endSolo({ state, log }: EnterContext): Promise<void> {
  return log.append([{ type: "solo_end" }], `${state.seq}`);
}
