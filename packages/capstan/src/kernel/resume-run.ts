import { restoreHandoffs } from "../features/handoffs/fold.ts";
import type { Fact } from "./event.ts";
import { clearCrashes, type RunState, type State } from "./state.ts";

/** Suspends the run, with `until` for an outage of its model. */
export function suspendRun(_: State, run: RunState, { until }: Extract<Fact, { type: "waiting" }>): void {
  run.waiting = true;
  run.isAlone = false;
  run.waits += 1;
  run.wakeAt = until;
  if (run.currentTurn && until !== undefined) run.currentTurn.suspensions += 1;
}

/** Wakes the run and its nested runs: they suspended together. */
export function wakeRun(_: State, run: RunState): void {
  run.wakeAt = undefined;
  if (run.currentTurn) run.currentTurn.failure = undefined;
  for (const child of run.nested.values()) {
    if (child.run?.wakeAt === undefined) continue;
    child.run.waiting = false;
    wakeRun(child, child.run);
  }
}

/** Continues a failed run: its model is called again, and agents that waited for it wait again. */
export function reopenRun(state: State, run: RunState): void {
  run.done = undefined;
  clearCrashes(run);
  run.retries += 1;
  const { currentTurn } = run;
  if (currentTurn && !currentTurn.message) {
    currentTurn.failure = undefined;
    currentTurn.failingSince = undefined;
    currentTurn.suspensions = 0;
    currentTurn.ended = false;
  }
  restoreHandoffs(state, run);
}
