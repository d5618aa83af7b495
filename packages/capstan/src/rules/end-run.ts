import { toErrorData } from "../errors.ts";
import type { FactBody } from "../event.ts";
import type { RunState } from "../state/state.ts";
import { compactHistory, hasCompacted } from "./compaction.ts";
import { listToolsTried } from "./limit-answers.ts";
import { findSpentBudget } from "./limits.ts";
import { settleOpenCalls } from "./refusals.ts";
import { buildDone, decideFacts, type Rule } from "./rule.ts";
import { buildModelEffect } from "./turns.ts";

/** After `done` nothing happens any more. */
export const stopWhenEnded: Rule = ({ run }) => (run.done ? { type: "stop", reason: "done" } : undefined);

/** A cancelled run ends at once. */
export const stopWhenCancelled: Rule = ({ run }) => {
  if (run.cancelReason === undefined) return undefined;
  return decideFacts("cancel", ...buildCancellation(run, run.cancelReason));
};

/** The end of a run that is cancelled. */
export function buildCancellation(run: RunState, reason: string): readonly FactBody[] {
  const text = run.lastText || "The run was stopped before it had an answer.";
  const error = { code: "cancelled", message: reason };
  return [...settleOpenCalls(run), buildDone(run, { status: "cancelled", text, error })];
}

const maxRecoveries = 5;

/** A run that ends its process each time it is taken up again is left alone: it would take the others with it. */
export const stopWhenQuarantined: Rule = ({ run }) => {
  if (run.recoveries <= maxRecoveries) return undefined;
  const message = `The process was gone ${run.recoveries} times while it worked on turn ${run.turn}. The run is not taken up again.`;
  const error = { code: "quarantined", message, retryable: false };
  const facts: FactBody[] = settleOpenCalls(run);
  return decideFacts(
    "quarantine",
    ...facts,
    { type: "error", ...error },
    buildDone(run, { status: "failed", text: message, error }),
  );
};

/**
 * A turn without its message: ask the next model of the chain, or the same one again after a crash or after room was
 * made for it, or fail.
 */
export const handleModelFailure: Rule = (view) => {
  const { agent, run } = view;
  const { currentTurn } = run;
  if (!currentTurn || currentTurn.message || run.limit) return undefined;
  const { turn, tools, chain, notes, usage } = currentTurn;
  const spent = currentTurn.failure && findSpentBudget(run);
  if (spent)
    return decideFacts(
      "limit",
      { type: "turn_end", turn, usage },
      { type: "limit_reached", ...spent, turns: turn },
    );
  const { failure } = currentTurn;
  const isTooLong = failure?.error.code === "context_overflow" && currentTurn.overflows === 1;
  const room = isTooLong ? compactHistory(view, "overflow") : undefined;
  if (room) return room;
  const isCompacted = isTooLong && hasCompacted(view);
  // A call that did not fit in the answer may fit in a longer one.
  const needsMoreRoom = failure?.error.code === "output_truncated" && !failure.hadMoreRoom;
  const hasMoreRoom = needsMoreRoom || (isCompacted && failure.hadMoreRoom);
  const candidate = failure ? failure.candidate + (needsMoreRoom || isCompacted ? 0 : 1) : 0;
  if (candidate < agent.models[chain].length) {
    return {
      type: "effects",
      effects: [buildModelEffect(view, { turn, tools, chain, notes, candidate, hasMoreRoom, isCompacted })],
    };
  }
  if (failure?.retryAt !== undefined) return { type: "stop", reason: "waiting", until: failure.retryAt };
  const error = currentTurn.failure?.error ?? toErrorData("model_failed", "The model gave no answer.");
  const text = [`The model could not answer: ${error.message}`, ...listToolsTried(run)].join("\n\n");
  return decideFacts(
    "failure",
    { type: "turn_end", turn, usage },
    { type: "error", ...error },
    buildDone(run, { status: "failed", text, error }),
  );
};
