import { type ErrorCode, errorData } from "../errors.ts";
import type { FactBody } from "../event.ts";
import type { CallPart, ResultStatus } from "../history.ts";
import type { Call, RunState } from "../state/state.ts";
import { spentBudget, toolCallBudget } from "./limits.ts";
import { note, type Rule } from "./rule.ts";

const mostCallsPerTurn = 64;

/** Calls that must not run get their result at once, so that each has exactly one. */
export const refusals: Rule = ({ run }) => {
  const { round } = run;
  if (!round || round.unsettled === 0) return undefined;
  const reasonFor = refuser(run);
  const facts: FactBody[] = [];
  let index = 0;
  for (const call of round.calls.values()) {
    if (!call.result && call.attempt === 0 && call.handedTo === undefined) {
      const fact = reasonFor(call, index);
      if (fact) facts.push(fact);
    }
    index += 1;
  }
  return facts.length > 0 ? note(`refusals.${run.turn}`, ...facts) : undefined;
};

function refuser(run: RunState): (call: Call, index: number) => FactBody | undefined {
  const skipped = (code: ErrorCode, message: string): Refusal => ({ status: "skipped", code, message });
  const forAll = reasonForAll(run);
  const { limit: allowed, left: before } = toolCallBudget(run);
  let left = before;
  return (call, index) => {
    if (forAll) return refusal(call.part, skipped(forAll.code, forAll.message));
    if (index >= mostCallsPerTurn) {
      const message = `Only ${mostCallsPerTurn} calls are made per turn. Make this one in the next turn.`;
      return refusal(call.part, { status: "error", code: "too_many_calls", message });
    }
    if (isDenied(call, run))
      return refusal(call.part, { status: "denied", code: "tool_denied", message: denialOf(call) });
    left -= 1;
    if (left >= 0) return undefined;
    return refusal(
      call.part,
      skipped("budget_tool_calls", `The budget of ${allowed} tool calls is used up. The call was not made.`),
    );
  };
}

/** Why none of the calls that are left may run. */
function reasonForAll(run: RunState): { code: ErrorCode; message: string } | undefined {
  const { policy, round } = run;
  if (round?.tools === "withdrawn" || round?.tools === "unavailable") {
    return {
      code: "tool_skipped",
      message: "There are no tools in this turn: the call was not made. Answer in words.",
    };
  }
  const spent = spentBudget(run);
  if (spent) return { code: spent.code, message: `${spent.message} The call was not made.` };
  const failed =
    policy.onToolError === "stop" &&
    [...(round?.calls.values() ?? [])].some((call) => call.attempt > 0 && call.result?.status === "error");
  return failed
    ? { code: "tool_skipped", message: "Another call of this turn failed, so this one was not made." }
    : undefined;
}

function denialOf({ approval }: Call): string {
  const reason =
    approval?.reason ??
    (approval ? "a person declined." : "this run does not allow calls that need approval.");
  return `The call was denied: ${reason}`;
}

function isDenied(call: Call, run: RunState): boolean {
  if (!call.check?.approval) return false;
  return call.approval ? !call.approval.approved : run.policy.approvals === "deny";
}

/** The result of a call that was not performed, or whose end nobody saw. */
export function refusal(
  { id, name }: Pick<CallPart, "id" | "name">,
  { status, code, message }: Refusal,
): FactBody {
  const error = errorData(code, message);
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

/** A crash cut the call off, and it may not be made again. */
export const unfinished: Refusal = {
  status: "interrupted",
  code: "tool_interrupted",
  message:
    "The process ended while this call ran: it may or may not have taken effect. Check before you repeat it.",
};

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
