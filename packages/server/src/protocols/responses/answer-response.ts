import { AgentError, type MessageBody } from "capstan";
import { getScope } from "capstan/sessions";
import type { Caller } from "../../access/caller.ts";
import type { Deployment } from "../../deployment.ts";
import { resumeWithinQuota, sendToRun } from "../../runs/send-to-run.ts";
import { createMismatchError } from "../call-ids.ts";
import {
  type ApprovalTarget,
  formatResponseId,
  parseApprovalRequestId,
  parseFunctionCallId,
  type RunSegment,
} from "./ids.ts";
import { getOutputText, type InputAnswer } from "./input-items.ts";
import { countStoredSuspensions, type StoredSegment } from "./segments.ts";

/**
 * Sends answers to the pending calls of a segment and returns the next segment. All answers are stored before the run
 * resumes, so that it does not suspend in between. Repeating the same answers has no effect.
 */
export async function answerSegment(
  deployment: Deployment,
  { caller, runId, segment, sessionId }: StoredSegment & { readonly caller: Caller },
  answers: readonly InputAnswer[],
): Promise<RunSegment> {
  const { store, engine } = deployment;
  const messages = answers.map((answer) => toAnswerMessage(answer, runId));
  const { pending } = await engine.getResult(runId);
  const waiting = new Map(pending.map((call) => [call.callId, call]));
  const rests = await countStoredSuspensions(store, runId);
  for (const { message, digest } of messages) {
    const call = waiting.get(message.callId);
    if (!call) continue;
    if (rests > segment) throw createStaleError({ runId, segment: rests });
    if (digest !== undefined && call.digest?.startsWith(digest) !== true)
      throw createMismatchError(message.callId);
  }
  const quiet: Deployment = {
    ...deployment,
    engine: { ...engine, send: (id, message) => store.sendMessage(id, message) },
  };
  await resumeWithinQuota(deployment, { caller, runId, sessionId }, async () => {
    for (const [index, { message }] of messages.entries())
      await sendToRun(index < messages.length - 1 ? quiet : deployment, { caller, runId }, message);
  });
  return { runId, segment: segment + 1 };
}

type AnswerMessage = {
  readonly message: Extract<MessageBody, { readonly callId: string }>;
  readonly digest?: string;
};

function toAnswerMessage(answer: InputAnswer, runId: string): AnswerMessage {
  const call = parseAnswerCall(answer);
  if (call?.runId !== runId)
    throw new AgentError("invalid_input", `The response does not wait for "${getAnswerId(answer)}".`);
  const { callId } = call;
  if (answer.type === "function_call_output")
    return { message: { type: "result", callId, value: getOutputText(answer) } };
  const { digest } = call as ApprovalTarget;
  if (answer.approve) return { digest, message: { type: "approve", callId } };
  return { digest, message: { type: "deny", callId, ...(answer.reason && { reason: answer.reason }) } };
}

function getAnswerId(answer: InputAnswer): string {
  return answer.type === "function_call_output" ? answer.call_id : answer.approval_request_id;
}

function parseAnswerCall(answer: InputAnswer) {
  return answer.type === "function_call_output"
    ? parseFunctionCallId(answer.call_id)
    : parseApprovalRequestId(answer.approval_request_id);
}

/** Finds the caller's run that waits for all of these answers. */
export async function findWaitingSegment(
  { store, engine }: Deployment,
  { scope }: Caller,
  answers: readonly InputAnswer[],
): Promise<StoredSegment | undefined> {
  const calls = answers.map(parseAnswerCall);
  const runId = calls[0]?.runId;
  if (runId === undefined || calls.some((call) => call?.runId !== runId)) return undefined;
  const sessionId = await store.findSession(runId);
  if (sessionId === undefined || getScope(sessionId) !== scope) return undefined;
  const { pending } = await engine.getResult(runId);
  if (!calls.every((call) => pending.some(({ callId }) => callId === call?.callId))) return undefined;
  return { runId, sessionId, segment: await countStoredSuspensions(store, runId) };
}

function createStaleError(place: RunSegment): AgentError {
  const message = `The run has continued since. Answer "${formatResponseId(place)}" instead.`;
  return new AgentError("approval_conflict", message);
}
