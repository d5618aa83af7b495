import { toErrorData } from "../../base/errors.ts";
import { findSpentBudget } from "../../kernel/budget.ts";
import type { FactBody } from "../../kernel/event.ts";
import { getText } from "../../kernel/history.ts";
import { settleOpenCalls } from "../../kernel/refusal.ts";
import { buildDone, decideFacts, type Rule } from "../../kernel/rule.ts";
import type { RunState } from "../../kernel/state.ts";
import { compactHistory, hasCompacted } from "../compaction/rules.ts";
import { listToolsTried } from "../limits/limit-answers.ts";
import { buildModelEffect } from "../turns/rules.ts";

/** Stops after `done`. */
export const stopWhenEnded: Rule = ({ run }) => (run.done ? { type: "stop", reason: "done" } : undefined);

/** Ends a cancelled run immediately. */
export const stopWhenCancelled: Rule = ({ run }) => {
  if (run.cancelReason === undefined) return undefined;
  return decideFacts("cancel", ...buildCancellation(run, run.cancelReason));
};

/** Builds the facts that end a cancelled run. */
export function buildCancellation(run: RunState, reason: string): readonly FactBody[] {
  const text = run.lastText || "The run was stopped before it had an answer.";
  const error = { code: "cancelled", message: reason };
  return [...settleOpenCalls(run), buildDone(run, { status: "cancelled", text, error })];
}

/**
 * Handles a turn without a message: calls the next model of the chain, or the same one again after a crash or a
 * compaction or to continue its message, or fails the run.
 */
export const handleModelFailure: Rule = (context) => {
  const { agent, run } = context;
  const { currentTurn } = run;
  if (!currentTurn || currentTurn.message || run.limit) return undefined;
  const { turn, tools, chain, notes, usage, partial } = currentTurn;
  const spent = findSpentBudget(run);
  if (spent)
    return decideFacts(
      "limit",
      { type: "turn_end", turn, usage },
      { type: "limit_reached", ...spent, turns: turn },
    );
  const { failure } = currentTurn;
  const isTooLong = failure?.error.code === "context_overflow" && currentTurn.overflows === 1;
  const compaction = isTooLong ? compactHistory(context, "overflow") : undefined;
  if (compaction) return compaction;
  const isCompacted = isTooLong && hasCompacted(context);
  // A tool call that was truncated may fit with a higher output limit.
  const needsMoreRoom = failure?.error.code === "output_truncated" && !failure.hadMoreRoom;
  const hasMoreRoom = needsMoreRoom || (isCompacted && failure.hadMoreRoom);
  const candidate = failure
    ? failure.candidate + (needsMoreRoom || isCompacted ? 0 : 1)
    : (partial?.candidate ?? 0);
  if (candidate < agent.models[chain].length) {
    return {
      type: "effects",
      effects: [
        buildModelEffect(context, { turn, tools, chain, notes, candidate, hasMoreRoom, isCompacted }),
      ],
    };
  }
  if (failure?.retryAt !== undefined) return { type: "stop", reason: "waiting", until: failure.retryAt };
  const error = currentTurn.failure?.error ?? toErrorData("model_failed", "The model returned no answer.");
  const apology = [`The model could not answer: ${error.message}`, ...listToolsTried(run)].join("\n\n");
  const unfinishedText = (partial ? getText(partial.entry) : "") + (failure?.text ?? "");
  const text = unfinishedText.trim() || apology;
  return decideFacts(
    "failure",
    { type: "turn_end", turn, usage },
    { type: "error", ...error },
    buildDone(run, { status: "failed", text, error, canRetry: true }),
  );
};

const maxSoloCrashes = 3;
/** Limits the wait before a suspect is resumed to this many times its first wait. */
const maxBackoff = 256;

/**
 * Fails a run whose process crashed repeatedly while it executed no other run. Crashes while other runs executed do not
 * count, because any of them may be the cause.
 */
export const stopWhenQuarantined: Rule = ({ run }) => {
  if (run.soloCrashes < maxSoloCrashes) return undefined;
  const message = `The run was stopped because its process crashed ${run.soloCrashes} times while it executed only this run (${describeWork(run)}). Retry the run to release it.`;
  const error = { code: "quarantined", message, retryable: false };
  return decideFacts(
    "quarantine",
    ...settleOpenCalls(run),
    { type: "error", ...error },
    buildDone(run, { status: "failed", text: message, error, canRetry: true }),
  );
};

function describeWork({ turn, currentTurn }: RunState): string {
  const calls = [...(currentTurn?.calls.values() ?? [])].filter((call) => call.attempt > 0 && !call.result);
  const names = [...new Set(calls.map(({ part }) => `"${part.name}"`))];
  return names.length > 0 ? `last call: ${names.join(", ")}` : `in turn ${turn}`;
}

/**
 * Decides how a run resumes after its process crashed. Undefined: immediately, together with other runs. A run that makes
 * no progress between two crashes is a suspect: it resumes alone, after a wait that grows with each further crash.
 */
export function planSoloRetry(run: RunState): { readonly backoff: number } | undefined {
  const crashes = run.soloCrashes + (run.isAlone ? 1 : 0);
  if (run.recoveries === 0 || crashes >= maxSoloCrashes) return undefined;
  return { backoff: Math.min(maxBackoff, 2 ** (run.recoveries - 1)) };
}
