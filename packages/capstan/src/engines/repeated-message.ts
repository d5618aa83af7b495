import { AgentError } from "../base/errors.ts";
import { type Json, toCanonicalJson } from "../base/json.ts";
import { findRunByCall } from "../features/nested/nested-state.ts";
import type { Fact } from "../kernel/event.ts";
import type { ResultEntry } from "../kernel/history.ts";
import type { Call, RunState, State } from "../kernel/state.ts";
import type { Reply } from "../kernel/tool.ts";
import type { RunMessage } from "../runtime/store.ts";

type MessageLog = {
  /** Messages in the store that the run has not processed yet. */
  readonly pending: readonly RunMessage[];
  readonly state: State;
  readonly run: RunState;
  /** Loads the facts of the run and its nested runs. Called only for the result of an earlier turn. */
  loadFacts(): Promise<readonly Fact[]>;
};

type CallMessage = Extract<RunMessage, { readonly callId: string }>;
type DecisionMessage = Exclude<CallMessage, { readonly type: "result" }>;

/**
 * Returns whether the run received this message before: it is pending, or it has had its effect. Throws
 * `idempotency_conflict` when its key was used for another message, and `approval_conflict` when its call was answered
 * differently.
 */
export async function isRepeatedMessage(message: RunMessage, log: MessageLog): Promise<boolean> {
  for (const earlier of log.pending) {
    const isSame = haveSameBody(earlier, message);
    if (earlier.key === message.key && !isSame) throw createKeyConflictError();
    if (earlier.key === message.key) return true;
    if (!("callId" in message) || !("callId" in earlier) || message.callId !== earlier.callId) continue;
    if (isSame) return true;
    throw createAnswerConflictError(message.callId);
  }
  if (message.type === "cancel") return log.run.cancelReason !== undefined;
  if (message.type === "cancel_background")
    return log.run.nested.get(message.call)?.run?.cancelReason !== undefined;
  if (message.type === "retry") {
    const { retries, done, wakeAt } = log.run;
    return retries > 0 && !done && wakeAt === undefined;
  }
  if (!("callId" in message)) return false;
  return message.type === "result" ? hasResult(message, log) : hasDecision(message, log);
}

/** Returns whether the call has this result. Throws if it has another one. */
async function hasResult(
  { callId, value }: Extract<CallMessage, { readonly type: "result" }>,
  log: MessageLog,
): Promise<boolean> {
  const call = findCall(log.run, callId);
  const result = call ? call.result : await findEarlierResult(callId, log);
  if (!result) return false;
  if (differsFromResult(result, value)) throw createAnswerConflictError(callId);
  return true;
}

/** Returns whether the user decided on the call like this. Throws if the user decided differently. */
function hasDecision(message: DecisionMessage, { run }: MessageLog): boolean {
  const { callId } = message;
  const call = findCall(run, callId);
  // If a call asked more than once, the last question counts.
  const reply = call?.questions.length ? call.questions.at(-1)?.reply : run.approvals.get(callId);
  if (!reply) return false;
  if (differsFromDecision(reply, message)) throw createAnswerConflictError(callId);
  return true;
}

function findCall(run: RunState, callId: string): Call | undefined {
  return findRunByCall(run, callId)?.currentTurn?.calls.get(callId);
}

type StoredResult = Pick<ResultEntry, "content" | "data" | "handle">;

async function findEarlierResult(
  callId: string,
  { state, loadFacts }: MessageLog,
): Promise<StoredResult | undefined> {
  if (!state.callIds.has(callId)) return undefined;
  const fact = (await loadFacts()).find((one) => one.type === "tool_call_result" && one.id === callId);
  return fact?.type === "tool_call_result" ? { ...fact, content: fact.result } : undefined;
}

function differsFromDecision(reply: Reply & { readonly input?: Json }, message: DecisionMessage): boolean {
  if (reply.approved !== (message.type === "approve")) return true;
  if (!reply.approved || message.type !== "approve") return false;
  return !isEqual(reply.value, message.value) || !isEqual(reply.input, message.input);
}

/** Returns false for truncated results, which cannot be compared. The log stores text as content, other values as data. */
function differsFromResult(result: StoredResult, value: Json): boolean {
  if (result.handle !== undefined) return false;
  if (typeof value === "string") return result.content !== value.toWellFormed();
  const data: Json | undefined = Reflect.get(Object(value), "data");
  return result.data !== undefined && !isEqual(result.data, value) && !isEqual(result.data, data);
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
