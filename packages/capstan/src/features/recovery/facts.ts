import type { FactOf, FactRows } from "../../kernel/fact-row.ts";
import { identifyBySuffix } from "../../kernel/ids.ts";
import { discardDeltas } from "../../kernel/partial-message.ts";
import { addUsage, clearCrashes, type RunState, type State } from "../../kernel/state.ts";
import { restoreHandoffs } from "../handoffs/fold.ts";

export const recoveryFacts: FactRows<"model_failed" | "retried" | "recovered" | "solo_end"> = {
  model_failed: { id: identifyBySuffix, fold: failModel },
  retried: { id: identifyBySuffix, fold: reopenRun },
  recovered: {
    id: identifyBySuffix,
    fold(_, run, { alone = false }) {
      discardDeltas(run);
      run.recoveries += 1;
      if (run.isAlone) run.soloCrashes += 1;
      run.isAlone = alone;
    },
  },
  solo_end: {
    id: identifyBySuffix,
    fold(_, run) {
      run.isAlone = false;
    },
  },
};

function failModel(_: State, run: RunState, fact: FactOf<"model_failed">): void {
  const { model, candidate, hadMoreRoom, error } = fact;
  const { currentTurn, compactions } = run;
  run.usage = addUsage(run.usage, fact.usage);
  if (fact.compaction !== undefined) {
    if (compactions.open) compactions.open = { ...compactions.open, candidate: candidate + 1 };
  } else if (currentTurn) {
    discardDeltas(run);
    currentTurn.usage = addUsage(currentTurn.usage, fact.usage);
    // The run waits if at least one model of the chain can be retried later.
    const waitMs = fact.waitMs ?? error.retryAfterMs ?? 0;
    const retryAt = fact.isParked ? fact.at + waitMs : currentTurn.failure?.retryAt;
    if (fact.isParked) currentTurn.failingSince ??= fact.at;
    currentTurn.failure = {
      ...{ model, candidate, hadMoreRoom, error },
      ...(fact.text !== undefined && { text: fact.text }),
      ...(retryAt !== undefined && { retryAt }),
    };
    run.stopReason = fact.stopReason;
    if (error.code === "context_overflow") currentTurn.overflows += 1;
  }
}

/** Continues a failed run: its model is called again, and agents that waited for it wait again. */
function reopenRun(state: State, run: RunState): void {
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
