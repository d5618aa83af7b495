import { AgentError } from "capstan";
import { getScope } from "capstan/sessions";
import type { Caller } from "../../access/caller.ts";
import type { Deployment } from "../../deployment.ts";
import { goingOn, type Message, tellRun } from "../../runs/send-to-run.ts";
import {
  type ApprovalAsked,
  type RunLeg,
  readApprovalRequestId,
  readFunctionCallId,
  responseId,
} from "./ids.ts";
import { type InputAnswer, outputOf } from "./input-items.ts";
import { type KeptLeg, restsOf } from "./segments.ts";

/**
 * Tells a run what a client answers to one of its legs, and gives the next. All answers are stored before the run goes on,
 * so that it does not stop between two of them. The same answers once more change nothing.
 */
export async function answerLeg(
  deployment: Deployment,
  { caller, runId, leg, sessionId }: KeptLeg & { readonly caller: Caller },
  answers: readonly InputAnswer[],
): Promise<RunLeg> {
  const { store, engine } = deployment;
  const messages = answers.map((answer) => messageOf(answer, runId));
  const { pending } = await engine.getResult(runId);
  const waiting = new Map(pending.map((call) => [call.callId, call]));
  const rests = restsOf(await store.read(sessionId), runId);
  for (const { told, digest } of messages) {
    const call = waiting.get(told.callId);
    if (!call) continue;
    if (rests > leg) throw outOfDate({ runId, leg: rests });
    if (digest !== undefined && call.digest?.startsWith(digest) !== true) throw mismatch(told.callId);
  }
  const quiet: Deployment = {
    ...deployment,
    engine: { ...engine, send: (id, message) => store.sendMessage(id, message) },
  };
  await goingOn(deployment, { caller, runId, sessionId }, async () => {
    for (const [index, { told }] of messages.entries())
      await tellRun(index < messages.length - 1 ? quiet : deployment, { caller, runId }, told);
  });
  return { runId, leg: leg + 1 };
}

type Answered = {
  readonly told: Extract<Message, { readonly callId: string }>;
  readonly digest?: string;
};

function messageOf(answer: InputAnswer, runId: string): Answered {
  const call = callOf(answer);
  if (call?.runId !== runId)
    throw new AgentError("invalid_input", `The response waits for nothing that is called "${idOf(answer)}".`);
  const { callId } = call;
  if (answer.type === "function_call_output")
    return { told: { type: "result", callId, value: outputOf(answer) } };
  const { digest } = call as ApprovalAsked;
  if (answer.approve) return { digest, told: { type: "approve", callId } };
  return { digest, told: { type: "deny", callId, ...(answer.reason && { reason: answer.reason }) } };
}

function idOf(answer: InputAnswer): string {
  return answer.type === "function_call_output" ? answer.call_id : answer.approval_request_id;
}

function callOf(answer: InputAnswer) {
  return answer.type === "function_call_output"
    ? readFunctionCallId(answer.call_id)
    : readApprovalRequestId(answer.approval_request_id);
}

/** The run of the caller that waits for all of these answers, whoever has the history. */
export async function awaitingLeg(
  { store, engine }: Deployment,
  { scope }: Caller,
  answers: readonly InputAnswer[],
): Promise<KeptLeg | undefined> {
  const calls = answers.map(callOf);
  const runId = calls[0]?.runId;
  if (runId === undefined || calls.some((call) => call?.runId !== runId)) return undefined;
  const sessionId = await store.findSession(runId);
  if (sessionId === undefined || getScope(sessionId) !== scope) return undefined;
  const { pending } = await engine.getResult(runId);
  if (!calls.every((call) => pending.some(({ callId }) => callId === call?.callId))) return undefined;
  return { runId, sessionId, leg: restsOf(await store.read(sessionId), runId) };
}

function outOfDate(place: RunLeg): AgentError {
  const message = `The run has gone on since: answer "${responseId(place)}".`;
  return new AgentError("approval_conflict", message);
}

function mismatch(callId: string): AgentError {
  const message = `What you were shown of the call "${callId}" is not what it asks for: look at it again.`;
  return new AgentError("approval_mismatch", message);
}
