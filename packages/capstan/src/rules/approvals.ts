import type { FactBody } from "../event.ts";
import type { Asked, Call, RunState } from "../state.ts";
import { shownInput } from "../visible.ts";
import { note, type Rule } from "./rule.ts";

/** Asks for every approval of a turn at once, so that a person can decide on them together. */
export const approvals: Rule = ({ run }) => {
  const facts: FactBody[] = [];
  for (const call of run.round?.calls.values() ?? []) {
    const { id, name, input } = call.part;
    if (openQuestion(call) && run.policy.approvals === "deny")
      facts.push({ type: "approval_resolved", callId: id, number: call.questions.length, ...askedNobody });
    if (!awaitsConsent(call, run) || call.asked || !call.check?.approval) continue;
    const shown = shownInput(input);
    facts.push({ type: "approval_required", callId: id, name, input, shown, ...call.check.approval });
  }
  return facts.length > 0 ? note(`approvals.${run.turn}`, ...facts) : undefined;
};

const askedNobody = { approved: false, reason: "this run does not let tools ask." } as const;

/** The question of a tool that a person has not answered yet. */
export function openQuestion({ questions, result }: Call): Asked | undefined {
  const last = questions.at(-1);
  return result || last?.reply ? undefined : last;
}

/** Whether only a person can move the call: it may not begin without one, or its tool has asked. */
export function awaitsApproval(call: Call, run: RunState): boolean {
  return openQuestion(call) !== undefined || awaitsConsent(call, run);
}

export function awaitsConsent(call: Call, run: RunState): boolean {
  const { approval: asked } = call.check ?? {};
  if (call.result || !asked || call.approval) return false;
  // To allow what tools ask for is not to allow what the gate asks for: that is switched off by its own name.
  return run.policy.approvals === "ask" || (asked.because !== undefined && run.policy.approvals === "allow");
}
