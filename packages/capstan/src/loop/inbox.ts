import type { Agents } from "../agent.ts";
import { findTool } from "../builtin-tools.ts";
import { AgentError, describeThrown } from "../errors.ts";
import type { FactBody } from "../event.ts";
import { type Json, toCanonicalJson } from "../json.ts";
import { getLabels } from "../labels.ts";
import { toOutcome } from "../perform/outcome.ts";
import { findAgentByCall, listPendingCalls, type PendingCall } from "../rules/pending-calls.ts";
import { toSchema, type Validation } from "../schema/schema.ts";
import { findRunByCall } from "../state/nested-state.ts";
import type { RunState } from "../state/state.ts";

/** Something told to a run from outside. */
export type Message = {
  /** Of one that lies in the store: it is marked as heard there, and never ends the run by making no sense. */
  readonly key?: string;
  /** What it becomes once the state is known. Throws when it makes no sense. */
  factsFor(run: RunState): readonly FactBody[];
  /** What takes a moment to find out, before it is heard: rejects when it cannot be used. */
  check?(run: RunState): Promise<void>;
};

/** What has been told and not been heard yet. */
export interface Inbox {
  /** Throws `run_ended` once it is closed. */
  put(message: Message): void;
  /** The facts of all that is waiting, which is then waiting no more, and why some of it makes no sense. */
  take(run: RunState): Promise<Heard>;
  isEmpty(): boolean;
  /** Resolves as soon as something is waiting. */
  rung(): Promise<void>;
  /** The run ends: whatever comes now is refused. */
  close(): void;
  reopen(): void;
  isClosed(): boolean;
}

/** What was told, as facts. `keys` are those of messages from the store. */
export type Heard = {
  readonly facts: readonly FactBody[];
  readonly problems: readonly unknown[];
  readonly keys: readonly string[];
};

export function inbox(): Inbox {
  let waiting: Message[] = [];
  let bell = Promise.withResolvers<void>();
  let closed = false;
  return {
    put(message) {
      if (closed) throw new AgentError("run_ended", "The run has ended: start a new one in its session.");
      // One that was not heard when the run was put down is still here, and is brought again.
      if (message.key === undefined || !waiting.some(({ key }) => key === message.key)) waiting.push(message);
      bell.resolve();
    },
    async take(run) {
      const messages = waiting;
      waiting = [];
      bell = Promise.withResolvers();
      const facts: FactBody[] = [];
      const problems: unknown[] = [];
      const keys: string[] = [];
      for (const message of messages) {
        if (message.key !== undefined) {
          if (run.done) continue; // nothing is said after the end
          keys.push(message.key);
        }
        try {
          await message.check?.(run);
          const said = message.factsFor(run);
          // What is heard leaves a trace, or it would be heard again after a crash.
          facts.push(
            ...(message.key !== undefined && said.length === 0 ? [ignored("It changes nothing.")] : said),
          );
        } catch (problem) {
          if (message.key === undefined) problems.push(problem);
          else facts.push(ignored(describeThrown(problem, "invalid_input").message));
        }
      }
      return { facts, problems, keys };
    },
    isEmpty: () => waiting.length === 0,
    rung: () => bell.promise,
    close() {
      closed = true;
    },
    reopen() {
      closed = false;
    },
    isClosed: () => closed,
  };
}

function ignored(why: string): FactBody {
  return {
    type: "warning",
    code: "message_ignored",
    message: `What the run was told was not heeded. ${why}`,
  };
}

export function cancelling(reason: string): Message {
  return { factsFor: (run) => (run.done ? [] : [{ type: "cancel_requested", reason }]) };
}

export function steering(text: string): Message {
  return {
    factsFor(run) {
      if (run.done)
        throw new AgentError(
          "run_ended",
          `The run "${run.id}" has ended (${run.done.status}): start a new one in its session.`,
        );
      return [{ type: "steered", entry: { type: "user", content: text } }];
    },
  };
}

/** What a person says to a call that waits: yes, with a value if the tool asked for one, or no. */
export type CallDecision =
  | { readonly approved: true; readonly value?: Json }
  | { readonly approved: false; readonly reason?: string };

