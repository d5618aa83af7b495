import type { FactBody } from "../event.ts";
import type { RunState } from "../state.ts";
import { refusal } from "./refusals.ts";
import { done, note, type Rule } from "./rule.ts";

const cutShort = {
  status: "interrupted",
  code: "tool_interrupted",
  message: "The run ended while it was on; this call may or may not have taken effect.",
} as const;
const notBegun = {
  status: "skipped",
  code: "tool_skipped",
  message: "The run ended before this call began.",
} as const;

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

/** The end of an unfinished turn: every call that is left behind still gets its one result. */
export function interruptedCalls(run: RunState): FactBody[] {
  const facts: FactBody[] = [];
  for (const call of run.round?.calls.values() ?? []) {
    if (call.result) continue;
    facts.push(refusal(call.part, call.attempt > 0 ? cutShort : notBegun));
  }
  if (run.round && !run.round.ended) facts.push({ type: "turn_end", turn: run.turn, usage: run.round.usage });
  return facts;
}
