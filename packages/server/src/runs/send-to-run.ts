import { isDeepStrictEqual } from "node:util";
import { AgentError, type Fact, type RunMessage } from "capstan";
import { isInRun } from "capstan/sessions";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { createKeyConflictError, matchesStoredRequest, storeRequest } from "./idempotency.ts";

/** A message without its key. */
export type MessageBody = RunMessage extends infer Each
  ? Each extends RunMessage
    ? Omit<Each, "key">
    : never
  : never;

export type MessageTarget = {
  readonly caller: Caller;
  readonly runId: string;
  readonly key?: string | undefined;
};

/**
 * Sends a message to a run, once. Refuses here, where the caller gets an error, any message that the run would
 * ignore: an answer that the question does not allow, a call that waits for something else, or an answer that
 * contradicts an earlier one. Throws `rate_limited` if the message would resume the run and the caller's quota or
 * daily budget is used up.
 */
export async function sendToRun(
  deployment: Deployment,
  { caller, runId, key }: MessageTarget,
  said: MessageBody,
): Promise<void> {
  const { store, engine } = deployment;
  const message = { ...said, key: key ?? crypto.randomUUID() } as RunMessage;
  const sessionId = (await store.findSession(runId)) ?? "";
  const place = { caller, runId, sessionId };
  const asked = { sessionId, id: message.key, request: { ...said, runId } };
  const isKnown = await wasSent(deployment, place, message);
  if (key !== undefined && (await matchesStoredRequest(store, asked))) return;
  if (!isKnown) {
    await engine.checkMessage(runId, message);
    const { facts: position = 0 } = (await store.getSession(sessionId)) ?? {};
    const tell = () => engine.send(runId, message);
    await (message.type === "cancel" ? tell() : resumeWithinQuota(deployment, place, tell));
    // The key was already used with another text.
    if (message.type === "steer" && !(await wasDelivered(deployment, { ...place, position }, message)))
      throw createKeyConflictError();
  }
  if (key !== undefined) await storeRequest(store, asked);
}

type RunLocation = { readonly runId: string; readonly sessionId: string };

/** Whether the message was sent before. Throws if a different one was sent with the same key or for the same call. */
async function wasSent(
  { store }: Deployment,
  { runId, sessionId }: RunLocation,
  message: RunMessage,
): Promise<boolean> {
  const { key, ...said } = message;
  for (const { key: earlier, ...unheard } of await store.listMessages(runId)) {
    const isSame = isDeepStrictEqual(unheard, said);
    if (earlier === key && !isSame) throw createKeyConflictError();
    if (earlier === key) return true;
    if (!("callId" in said) || !("callId" in unheard) || said.callId !== unheard.callId) continue;
    if (isSame) return true;
    throw createConflictError(said.callId);
  }
  const facts = (await store.read(sessionId)).filter((fact) => isInRun(fact, runId));
  if (message.type === "cancel") return facts.some((fact) => fact.type === "cancel_requested");
  return "callId" in message && wasAnswered(facts, message);
}

type Answer = Extract<RunMessage, { readonly callId: string }>;

/** Whether the log contains this answer to the call. Throws if it contains another one. */
function wasAnswered(facts: readonly Fact[], message: Answer): boolean {
  const { callId } = message;
  if (message.type === "result") {
    const result = facts.find((fact) => fact.type === "tool_call_result" && fact.id === callId);
    if (result?.type !== "tool_call_result") return false;
    if (differsFromResult(result, message.value)) throw createConflictError(callId);
    return true;
  }
  // If a call asked more than once, the last question counts.
  const last = facts.findLast((fact) => isApprovalFact(fact) && fact.callId === callId);
  if (last?.type !== "approval_resolved") return false;
  if (differsFromDecision(last, message)) throw createConflictError(callId);
  return true;
}

function isApprovalFact(
  fact: Fact,
): fact is Resolved | Extract<Fact, { readonly type: "approval_required" }> {
  return fact.type === "approval_required" || fact.type === "approval_resolved";
}

type Resolved = Extract<Fact, { readonly type: "approval_resolved" }>;

function differsFromDecision(fact: Resolved, message: Exclude<Answer, { readonly type: "result" }>): boolean {
  if (fact.approved !== (message.type === "approve")) return true;
  return message.type === "approve" && !isDeepStrictEqual(fact.value ?? null, message.value ?? null);
}

/**
 * Compares as far as the log allows: it keeps text as content and other values as data, and truncates large results.
 */
function differsFromResult(
  fact: Extract<Fact, { readonly type: "tool_call_result" }>,
  value: unknown,
): boolean {
  if (fact.handle !== undefined) return false;
  if (typeof value === "string") return fact.result !== value.toWellFormed();
  const inside: unknown = Reflect.get(Object(value), "data");
  return fact.data !== undefined && ![value, inside].some((one) => isDeepStrictEqual(fact.data, one));
}

type SteerMessage = Extract<RunMessage, { readonly type: "steer" }>;

async function wasDelivered(
  { store }: Deployment,
  { runId, sessionId, position }: RunLocation & { readonly position: number },
  { key, text }: SteerMessage,
): Promise<boolean> {
  if ((await store.listMessages(runId)).some((unheard) => unheard.key === key)) return true;
  const isSteered = (fact: Fact) => fact.runId === runId && fact.type === "steered";
  const facts = await store.read(sessionId);
  return facts.some(
    (fact) =>
      isSteered(fact) && (fact.seq > position || (fact.type === "steered" && fact.entry.content === text)),
  );
}

function createConflictError(callId: string): AgentError {
  return new AgentError("approval_conflict", `Call "${callId}" was already answered with a different value.`);
}

type ResumeTarget = { readonly caller: Caller; readonly runId: string; readonly sessionId: string };

/**
 * Calls `send`, which resumes a suspended run. Like a new run, that needs remaining daily budget and a place in the
 * caller's quota. Throws `rate_limited` without sending.
 */
export async function resumeWithinQuota<Told>(
  { store, activeRuns, dailyBudget }: Deployment,
  { caller, runId, sessionId }: ResumeTarget,
  tell: () => Promise<Told>,
): Promise<Told> {
  const run = (await store.listRuns(sessionId)).find((one) => one.runId === runId);
  const isTold = (await store.listMessages(runId)).length > 0;
  if (run?.state !== "waiting" || isTold) return tell();
  await dailyBudget.clampPolicy(caller, {});
  if (activeRuns.has(sessionId)) return tell();
  const expected = activeRuns.reserve(caller, sessionId);
  try {
    const told = await tell();
    // Another process resumes the run, or none does.
    if (!expected.isStarted()) expected.release();
    return told;
  } catch (thrown) {
    expected.release();
    throw thrown;
  }
}
