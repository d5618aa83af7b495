import { AgentError } from "../base/errors.ts";
import { type Json, toCanonicalJson } from "../base/json.ts";
import { findCalledTool, listPendingCalls, type PendingCall } from "../features/calls/pending-calls.ts";
import { expiredReason } from "../features/calls/rules.ts";
import { findRunByCall } from "../features/nested/nested-state.ts";
import { listBackground } from "../features/nested/progress.ts";
import type { Agents } from "../kernel/agent.ts";
import { toOutcome } from "../kernel/calls/outcome.ts";
import type { FactBody } from "../kernel/event.ts";
import { getLabels } from "../kernel/provenance.ts";
import type { RunState } from "../kernel/state.ts";
import type { Outcome } from "../kernel/tool.ts";
import { toSchema, type Validation } from "../schema/schema.ts";
import { validateEdit } from "./edited-arguments.ts";
import type { MessageBody } from "./store.ts";

/** A message to a run. The result of a client's call may be any value until it is stored. */
export type Message =
  | Exclude<MessageBody, { type: "result" }>
  | { readonly type: "result"; readonly callId: string; readonly value: unknown };

type Decision = Extract<Message, { type: "approve" | "deny" }>;
type ClientResult = Extract<Message, { type: "result" }>;

/** The run that a message is sent to, which determines its meaning. */
export type MessageContext = {
  readonly agents: Agents;
  readonly run: RunState;
  /** The time at which the message arrives. */
  readonly now: number;
  /** Whether a later run of the session has started. */
  readonly isOutdated?: boolean | undefined;
};

const defaultReason = "The run was cancelled.";

/**
 * Returns the facts that a message becomes; none when it changes nothing, such as the same decision sent twice. Throws
 * `run_ended`, `not_retryable`, `unknown_call`, `approval_conflict` or `invalid_input` when the run cannot accept it.
 */
export function toFacts(message: Message, context: MessageContext): readonly FactBody[] {
  const { run } = context;
  switch (message.type) {
    case "cancel":
      return run.done ? [] : [{ type: "cancel_requested", reason: message.reason ?? defaultReason }];
    case "cancel_background":
      return toBackgroundFacts(message, run);
    case "steer": {
      if (run.done) {
        const problem = `The run "${run.id}" has ended (${run.done.status}). Start a new run in its session.`;
        throw new AgentError("run_ended", problem);
      }
      const { text, queuedAs } = message;
      const entry = { type: "user", content: text } as const;
      return [{ type: "steered", entry, ...(queuedAs !== undefined && { queuedAs }) }];
    }
    case "retry":
      // A run that waits for its provider calls the model now.
      if (!run.done && run.wakeAt !== undefined) return [{ type: "woken" }];
      assertRetryable(context);
      return [{ type: "retried", usageBefore: run.usage }];
    case "approve":
    case "deny":
      return toDecisionFacts(message, context);
    case "result":
      return [toResultFact(message, context)];
  }
}

function toBackgroundFacts(
  { call, reason = defaultReason }: Extract<Message, { type: "cancel_background" }>,
  run: RunState,
): readonly FactBody[] {
  const background = listBackground(run).find(({ callId }) => callId === call);
  if (background)
    return background.run.cancelReason === undefined
      ? [{ type: "cancel_requested", callId: call, reason }]
      : [];
  if (run.done || run.endedWork.some(({ callId }) => callId === call)) return [];
  throw new AgentError("unknown_call", `Call "${call}" has not started background work in run "${run.id}".`);
}

function assertRetryable({ run, isOutdated }: MessageContext): void {
  if (run.done?.canRetry && !isOutdated) return;
  const problem = isOutdated
    ? "a later run of its session has started. Start a new run"
    : run.done
      ? `it ended with the status "${run.done.status}", not because of its model. Start a new run in its session`
      : "it has not ended";
  throw new AgentError("not_retryable", `Run "${run.id}" cannot be retried: ${problem}.`);
}

/** Rejects with `invalid_input` when the value of a message does not match its schema. The call keeps waiting. */
export async function validateMessage(message: Message, context: MessageContext): Promise<void> {
  if (message.type === "approve") await validateAnswer(message, context);
  else if (message.type === "result") await validateResult(message, context);
}

