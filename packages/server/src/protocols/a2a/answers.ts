import { AgentError, type Json, type PendingCall } from "capstan";
import { z } from "zod";
import { readMessageText, type SentPart } from "./parts.ts";

/** An answer to one pending call of a task. */
export type A2aAnswer =
  | { readonly type: "approve"; readonly callId: string; readonly value?: Json }
  | { readonly type: "deny"; readonly callId: string; readonly reason?: string }
  | { readonly type: "result"; readonly callId: string; readonly value: Json };

type AnswerInput = {
  readonly parts: readonly SentPart[];
  /** Digest that the user was shown, for a text answer. */
  readonly digest?: string | undefined;
};

const decision = z.strictObject({
  callId: z.string().optional(),
  approved: z.boolean(),
  digest: z.string().optional(),
  value: z.unknown().optional(),
  reason: z.string().max(10_000).optional(),
});
const result = z.strictObject({ callId: z.string().optional(), result: z.unknown() });

type Decision = z.output<typeof decision>;

/**
 * Parses the answers in a message to a waiting task. Programs send one data part per call, including the digest of
 * what they approve. If only one call is pending, the user can answer in text.
 */
export function parseAnswers(
  { parts, digest }: AnswerInput,
  pending: readonly PendingCall[],
): readonly A2aAnswer[] {
  const data = parts.filter((part) => "data" in part);
  const answers =
    data.length > 0
      ? data.map((part) => parseDataAnswer(part.data, pending))
      : [parseTextAnswer(readMessageText(parts), getOnlyCall(pending), digest)];
  if (new Set(answers.map(({ callId }) => callId)).size < answers.length)
    throw createAnswerError("A message can answer each call only once.");
  return answers;
}

function parseDataAnswer(data: unknown, pending: readonly PendingCall[]): A2aAnswer {
  const given = result.safeParse(data);
  if (given.success && Object.hasOwn(Object(data), "result")) {
    const call = findPendingCall(given.data.callId, pending);
    if (call.needs !== "answer") throw createAnswerError(`"${call.name}" expects a decision, not a result.`);
    return { type: "result", callId: call.callId, value: given.data.result as Json };
  }
  const decided = decision.safeParse(data);
  if (!decided.success)
    throw createAnswerError(
      "An answer must be { callId, approved, digest, value?, reason? }, or { callId, result } for a client-side call.",
    );
  return toDecisionAnswer(decided.data, findPendingCall(decided.data.callId, pending));
}

function toDecisionAnswer({ approved, digest, value, reason }: Decision, call: PendingCall): A2aAnswer {
  const { callId } = call;
  if (call.needs !== "approval") throw createAnswerError(`"${call.name}" expects a result, not a decision.`);
  if (approved && digest === undefined)
    throw createAnswerError(`Include the digest of "${call.name}" to approve it.`);
  assertDigest(call, digest);
  if (!approved) return { type: "deny", callId, ...(reason !== undefined && { reason }) };
  return { type: "approve", callId, ...(value !== undefined && { value: value as Json }) };
}

const yesPattern = /^(?:yes|y|approved?)[.!]?$/i;
const noPattern = /^(?:no|n|deny|denied|reject(?:ed)?)(?:[.,:;!]\s*(.*))?$/is;

function parseTextAnswer(given: string, call: PendingCall, digest: string | undefined): A2aAnswer {
  const { callId, needs, question } = call;
  const words = given.trim();
  if (needs === "answer") return { type: "result", callId, value: given };
  assertDigest(call, digest);
  const [isNo, reason] = noPattern.exec(words) ?? [];
  const wanted = question?.schema?.type;
  if (isNo !== undefined && wanted !== "boolean") return { type: "deny", callId, ...(reason && { reason }) };
  if (question && wanted === "boolean" && (isNo !== undefined || yesPattern.test(words)))
    return { type: "approve", callId, value: isNo === undefined };
  if (question && (wanted === "string" || !(question.schema || yesPattern.test(words))))
    return { type: "approve", callId, value: given };
  if (question?.schema)
    throw createAnswerError(
      "The question has a schema. Answer with a data part { approved, digest, value }.",
    );
  if (yesPattern.test(words)) return { type: "approve", callId };
  throw createAnswerError(`"${call.name}" needs your approval. Answer yes or no.`);
}

function findPendingCall(callId: string | undefined, pending: readonly PendingCall[]): PendingCall {
  if (callId === undefined) return getOnlyCall(pending);
  const call = pending.find((one) => one.callId === callId);
  if (!call) throw new AgentError("unknown_call", `The task does not wait for call "${callId}".`);
  return call;
}

function getOnlyCall(pending: readonly PendingCall[]): PendingCall {
  const [call, another] = pending;
  if (!call || another)
    throw createAnswerError("Several calls are pending. Answer with data parts that contain a callId.");
  return call;
}

function assertDigest({ name, digest }: PendingCall, given: string | undefined): void {
  if (given === undefined || given === digest) return;
  const message = `The digest of "${name}" does not match the pending call. Get the task again.`;
  throw new AgentError("approval_mismatch", message);
}

function createAnswerError(message: string): AgentError {
  return new AgentError("invalid_input", message);
}
