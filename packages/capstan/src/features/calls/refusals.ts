import type { ErrorCode } from "../../base/errors.ts";
import { computeToolCallBudget, findSpentBudget } from "../../kernel/budget.ts";
import type { FactBody } from "../../kernel/event.ts";
import { buildRefusal, type Refusal } from "../../kernel/refusal.ts";
import { decideFacts, type Rule } from "../../kernel/rule.ts";
import type { Call, RunState } from "../../kernel/state.ts";

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