/** Throws when a promise is passed as the result of a call: it would be stored as an empty object. */
export function assertSettledValue({ callId, value }: ClientResult): void {
  if (typeof (value as { then?: unknown } | undefined)?.then !== "function") return;
  throw new AgentError("invalid_input", `The answer to call "${callId}" is a promise. Await it first.`);
}

/** A message as the run records it, and the error for its sender. */
type Arrival = { readonly message: Message; readonly late?: AgentError };

/**
 * Turns an approval that arrives after its request has expired into a denial. The run records it, so that it continues,
 * and so that a clock that is set back does not make the request valid again.
 */
export function checkArrival(message: Message, context: MessageContext | undefined): Arrival {
  if (message.type !== "approve" || !context) return { message };
  const { agents, run, now } = context;
  const { callId } = message;
  const call = listPendingCalls(agents, run).find((pending) => pending.callId === callId);
  if (call?.expiresAt === undefined || now < call.expiresAt) return { message };
  const time = new Date(call.expiresAt).toISOString();
  const problem = call.question
    ? `The question of "${call.name}" ("${callId}") expired at ${time} and counts as declined.`
    : `The request to call "${call.name}" ("${callId}") expired at ${time}. The call was not made and counts as denied; the model can call the tool again.`;
  const late = new AgentError("approval_expired", problem);
  return { message: { type: "deny", callId, reason: expiredReason }, late };
}

function toDecisionFacts(decision: Decision, context: MessageContext): readonly FactBody[] {
  const { agents, run } = context;
  const { callId } = decision;
  const earlierDecision = run.approvals.get(callId);
  // A tool may ask several questions in one call: each needs its own answer.
  if (earlierDecision && !isAwaitingDecision(context, callId)) {
    assertSameDecision(callId, earlierDecision, toReply(decision));
    return [];
  }
  const { question, input } = getPendingCall(agents, run, { callId, needs: "approval" });
  assertExpectedReply(decision, question !== undefined);
  const number = countQuestions(run, callId);
  return [
    {
      type: "approval_resolved",
      callId,
      ...withoutSameInput(toReply(decision), input),
      ...(question && number !== undefined && { number }),
    },
  ];
}

/** A question is answered with a value. Only the arguments of a call that has not started can be changed. */
function assertExpectedReply(decision: Decision, isQuestion: boolean): void {
  if (decision.type === "deny") return;
  const { callId } = decision;
  const problem = isQuestion
    ? decision.input !== undefined && "for the answer to a question, so its arguments cannot be changed"
    : decision.value !== undefined && "for approval, not for a value. Approve it without one";
  if (problem) throw new AgentError("invalid_input", `Call "${callId}" waits ${problem}.`);
}

/** An approval with the model's own arguments changes nothing. */
function withoutSameInput(reply: Reply, requested: Json): Reply {
  if (!reply.approved || reply.input === undefined) return reply;
  const { input, ...rest } = reply;
  return toCanonicalJson(input) === toCanonicalJson(requested) ? rest : reply;
}

type Reply =
  | { readonly approved: true; readonly value?: Json; readonly input?: Json }
  | { readonly approved: false; readonly reason?: string };

function toReply(decision: Decision): Reply {
  if (decision.type === "approve") {
    const { value, input } = decision;
    return {
      approved: true,
      ...(value !== undefined && { value }),
      ...(input !== undefined && { input }),
    };
  }
  return { approved: false, ...(decision.reason !== undefined && { reason: decision.reason }) };
}

/** Decisions that were sent and are not in the state yet, by call and question. */
export type PendingDecisions = Map<string, Reply>;

/**
 * Adds a decision and returns a function that takes it back; ignores other messages. Throws `approval_conflict` when it
 * contradicts a decision that was sent before and is not applied yet.
 */
