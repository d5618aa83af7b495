import type { FactBody } from "../event.ts";
import type { Call, RunState } from "../state.ts";
import { shownInput } from "../visible.ts";
import { note, type Rule } from "./rule.ts";

/** Asks for every approval of a turn at once, so that a person can decide on them together. */
export const approvals: Rule = ({ run }) => {
  const facts: FactBody[] = [];
  for (const call of run.round?.calls.values() ?? []) {
    if (!awaitsApproval(call, run) || call.asked || !call.check?.approval) continue;
    const { id, name, input } = call.part;
    const shown = shownInput(input);
    facts.push({ type: "approval_required", callId: id, name, input, shown, ...call.check.approval });
  }
  return facts.length > 0 ? note(`approvals.${run.turn}`, ...facts) : undefined;
};

export function awaitsApproval(call: Call, run: RunState): boolean {
  const { approval: asked } = call.check ?? {};
  if (call.result || !asked || call.approval) return false;
  // To allow what tools ask for is not to allow what the gate asks for: that is switched off by its own name.
  return run.policy.approvals === "ask" || (asked.because !== undefined && run.policy.approvals === "allow");
}
