import { AgentError } from "../errors.ts";
import type { Fact } from "../event.ts";
import { type Json, toCanonicalJson } from "../json.ts";
import type { RunMessage } from "../store.ts";

type MessageLog = {
  /** Messages in the store that the run has not processed yet. */
  readonly pending: readonly RunMessage[];
  /** The facts of the run and its nested runs. */
  readonly facts: readonly Fact[];
};

type CallMessage = Extract<RunMessage, { readonly callId: string }>;
type ResultFact = Extract<Fact, { readonly type: "tool_call_result" }>;
type ResolvedFact = Extract<Fact, { readonly type: "approval_resolved" }>;

/**
 * Returns whether the run received this message before: it is pending, or the log contains its effect. Throws
 * `idempotency_conflict` when its key was used for another message, and `approval_conflict` when its call was answered
 * differently.
 */
export function isRepeatedMessage(message: RunMessage, { pending, facts }: MessageLog): boolean {
  for (const earlier of pending) {
    const isSame = haveSameBody(earlier, message);
    if (earlier.key === message.key && !isSame) throw createKeyConflictError();
    if (earlier.key === message.key) return true;
    if (!("callId" in message) || !("callId" in earlier) || message.callId !== earlier.callId) continue;
    if (isSame) return true;
    throw createAnswerConflictError(message.callId);
  }
  if (message.type === "cancel") return facts.some((fact) => fact.type === "cancel_requested");
  if (message.type === "retry")
    return facts.findLast(({ type }) => type === "retried" || type === "done")?.type === "retried";
  return "callId" in message && isAnswered(message, facts);
}

/** Returns whether the log contains this answer to the call. Throws if it contains another one. */
function isAnswered(message: CallMessage, facts: readonly Fact[]): boolean {
  const { callId } = message;
  if (message.type === "result") {
    const result = facts.find((fact) => fact.type === "tool_call_result" && fact.id === callId);
    if (result?.type !== "tool_call_result") return false;
    if (differsFromResult(result, message.value)) throw createAnswerConflictError(callId);
    return true;
  }
  // If a call asked more than once, the last question counts.
  const last = facts.findLast(
    (fact) =>
      (fact.type === "approval_required" || fact.type === "approval_resolved") && fact.callId === callId,
  );
  if (last?.type !== "approval_resolved") return false;
  if (differsFromDecision(last, message)) throw createAnswerConflictError(callId);
  return true;
}

function differsFromDecision(fact: ResolvedFact, message: Exclude<CallMessage, { type: "result" }>): boolean {
  if (fact.approved !== (message.type === "approve")) return true;
  return message.type === "approve" && !isEqual(fact.value, message.value);
}

/** Compares as far as the log allows: it keeps text as content and other values as data, and truncates large results. */
function differsFromResult(fact: ResultFact, value: Json): boolean {
  if (fact.handle !== undefined) return false;
  if (typeof value === "string") return fact.result !== value.toWellFormed();
  const data: Json | undefined = Reflect.get(Object(value), "data");
  return fact.data !== undefined && !isEqual(fact.data, value) && !isEqual(fact.data, data);
}

function haveSameBody({ key: _, ...left }: RunMessage, { key: __, ...right }: RunMessage): boolean {
  return toCanonicalJson(left) === toCanonicalJson(right);
}

function isEqual(left: Json | undefined, right: Json | undefined): boolean {
  return toCanonicalJson(left ?? null) === toCanonicalJson(right ?? null);
}

function createKeyConflictError(): AgentError {
  return new AgentError("idempotency_conflict", "The key was already used for a different message.");
}

function createAnswerConflictError(callId: string): AgentError {
  return new AgentError("approval_conflict", `Call "${callId}" was already answered with a different value.`);
}
