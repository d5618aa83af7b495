import { rejectOnAbort } from "../../base/clock.ts";
import { AgentError } from "../../base/errors.ts";
import type { State } from "../../kernel/state.ts";
import { createChangeNotice } from "./change-notice.ts";
import { canProceed, listBackground } from "./progress.ts";

/** The background runs of one run, while a process executes it. */
export interface BackgroundRuns {
  /** Continues runs with work to do, and stops cancelled ones. */
  update(): void;
  /** Resolves when one of them ends or suspends; undefined if none executes. Rejects if one cannot be executed. */
  whenChanged(): Promise<void> | undefined;
  /** Resolves when the runs of these calls have ended or wait, or when `interruption` resolves. */
  wait(callIds: readonly string[], signal: AbortSignal, interruption: Promise<void>): Promise<void>;
  /** Ends all of them. */
  end(): Promise<void>;
  /** Stops them after their current steps, so that the next segment continues them. */
  release(): Promise<void>;
}

type Execution = { readonly controller: AbortController; readonly finished: Promise<void> };

export type BackgroundOptions = {
  readonly state: State;
  /** Aborted when the run is cancelled, or loses its lease or its store. */
  readonly signal: AbortSignal;
  /** Continues the run of a call until it ends or waits. `released` is aborted when it is to stop after its current step. */
  execute(
    callId: string,
    signals: { readonly signal: AbortSignal; readonly released: AbortSignal },
  ): Promise<void>;
  /** Ends the run of a call that is not executed. */
  endRun(callId: string): Promise<void>;
};

export function createBackgroundRuns({ state, signal, execute, endRun }: BackgroundOptions): BackgroundRuns {
  const executions = new Map<string, Execution>();
  // Created with the first execution, because few runs have any.
  let released: AbortController | undefined;
  let isReleased = false;
  const change = createChangeNotice();
  let failure: { readonly error: unknown } | undefined;
  let isEnding = false;

  function start(callId: string): void {
    const controller = new AbortController();
    released ??= new AbortController();
    const signals = { signal: AbortSignal.any([signal, controller.signal]), released: released.signal };
    const finished = execute(callId, signals)
      .catch((error) => {
        failure ??= { error };
      })
      .then(() => {
        executions.delete(callId);
        update();
        change.notify();
      });
    executions.set(callId, { controller, finished });
  }

  function update(): void {
    if (!state.run || failure || isEnding || isReleased) return;
    const { maxConcurrency } = state.run.policy;
    for (const work of listBackground(state.run)) {
      const { cancelReason } = work.run;
      const execution = executions.get(work.callId);
      if (execution && cancelReason !== undefined) abortExecution(execution, cancelReason);
      else if (!execution && canProceed(work) && executions.size < maxConcurrency) start(work.callId);
    }
  }

  async function settle(): Promise<void> {
    while (executions.size > 0) await Promise.all([...executions.values()].map(({ finished }) => finished));
  }

  return {
    update,
    whenChanged() {
      update();
      if (failure) return Promise.reject(failure.error);
      return executions.size > 0 ? change.wait().then(throwFailure) : undefined;
    },
    async wait(callIds, waitSignal, interruption) {
      let isInterrupted = false;
      const message = interruption.then(() => {
        isInterrupted = true;
      });
      const isWorking = () => {
        const works = state.run ? listBackground(state.run) : [];
        return works.some((work) => callIds.includes(work.callId) && canProceed(work));
      };
      while (isWorking() && !isInterrupted && !failure && !waitSignal.aborted) {
        const either = Promise.race([change.wait(), message]);
        await rejectOnAbort(either, waitSignal).catch(() => undefined);
      }
    },
    async end() {
      isEnding = true; // no further ones start
      const reason = state.run?.cancelReason ?? "The run that started this work has ended.";
      for (const execution of executions.values()) abortExecution(execution, reason);
      await settle();
      for (const { callId } of state.run ? listBackground(state.run) : []) await endRun(callId);
      isEnding = false;
    },
    async release() {
      isReleased = true;
      released?.abort();
      await settle();
    },
  };

  function throwFailure(): void {
    if (failure) throw failure.error;
  }
}

function abortExecution({ controller }: Execution, reason: string): void {
  if (!controller.signal.aborted) controller.abort(new AgentError("cancelled", reason));
}
