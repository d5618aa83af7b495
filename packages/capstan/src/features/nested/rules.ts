import { isLastTurn } from "../../kernel/budget.ts";
import type { Rule } from "../../kernel/rule.ts";
import { findNestedWakeTime } from "./nested-state.ts";
import { listBackground } from "./progress.ts";

/**
 * Waits for background work when the model has answered and nothing else is to do. The last turn is kept until all of it
 * has ended, so that the model can use the results.
 */
export const awaitBackground: Rule = ({ run }) => {
  const { currentTurn, steering, handoffs } = run;
  if (run.nested.size === 0 || !currentTurn?.message || listBackground(run).length === 0) return undefined;
  const isRefused = currentTurn.stopReason === "content_filter" || currentTurn.stopReason === "refusal";
  const isIdle = currentTurn.calls.size === 0 && steering.length === 0 && handoffs.length === 0;
  if (isRefused || !(isIdle || isLastTurn(run, run.turn + 1))) return undefined;
  const until = findNestedWakeTime(run);
  return { type: "stop", reason: "waiting", ...(until !== undefined && { until }) };
};
