import type { FactBody } from "../../kernel/event.ts";
import type { FactOf, FactRows, IdContext } from "../../kernel/fact-row.ts";
import { addLabels } from "../../kernel/provenance.ts";
import type { RunState, State } from "../../kernel/state.ts";
import type { Reply } from "../../kernel/tool.ts";
import { editCall } from "./edit-call.ts";

type ApprovalType = "approval_required" | "approval_resolved";

/** The number precedes the slash, because a call id comes from the provider and may end in a number. */
function identifyByCall(
  { type, number, callId }: Extract<FactBody, { readonly type: ApprovalType }>,
  { prefix }: IdContext,
): string {
  return `${prefix}/${type}${number === undefined ? "" : `.${number}`}/${callId}`;
}

export const approvalFacts: FactRows<ApprovalType> = {
  approval_required: { id: identifyByCall, fold: recordApprovalRequest },
  approval_resolved: { id: identifyByCall, fold: resolveApproval },
};

function recordApprovalRequest(state: State, run: RunState, fact: FactOf<"approval_required">): void {
  const call = run.currentTurn?.calls.get(fact.callId);
  if (!call) return;
  const { question, reason, digest, reads, expiresAt } = fact;
  if (!question) {
    call.approvalRequest = { expiresAt };
    return;
  }
  if (reads) addLabels(state.labels, reads, { tool: fact.name, turn: run.turn, input: call.part.input });
  const { attempt } = call;
  call.questions = [...call.questions, { question, reason, digest, expiresAt, attempt, reply: undefined }];
}

function resolveApproval(_: State, run: RunState, fact: FactOf<"approval_resolved">): void {
  const { callId, approved, reason, number, value = null, input, digest } = fact;
  const call = run.currentTurn?.calls.get(callId);
  const reply: Reply = approved ? { approved, value } : { approved, ...(reason !== undefined && { reason }) };
  if (number !== undefined) {
    const askedQuestion = call?.questions[number - 1];
    if (!askedQuestion || askedQuestion.reply) return;
    askedQuestion.reply = reply;
  } else if (run.approvals.has(callId)) return;
  else if (call) {
    call.approval = { approved, ...(reason !== undefined && { reason }) };
    if (input !== undefined) editCall(call, input, digest);
  }
  run.approvals.set(callId, input === undefined ? reply : { ...reply, input });
}
