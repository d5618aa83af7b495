import { endHandoffs } from "../features/handoffs/fold.ts";
import type { Fact } from "./event.ts";
import { getText } from "./history.ts";
import { findModelProvenance } from "./provenance.ts";
import type { RunState, State } from "./state.ts";

type DoneFact = Extract<Fact, { type: "done" }>;

export function endRun(state: State, run: RunState, fact: DoneFact): void {
  const { status, text, grounded, output, error, canRetry } = fact;
  run.done = {
    status,
    text,
    grounded,
    ...(output !== undefined && { output }),
    ...(error && { error }),
    ...(canRetry && { canRetry }),
  };
  // The next run needs the answer as context.
  if (isMissingInHistory(run, fact)) {
    const provenance = findModelProvenance(state.labels);
    state.history.push({
      ...{ type: "assistant", parts: [{ type: "text", text }] },
      ...(provenance && { provenance }),
    });
  }
  if (run.handoffs.length > 0) endHandoffs(state, run);
  addSteering(state, run);
}

/** Whether the runtime wrote the answer, or the run was cancelled before the model continued its message. */
function isMissingInHistory(run: RunState, { status, text }: DoneFact): boolean {
  const { lastText, currentTurn } = run;
  // The report about a compaction is for the user only.
  if (run.isCompaction && run.turn === 0) return false;
  if (status === "limit" || status === "done") return text !== lastText;
  const { partial } = currentTurn ?? {};
  return status === "cancelled" && partial !== undefined && getText(partial.entry).trim() === text;
}

export function addSteering(state: State, run: RunState): void {
  state.history.push(...run.steering);
  run.steering = [];
}
