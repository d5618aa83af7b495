import { AgentError, type Json, type PendingCall } from "capstan";
import { z } from "zod";
import { type SentPart, wordsIn } from "./parts.ts";

/** What a message to a waiting task says about one of its calls. */
export type A2aAnswer =
  | { readonly type: "approve"; readonly callId: string; readonly value?: Json }
  | { readonly type: "deny"; readonly callId: string; readonly reason?: string }
  | { readonly type: "result"; readonly callId: string; readonly value: Json };

type Sent = {
  readonly parts: readonly SentPart[];
  /** What the person was shown, for an answer in words. */
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
 * The answers in a message to a task that waits. A program answers with data parts, one for each call; a person who is
 * asked one thing can answer in words. What is approved is what was shown: a program says its digest.
 */
export function answersIn({ parts, digest }: Sent, pending: readonly PendingCall[]): readonly A2aAnswer[] {
  const data = parts.filter((part) => "data" in part);
  const answers =
    data.length > 0
      ? data.map((part) => answerOf(part.data, pending))
      : [inWords(wordsIn(parts), onlyOne(pending), digest)];
  if (new Set(answers.map(({ callId }) => callId)).size < answers.length)
    throw refused("A call is answered once in a message.");
  return answers;
}

function answerOf(data: unknown, pending: readonly PendingCall[]): A2aAnswer {
  const given = result.safeParse(data);
  if (given.success && Object.hasOwn(Object(data), "result")) {
    const call = callOf(given.data.callId, pending);
    if (call.needs !== "answer") throw refused(`"${call.name}" waits for a decision, not for a result.`);
    return { type: "result", callId: call.callId, value: given.data.result as Json };
  }
  const decided = decision.safeParse(data);
  if (!decided.success)
    throw refused(
      "An answer is { callId, approved, digest, value?, reason? }, or { callId, result } for a call that is yours to run.",
    );
  return decisionOf(decided.data, callOf(decided.data.callId, pending));
}

function decisionOf({ approved, digest, value, reason }: Decision, call: PendingCall): A2aAnswer {
  const { callId } = call;
  if (call.needs !== "approval") throw refused(`"${call.name}" waits for its result, not for a decision.`);
  if (approved && digest === undefined)
    throw refused(`Say the digest that you were shown of "${call.name}", so that nothing else is approved.`);
  assertShown(call, digest);
  if (!approved) return { type: "deny", callId, ...(reason !== undefined && { reason }) };
  return { type: "approve", callId, ...(value !== undefined && { value: value as Json }) };
}

const yes = /^(?:yes|y|approved?)[.!]?$/i;
const no = /^(?:no|n|deny|denied|reject(?:ed)?)(?:[.,:;!]\s*(.*))?$/is;

function inWords(given: string, call: PendingCall, digest: string | undefined): A2aAnswer {
  const { callId, needs, question } = call;
  const words = given.trim();
  if (needs === "answer") return { type: "result", callId, value: given };
  assertShown(call, digest);
  const [isNo, reason] = no.exec(words) ?? [];
  const wanted = question?.schema?.type;
  if (isNo !== undefined && wanted !== "boolean") return { type: "deny", callId, ...(reason && { reason }) };
  if (question && wanted === "boolean" && (isNo !== undefined || yes.test(words)))
    return { type: "approve", callId, value: isNo === undefined };
  if (question && (wanted === "string" || !(question.schema || yes.test(words))))
    return { type: "approve", callId, value: given };
  if (question?.schema)
    throw refused("The question has a form: answer with a data part { approved, digest, value }.");
  if (yes.test(words)) return { type: "approve", callId };
  throw refused(`"${call.name}" waits for your approval: answer yes or no.`);
}

function callOf(callId: string | undefined, pending: readonly PendingCall[]): PendingCall {
  if (callId === undefined) return onlyOne(pending);
  const call = pending.find((one) => one.callId === callId);
  if (!call) throw new AgentError("unknown_call", `The task does not wait for a call "${callId}".`);
  return call;
}

function onlyOne(pending: readonly PendingCall[]): PendingCall {
  const [call, another] = pending;
  if (!call || another) throw refused("Several calls wait: answer with data parts that name their callId.");
  return call;
}

function assertShown({ name, digest }: PendingCall, given: string | undefined): void {
  if (given === undefined || given === digest) return;
  const message = `What you were shown of "${name}" is not what it asks for: look at the task again.`;
  throw new AgentError("approval_mismatch", message);
}

function refused(message: string): AgentError {
  return new AgentError("invalid_input", message);
}
