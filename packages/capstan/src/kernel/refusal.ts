import { type ErrorCode, toErrorData } from "../base/errors.ts";
import type { FactBody } from "./event.ts";
import type { CallPart, ResultStatus } from "./history.ts";
import type { RunState } from "./state.ts";

/** Builds the result of a call that was not performed or was interrupted. */
export function buildRefusal(
  { id, name }: Pick<CallPart, "id" | "name">,
  { status, code, message }: Refusal,
): FactBody {
  const error = toErrorData(code, message);
  return {
    type: "tool_call_result",
    id,
    name,
    result: message,
    is_error: true,
    status,
    attempts: 0,
    ms: 0,
    error,
  };
}

export type Refusal = {
  readonly status: Exclude<ResultStatus, "ok">;
  readonly code: ErrorCode;
  readonly message: string;
};

/** A crash interrupted the call, and it is not safe to repeat. */
export const interruptedByCrash: Refusal = {
  status: "interrupted",
  code: "tool_interrupted",
  message:
    "The process ended while this call ran: it may or may not have taken effect. Check before you repeat it.",
};

const interruptedByEnd = {
  status: "interrupted",
  code: "tool_interrupted",
  message: "The run ended while this call was running; it may or may not have taken effect.",
} as const;

const skippedByEnd = {
  status: "skipped",
  code: "tool_skipped",
  message: "The run ended before this call started.",
} as const;

/** Ends an unfinished turn: every open call gets its one result. */
export function settleOpenCalls(run: RunState): FactBody[] {
  const facts: FactBody[] = [];
  for (const call of run.currentTurn?.calls.values() ?? []) {
    if (call.result) continue;
    facts.push(buildRefusal(call.part, call.attempt > 0 ? interruptedByEnd : skippedByEnd));
  }
  if (run.currentTurn && !run.currentTurn.ended)
    facts.push({ type: "turn_end", turn: run.turn, usage: run.currentTurn.usage });
  return facts;
}
