import type { FactRow, FactRows } from "./fact-row.ts";
import { endRun, suspendRun, wakeRun } from "./fold-run.ts";
import { identifyBySuffix, identifyByType } from "./ids.ts";
import { addEntryLabels } from "./provenance.ts";

/** The first fact of a run creates the state that the others change. */
export const runStart: Pick<FactRow<"run_start">, "id"> = { id: identifyByType };

/** Waits, messages and the end of a run. */
export const kernelFacts: FactRows<
  "waiting" | "woken" | "steered" | "cancel_requested" | "warning" | "error" | "done"
> = {
  waiting: { id: identifyBySuffix, fold: suspendRun },
  woken: { id: identifyBySuffix, fold: wakeRun },
  steered: {
    id: identifyBySuffix,
    fold(state, run, { entry }) {
      run.steering.push(entry);
      addEntryLabels(state.labels, entry);
    },
  },
  cancel_requested: {
    id: ({ type, callId }, { prefix }) => `${prefix}/${type}${callId === undefined ? "" : `/${callId}`}`,
    fold(_, run, { reason, callId }) {
      const cancelled = callId === undefined ? run : run.nested.get(callId)?.run;
      if (cancelled) cancelled.cancelReason ??= reason;
    },
  },
  warning: {
    id: identifyBySuffix,
    fold(_, run, { code }) {
      run.warned.add(code);
    },
  },
  error: {
    id: identifyByType,
    fold() {
      // The `done` fact carries the error too.
    },
  },
  done: { id: identifyByType, fold: endRun },
};