/** The same decision twice is one decision; a contrary one is refused. Of a call that asks again, each question counts. */
export function resolving(agents: Agents, callId: string, decision: CallDecision): Message {
  return {
    factsFor(run) {
      const earlier = run.approvals.get(callId);
      if (earlier && !isPending(agents, run, callId)) {
        if (isContrary(earlier, decision)) throw contrary(callId, earlier);
        return [];
      }
      const { question } = pendingCall(agents, run, { callId, needs: "approval" });
      if (!question && decision.approved && decision.value !== undefined)
        throw new AgentError(
          "invalid_input",
          `The call "${callId}" waits for a yes or no: approve it without a value.`,
        );
      const number = findRunByCall(run, callId)?.currentTurn?.calls.get(callId)?.questions.length;
      return [
        {
          type: "approval_resolved",
          callId,
          ...decision,
          ...(question && number !== undefined && { number }),
        },
      ];
    },
    async check(run) {
      if (!decision.approved || !isPending(agents, run, callId)) return;
      const { name, question } = pendingCall(agents, run, { callId, needs: "approval" });
      if (!question?.schema) return;
      const schema = toSchema(question.schema, { owner: `a question of "${name}"` });
      assertValid(
        await schema.validate(decision.value ?? null),
        `does not answer the question of "${name}"`,
        callId,
      );
    },
  };
}

/** A value is a part of the decision. */
export function isContrary(earlier: CallDecision, decision: CallDecision): boolean {
  if (!earlier.approved || !decision.approved) return earlier.approved !== decision.approved;
  return toCanonicalJson(earlier.value ?? null) !== toCanonicalJson(decision.value ?? null);
}

export function contrary(callId: string, { approved }: CallDecision): AgentError {
  const verb = approved ? "approved" : "denied";
  return new AgentError("approval_conflict", `The call "${callId}" has already been ${verb}.`);
}

/** What a client gives as the result of a call that it ran itself. */
export function answering(agents: Agents, callId: string, value: unknown): Message {
  if (typeof (value as { then?: unknown } | undefined)?.then === "function")
    throw new AgentError("invalid_input", `The answer to the call "${callId}" is a promise: await it first.`);
  const { status, content, binary: _, ...rest } = toOutcome(value);
  const toolIn = (run: RunState, name: string) => {
    const agent = findAgentByCall(agents, run, callId);
    return agent && findTool(agent, name);
  };
  return {
    factsFor(run) {
      const { name } = pendingCall(agents, run, { callId, needs: "answer" });
      const reads = getLabels(toolIn(run, name) ?? {});
      return [
        {
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
        },
      ];
    },
    async check(run) {
      const { name } = pendingCall(agents, run, { callId, needs: "answer" });
      const { outputSchema } = toolIn(run, name) ?? {};
      if (!outputSchema || status !== "ok") return;
      assertValid(
        await outputSchema.validate(rest.data ?? content),
        `is not what "${name}" promises`,
        callId,
      );
    },
  };
}

function assertValid(result: Validation, problem: string, callId: string): void {
  if (result.valid) return;
  const issues = result.issues.slice(0, 10).join("; ");
  throw new AgentError(
    "invalid_input",
    `This ${problem} (call "${callId}"): ${issues}. It still waits: give a value that is valid by its schema.`,
  );
}

function isPending(agents: Agents, run: RunState, callId: string): boolean {
  return listPendingCalls(agents, run).some((call) => call.callId === callId && call.needs === "approval");
}

type Wanted = { readonly callId: string; readonly needs: PendingCall["needs"] };

function pendingCall(agents: Agents, run: RunState, { callId, needs }: Wanted): PendingCall {
  const pending = listPendingCalls(agents, run).filter((call) => call.needs === needs);
  const call = pending.find((one) => one.callId === callId);
  if (call) return call;
  const known = pending.map((one) => `"${one.callId}"`).join(", ") || "none";
  throw new AgentError(
    "unknown_call",
    `The call "${callId}" is not waiting for an ${needs}; waiting: ${known}.`,
  );
}
