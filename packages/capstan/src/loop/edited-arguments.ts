import { AgentError } from "../errors.ts";
import type { FactBody } from "../event.ts";
import type { CallPart } from "../history.ts";
import { isRecord, type Json } from "../json.ts";
import { computeDigest } from "../perform/digest.ts";
import { findCalledTool, type RunWithAgents } from "../rules/pending-calls.ts";
import type { Validation } from "../schema/schema.ts";
import { findRunByCall } from "../state/nested-state.ts";

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
      ? await tool.schema.validate(structuredClone(input))
      : { valid: false, issues: ["must be an object"] };
  if (validation.valid) return;
  const issues = validation.issues.slice(0, 10).join("; ");
  const problem = `The changed arguments of call "${callId}" are not valid for "${name}": ${issues}. The call still waits. Correct them, or approve it unchanged.`;
  throw new AgentError("invalid_input", problem);
}

/** Binds a changed call to the tool's definition of this moment, as the check of the model's call did. */
export async function addEditDigest(fact: FactBody, { agents, run }: RunWithAgents): Promise<FactBody> {
  if (fact.type !== "approval_resolved" || fact.input === undefined) return fact;
  const { callId, input } = fact;
  const callRun = findRunByCall(run, callId);
  const call = callRun?.currentTurn?.calls.get(callId);
  const tool = call && findCalledTool({ agents, run }, callId, call.part.name);
  if (!callRun || !tool) return fact;
  const digest = await computeDigest(callRun.id, tool, { id: callId, input: input as CallPart["input"] });
  return { ...fact, digest };
}
