import { AgentError } from "../base/errors.ts";
import { cloneJson, isRecord, type Json } from "../base/json.ts";
import { computeDigest } from "../features/approvals/digest.ts";
import { findTool } from "../features/calls/find-tool.ts";
import { findAgentByCall, findCalledTool, type RunWithAgents } from "../features/calls/pending-calls.ts";
import { findRunByCall, findRunState } from "../features/nested/nested-state.ts";
import type { CallCheck } from "../kernel/call-check.ts";
import type { FactBody } from "../kernel/event.ts";
import type { CallPart } from "../kernel/history.ts";
import type { Tool } from "../kernel/tool.ts";
import type { Validation } from "../schema/schema.ts";
import { type CheckContext, checkEditedCall } from "./check-calls.ts";

/** The model's own arguments were validated when it made the call; the user's must be valid too. */
export async function validateEdit(
  input: Json,
  { callId, name }: { readonly callId: string; readonly name: string },
  context: RunWithAgents,
): Promise<void> {
  const tool = findCalledTool(context, callId, name);
  const validation: Validation = !tool
    ? { valid: false, issues: ["the tool no longer exists"] }
    : isRecord(input)
      ? await tool.schema.validate(cloneJson(input))
      : { valid: false, issues: ["must be an object"] };
  if (validation.valid) return;
  const issues = validation.issues.slice(0, 10).join("; ");
  const problem = `The changed arguments of call "${callId}" are not valid for "${name}": ${issues}. The call still waits. Correct them, or approve it unchanged.`;
  throw new AgentError("invalid_input", problem);
}

/** A run, the agents that it can be continued with, and what their tools need to check a call. */
export type EditContext = Omit<CheckContext, "findApprovalRule">;

type EditedCall = { readonly tool: Tool; readonly runId: string; readonly check: CallCheck };

/** Checks a pending call with the user's arguments. Returns undefined if the call or its tool no longer exists. */
export async function checkEdit(
  { callId, input }: { readonly callId: string; readonly input: Json },
  { agents, state, clock, context }: EditContext,
): Promise<EditedCall | undefined> {
  const { run } = state;
  const callRun = run && findRunByCall(run, callId);
  const callState = callRun && findRunState(state, callRun.id);
  const part = callRun?.currentTurn?.calls.get(callId)?.part;
  const agent = run && findAgentByCall(agents, run, callId);
  const tool = agent && part && findTool(agent, part.name);
  if (!callState || !tool) return undefined;
  const { raw: _, ...call } = part;
  const check = await checkEditedCall({ ...call, input: input as CallPart["input"] }, tool, {
    ...{ agents: new Map([[callRun.agent, agent]]), state: callState, clock, context },
  });
  return { tool, runId: callRun.id, check };
}

/**
 * Binds a changed call to the tool's definition of this moment, as the check of the model's call did. Arguments that the
 * tool would have refused from the model are denied: only the user's approval counts more, not the user's arguments.
 */
export async function completeEdit(fact: FactBody, context: EditContext): Promise<FactBody> {
  if (fact.type !== "approval_resolved" || fact.input === undefined) return fact;
  const { callId, input } = fact;
  const edited = await checkEdit({ callId, input }, context);
  if (!edited) return fact;
  const { error } = edited.check;
  if (error) {
    const reason = `the changed arguments were refused: ${error.message}`;
    return { type: "approval_resolved", callId, approved: false, reason };
  }
  const call = { id: callId, input: input as CallPart["input"] };
  return { ...fact, digest: await computeDigest(edited.runId, edited.tool, call) };
}