export function addPendingDecision(
  pending: PendingDecisions,
  message: Message,
  run: RunState | undefined,
): (() => void) | undefined {
  if (message.type !== "approve" && message.type !== "deny") return undefined;
  const key = `${message.callId}#${(run && countQuestions(run, message.callId)) ?? 0}`;
  const earlierDecision = pending.get(key);
  const reply = toReply(message);
  if (earlierDecision) {
    assertSameDecision(message.callId, earlierDecision, reply);
    return () => undefined;
  }
  pending.set(key, reply);
  return () => void pending.delete(key);
}

/** The value and the arguments are part of an approval: two approvals with different ones conflict. */
function assertSameDecision(callId: string, earlier: Reply, reply: Reply): void {
  const toText = (value: Json | undefined) => toCanonicalJson(value ?? null);
  const isSame =
    earlier.approved && reply.approved
      ? toText(earlier.value) === toText(reply.value) && toText(earlier.input) === toText(reply.input)
      : earlier.approved === reply.approved;
  if (isSame) return;
  const verb = earlier.approved ? "approved" : "denied";
  throw new AgentError("approval_conflict", `Call "${callId}" has already been ${verb}.`);
}

function toResultFact({ callId, value }: ClientResult, { agents, run }: MessageContext): FactBody {
  const { name } = getPendingCall(agents, run, { callId, needs: "answer" });
  const { status, content, binary: _, reads: ownReads = [], ...rest }: Outcome = toOutcome(value);
  const labels = getLabels(findCalledTool({ agents, run }, callId, name) ?? {});
  const reads = [...new Set([...labels, ...ownReads])];
  return {
    type: "tool_call_result",
    id: callId,
    name,
    result: content,
    is_error: status !== "ok",
    status,
    attempts: 1,
    ms: 0,
    ...rest,
    ...(reads.length > 0 && { reads }),
  };
}

async function validateAnswer(message: Decision, context: MessageContext): Promise<void> {
  const { callId } = message;
  if (message.type !== "approve" || !isAwaitingDecision(context, callId)) return;
  const { name, question } = getPendingCall(context.agents, context.run, { callId, needs: "approval" });
  if (!question && message.input !== undefined) await validateEdit(message.input, { callId, name }, context);
  if (!question?.schema) return;
  const schema = toSchema(question.schema, { owner: `a question of "${name}"` });
  assertValid(await schema.validate(message.value ?? null), {
    callId,
    problem: `does not match the schema of the question from "${name}"`,
  });
}

async function validateResult({ callId, value }: ClientResult, context: MessageContext): Promise<void> {
  const { name } = getPendingCall(context.agents, context.run, { callId, needs: "answer" });
  const { outputSchema } = findCalledTool(context, callId, name) ?? {};
  const { status, data, content } = toOutcome(value);
  if (!outputSchema || status !== "ok") return;
  const problem = `does not match the output schema of "${name}"`;
  assertValid(await outputSchema.validate(data ?? content), { callId, problem });
}

function assertValid(result: Validation, { callId, problem }: { callId: string; problem: string }): void {
  if (result.valid) return;
  const issues = result.issues.slice(0, 10).join("; ");
  const message = `The answer to call "${callId}" ${problem}: ${issues}. The call still waits. Send a valid value.`;
  throw new AgentError("invalid_input", message);
}

function countQuestions(run: RunState, callId: string): number | undefined {
  return findRunByCall(run, callId)?.currentTurn?.calls.get(callId)?.questions.length;
}

function isAwaitingDecision({ agents, run }: MessageContext, callId: string): boolean {
  return listPendingCalls(agents, run).some((call) => call.callId === callId && call.needs === "approval");
}

type PendingCallQuery = { readonly callId: string; readonly needs: PendingCall["needs"] };

/** Throws `unknown_call` if no call waits for that. */
export function getPendingCall(
  agents: Agents,
  run: RunState,
  { callId, needs }: PendingCallQuery,
): PendingCall {
  const pending = listPendingCalls(agents, run).filter((call) => call.needs === needs);
  const call = pending.find((candidate) => candidate.callId === callId);
  if (call) return call;
  const known = pending.map((candidate) => `"${candidate.callId}"`).join(", ") || "none";
  const message = `Call "${callId}" does not wait for an ${needs}. Calls that do: ${known}.`;
  throw new AgentError("unknown_call", message);
}
