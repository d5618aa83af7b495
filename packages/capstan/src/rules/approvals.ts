import type { FactBody } from "../event.ts";
import type { Call, RunState } from "../state.ts";
import { note, type Rule } from "./rule.ts";

/** Asks for every approval of a turn at once, so that a person can decide on them together. */
export const approvals: Rule = ({ run }) => {
  const facts: FactBody[] = [];
  for (const call of run.round?.calls.values() ?? []) {
    if (!awaitsApproval(call, run) || call.asked || !call.check?.approval) continue;
    const { id, name, input } = call.part;
    facts.push({ type: "approval_required", callId: id, name, input, ...call.check.approval });
  }
  return facts.length > 0 ? note(`approvals.${run.turn}`, ...facts) : undefined;
};

export function awaitsApproval(call: Call, run: RunState): boolean {
  return (
    !call.result && call.check?.approval !== undefined && !call.approval && run.policy.approvals === "ask"
  );
}
