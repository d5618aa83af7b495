import { errorData } from "../errors.ts";
import type { FactBody } from "../event.ts";
import type { RunState } from "../state/state.ts";
import { hasMadeRoom, makeRoom } from "./compaction.ts";
import { triedSoFar } from "./limit-answers.ts";
import { spentBudget } from "./limits.ts";
import { interruptedCalls } from "./refusals.ts";
import { done, note, type Rule } from "./rule.ts";
import { modelEffect } from "./turns.ts";

/** After `done` nothing happens any more. */
export const ended: Rule = ({ run }) => (run.done ? { type: "stop", reason: "done" } : undefined);

/** A cancelled run ends at once. */
export const cancelled: Rule = ({ run }) => {
  if (run.cancelReason === undefined) return undefined;
  return note("cancel", ...cancellation(run, run.cancelReason));
};

/** The end of a run that is cancelled. */
export function cancellation(run: RunState, reason: string): readonly FactBody[] {
  const text = run.lastText || "The run was stopped before it had an answer.";
  const error = { code: "cancelled", message: reason };
  return [...interruptedCalls(run), done(run, { status: "cancelled", text, error })];
}

const mostRecoveries = 5;

/** A run that ends its process each time it is taken up again is left alone: it would take the others with it. */
export const quarantined: Rule = ({ run }) => {
  if (run.recoveries <= mostRecoveries) return undefined;
  const message = `The process was gone ${run.recoveries} times while it worked on turn ${run.turn}. The run is not taken up again.`;
  const error = { code: "quarantined", message, retryable: false };
  const facts: FactBody[] = interruptedCalls(run);
  return note(
    "quarantine",
    ...facts,
    { type: "error", ...error },
    done(run, { status: "failed", text: message, error }),
  );
};

/**
 * A turn without its message: ask the next model of the chain, or the same one again after a crash or after room was
 * made for it, or fail.
 */
export const modelFailure: Rule = (view) => {
  const { agent, run } = view;
  const { round } = run;
  if (!round || round.message || run.limit) return undefined;
  const { turn, tools, chain, notes, usage } = round;
  const spent = round.failure && spentBudget(run);
  if (spent)
    return note("limit", { type: "turn_end", turn, usage }, { type: "limit_reached", ...spent, turns: turn });
  const { failure } = round;
  const isTooLong = failure?.error.code === "context_overflow" && round.overflows === 1;
  const room = isTooLong ? makeRoom(view, "overflow") : undefined;
  if (room) return room;
  const isCompacted = isTooLong && hasMadeRoom(view);
  // A call that did not fit in the answer may fit in a longer one.
  const needsMoreRoom = failure?.error.code === "output_truncated" && !failure.hadMoreRoom;
  const hasMoreRoom = needsMoreRoom || (isCompacted && failure.hadMoreRoom);
  const candidate = failure ? failure.candidate + (needsMoreRoom || isCompacted ? 0 : 1) : 0;
  if (candidate < agent.models[chain].length) {
    return {
      type: "effects",
      effects: [modelEffect(view, { turn, tools, chain, notes, candidate, hasMoreRoom, isCompacted })],
    };
  }
  if (failure?.retryAt !== undefined) return { type: "stop", reason: "waiting", until: failure.retryAt };
  const error = round.failure?.error ?? errorData("model_failed", "The model gave no answer.");
  const text = [`The model could not answer: ${error.message}`, ...triedSoFar(run)].join("\n\n");
  return note(
    "failure",
    { type: "turn_end", turn, usage },
    { type: "error", ...error },
    done(run, { status: "failed", text, error }),
  );
};
