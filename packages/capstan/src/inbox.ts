import type { Agents } from "./agent.ts";
import { toolOf } from "./builtin-tools.ts";
import { AgentError } from "./errors.ts";
import type { FactBody } from "./event.ts";
import { labelsOf } from "./labels.ts";
import { outcomeOf } from "./perform/outcome.ts";
import { type PendingCall, pendingCalls } from "./result.ts";
import type { RunState } from "./state.ts";

/** Something told to a run from outside: what it becomes once the state is known. Throws when it makes no sense. */
export type Message = (run: RunState) => readonly FactBody[];

/** What has been told and not been heard yet. */
export interface Inbox {
  /** Throws `run_ended` once it is closed. */
  put(message: Message): void;
  /** The facts of all that is waiting, which is then waiting no more, and why some of it makes no sense. */
  take(run: RunState): { readonly facts: readonly FactBody[]; readonly problems: readonly unknown[] };
  isEmpty(): boolean;
  /** Resolves as soon as something is waiting. */
  rung(): Promise<void>;
  /** The run ends: whatever comes now is refused. */
  close(): void;
  reopen(): void;
  isClosed(): boolean;
}

export function inbox(): Inbox {
  let waiting: Message[] = [];
  let bell = Promise.withResolvers<void>();
  let closed = false;
  return {
    put(message) {
      if (closed) throw new AgentError("run_ended", "The run has ended: start a new one in its session.");
      waiting.push(message);
      bell.resolve();
    },
    take(run) {
      const messages = waiting;
      waiting = [];
      bell = Promise.withResolvers();
      const facts: FactBody[] = [];
      const problems: unknown[] = [];
      for (const message of messages) {
        try {
          facts.push(...message(run));
        } catch (problem) {
          problems.push(problem);
        }
      }
      return { facts, problems };
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

export function cancelling(reason: string): Message {
  return (run) => (run.done ? [] : [{ type: "cancel_requested", reason }]);
}

export function steering(text: string): Message {
  return (run) => {
    if (run.done)
      throw new AgentError(
        "run_ended",
        `The run "${run.id}" has ended (${run.done.status}): start a new one in its session.`,
      );
    return [{ type: "steered", entry: { type: "user", content: text } }];
  };
}

/** The same decision twice is one decision; a contrary one is refused. */
export function resolving(
  agents: Agents,
  callId: string,
  decision: { approved: boolean; reason?: string },
): Message {
  return (run) => {
    const earlier = run.approvals.get(callId);
    if (earlier === decision.approved) return [];
    if (earlier !== undefined) throw contrary(callId, earlier);
    pendingCall(agents, run, { callId, needs: "approval" });
    return [{ type: "approval_resolved", callId, ...decision }];
  };
}

export function contrary(callId: string, approved: boolean): AgentError {
  const verb = approved ? "approved" : "denied";
  return new AgentError("approval_conflict", `The call "${callId}" has already been ${verb}.`);
}

export function answering(agents: Agents, callId: string, value: unknown): Message {
  return (run) => {
    const { name } = pendingCall(agents, run, { callId, needs: "answer" });
    const { status, content, ...rest } = outcomeOf(value);
    const agent = agents.get(run.agent);
    const reads = labelsOf((agent && toolOf(agent, name)) ?? {});
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
  };
}

type Wanted = { readonly callId: string; readonly needs: PendingCall["needs"] };

function pendingCall(agents: Agents, run: RunState, { callId, needs }: Wanted): PendingCall {
  const pending = pendingCalls(agents, run).filter((call) => call.needs === needs);
  const call = pending.find((one) => one.callId === callId);
  if (call) return call;
  const known = pending.map((one) => `"${one.callId}"`).join(", ") || "none";
  throw new AgentError(
    "unknown_call",
    `The call "${callId}" is not waiting for an ${needs}; waiting: ${known}.`,
  );
}
