import { AgentError, type ErrorCode, type Json, type MessageBody, type RunMessage } from "capstan";
import { addApprovalRule, findQueuedRun, loadRunFacts } from "capstan/sessions";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { createMismatchError } from "../protocols/call-ids.ts";
import type { RunReservation } from "./active-runs.ts";
import { createKeyConflictError, matchesStoredRequest, storeRequest } from "./idempotency.ts";

export type MessageTarget = {
  readonly caller: Caller;
  readonly runId: string;
  readonly key?: string | undefined;
  /** Digest of the call that the user was shown. */
  readonly digest?: string | undefined;
  /** Whether an approval also allows later calls like this one. */
  readonly always?: true | "pattern" | undefined;
};

/**
 * Sends a message to a run, once. Refuses here, where the caller gets an error, any message that the run would
 * ignore: an answer that the question does not allow, a call that waits for something else, or an answer that
 * contradicts an earlier one. Throws `approval_mismatch` if the call is not the one that the user was shown,
 * `approval_expired` if the user approves too late, which the run records as a denial, and `quota_exceeded` or `rate_limited` if the message would resume the run and the caller's quotas are used up.
 */
export async function sendToRun(
  deployment: Deployment,
  { caller, runId, key, digest, always }: MessageTarget,
  body: MessageBody,
): Promise<void> {
  const { store, engine } = deployment;
  const message: RunMessage = { ...body, key: key ?? crypto.randomUUID() };
  const sessionId = (await store.findSession(runId)) ?? "";
  // A queued run has no state to check. It can only be cancelled.
  if (sessionId === "" && (await findQueuedRun(store, runId))) return engine.send(runId, message);
  const place = { caller, runId, sessionId };
  const request = { sessionId, id: message.key, request: { ...body, runId } };
  // A conflict with an earlier answer is reported first. Otherwise a request that is stored needs no further check.
  const check = engine.checkMessage(runId, message);
  const send = () => engine.send(runId, message);
  await check.catch(throwConflict);
  if (key !== undefined && (await matchesStoredRequest(store, request))) return;
  const { isNew, call } = await check.catch(async (thrown) => {
    if (hasCode(thrown, "approval_expired")) await resumeWithinQuota(deployment, place, send);
    throw thrown;
  });
  if (call && digest !== undefined && digest !== call.digest) throw createMismatchError(call.callId);
  if (isNew) {
    if (message.type === "approve" && message.input !== undefined && call)
      await checkChangedCall(deployment, place, { callId: call.callId, input: message.input });
    const { facts: position = 0 } = (await store.getSession(sessionId)) ?? {};
    if (always && call)
      await addApprovalRule(store, { sessionId, runId, covers: always === true ? "call" : always }, call);
    const isCancellation = message.type === "cancel" || message.type === "cancel_background";
    await (isCancellation ? send() : resumeWithinQuota(deployment, place, send));
    // The key was already used with another text.
    if (message.type === "steer" && !(await wasDelivered(deployment, { ...place, position }, message)))
      throw createKeyConflictError();
  }
  if (key !== undefined) await storeRequest(store, request);
}

type ChangedCall = { readonly callId: string; readonly input: Json };

/** Throws `invalid_input` if the tool refuses the arguments. The run would deny the call, and the caller get no error. */
async function checkChangedCall(
  { engine, getRunOptions }: Deployment,
  { caller, runId, sessionId }: ResumeTarget,
  { callId, input }: ChangedCall,
): Promise<void> {
  const { context, secrets = [] } = await getRunOptions({ scope: caller.scope, sessionId });
  await engine.previewCall(runId, callId, { input, context, secrets });
}

function throwConflict(thrown: unknown): void {
  if (hasCode(thrown, "approval_conflict", "idempotency_conflict")) throw thrown;
}

function hasCode(thrown: unknown, ...codes: readonly ErrorCode[]): boolean {
  return thrown instanceof AgentError && codes.includes(thrown.code);
}

type SteerMessage = Extract<RunMessage, { readonly type: "steer" }>;

async function wasDelivered(
  { store }: Deployment,
  { runId, position }: { readonly runId: string; readonly position: number },
  { key, text }: SteerMessage,
): Promise<boolean> {
  if ((await store.listMessages(runId)).some((pending) => pending.key === key)) return true;
  return (await loadRunFacts(store, runId)).some(
    (fact) =>
      fact.type === "steered" && fact.runId === runId && (fact.seq > position || fact.entry.content === text),
  );
}

type ResumeTarget = { readonly caller: Caller; readonly runId: string; readonly sessionId: string };

/**
 * Calls `tell`, which resumes a suspended run or retries a failed one. Like a new run, that needs a place within
 * the caller's quotas. Throws `quota_exceeded` or `rate_limited` without sending.
 */
export async function resumeWithinQuota<Told>(
  { store, activeRuns, quotaAdmission }: Deployment,
  { caller, runId, sessionId }: ResumeTarget,
  tell: () => Promise<Told>,
): Promise<Told> {
  const run = await store.findRun(runId);
  const isTold = (await store.listMessages(runId)).length > 0;
  if (run?.state === "active" || isTold) return tell();
  const suspend = await quotaAdmission.admitResume(caller, { runId });
  if (activeRuns.has(sessionId)) return tell();
  let expected: RunReservation | undefined;
  try {
    expected = activeRuns.reserve(caller, sessionId);
    const told = await tell();
    // Another process resumes the run, or none does.
    if (!expected.isStarted()) expected.release();
    return told;
  } catch (thrown) {
    expected?.release();
    suspend();
    throw thrown;
  }
}
