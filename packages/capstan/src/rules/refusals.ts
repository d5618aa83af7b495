import { type ErrorCode, toErrorData } from "../errors.ts";
import type { FactBody } from "../event.ts";
import type { CallPart, ResultStatus } from "../history.ts";
import type { Call, RunState } from "../state/state.ts";
import { computeToolCallBudget, findSpentBudget } from "./limits.ts";
import { decideFacts, type Rule } from "./rule.ts";

const maxCallsPerTurn = 64;

/** Settles calls that must not run, so that every call has exactly one result. */
export const refuseCalls: Rule = ({ run }) => {
  const { currentTurn } = run;
  if (!currentTurn || currentTurn.unsettled === 0) return undefined;
  const reasonFor = createRefuser(run);
  const facts: FactBody[] = [];
  let index = 0;
  for (const call of currentTurn.calls.values()) {
    if (!call.result && call.attempt === 0 && call.handedTo === undefined) {
      const fact = reasonFor(call, index);
      if (fact) facts.push(fact);
    }
    index += 1;
  }
  return facts.length > 0 ? decideFacts(`refusals.${run.turn}`, ...facts) : undefined;
};

function createRefuser(run: RunState): (call: Call, index: number) => FactBody | undefined {
  const skip = (code: ErrorCode, message: string): Refusal => ({ status: "skipped", code, message });
  const commonReason = findCommonReason(run);
  const budget = computeToolCallBudget(run);
  let { left } = budget;
  return (call, index) => {
    if (commonReason) return buildRefusal(call.part, skip(commonReason.code, commonReason.message));
    if (index >= maxCallsPerTurn) {
      const message = `Only ${maxCallsPerTurn} calls are made per turn. Make this one in the next turn.`;
      return buildRefusal(call.part, { status: "error", code: "too_many_calls", message });
    }
    if (isDenied(call, run))
      return buildRefusal(call.part, { status: "denied", code: "tool_denied", message: formatDenial(call) });
    left -= 1;
    if (left >= 0) return undefined;
    return buildRefusal(
      call.part,
      skip(
        "budget_tool_calls",
        `The budget of ${budget.limit} tool calls is used up. The call was not made.`,
      ),
    );
  };
}

/** Returns why none of the remaining calls may run, or undefined. */
function findCommonReason(run: RunState): { code: ErrorCode; message: string } | undefined {
  const { policy, currentTurn } = run;
  if (currentTurn?.tools === "withdrawn" || currentTurn?.tools === "unavailable") {
    return {
      code: "tool_skipped",
      message: "No tools are available in this turn, so the call was not made. Answer with text.",
    };
  }
  const spent = findSpentBudget(run);
  if (spent) return { code: spent.code, message: `${spent.message} The call was not made.` };
  const failed =
    policy.onToolError === "stop" &&
    [...(currentTurn?.calls.values() ?? [])].some(
      (call) => call.attempt > 0 && call.result?.status === "error",
    );
  return failed
    ? { code: "tool_skipped", message: "Another call of this turn failed, so this one was not made." }
    : undefined;
}

function formatDenial({ approval }: Call): string {
  const reason =
    approval?.reason ??
    (approval ? "the user declined." : "this run does not allow calls that need approval.");
  return `The call was denied: ${reason}`;
}

function isDenied(call: Call, run: RunState): boolean {
  if (!call.check?.approval) return false;
  return call.approval ? !call.approval.approved : run.policy.approvals === "deny";
}

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

type Refusal = {
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
