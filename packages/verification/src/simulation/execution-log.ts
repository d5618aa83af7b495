import type { ToolContext } from "capstan";
import type { AuditedStore } from "./audited-store.ts";
import { toolKinds } from "./plan.ts";
import type { World } from "./world.ts";

export type ToolExecution = {
  readonly worker: string;
  readonly token: number | undefined;
  readonly key: string;
  readonly answerCount: number;
  /** True if the call was executed before. */
  readonly isRepeat: boolean;
  readonly signal: AbortSignal;
  outcome: "ok" | "failed" | "asked" | undefined;
};

type ToolCaller = { readonly worker: string; readonly tool: string };

/** Records every tool execution: side effects that no store can undo. */
export interface ExecutionLog {
  begin(doer: ToolCaller, context: ToolContext): ToolExecution;
  /** Compares the executions with the results in the log. */
  compareWithFacts(): void;
}

export function createExecutionLog(world: World, audited: AuditedStore): ExecutionLog {
  const byCall = new Map<string, ToolExecution[]>();
  return {
    begin({ worker, tool }, { runId, sessionId, callId, idempotencyKey, answers, signal }) {
      const id = `${runId}/${callId}`;
      const earlier = byCall.get(id) ?? [];
      const lease = audited.leases.findHolder(sessionId);
      // A process that has not noticed the loss of its lease cannot be stopped from executing.
      const isStale = lease?.worker !== worker;
      const execution: ToolExecution = {
        worker,
        token: isStale ? undefined : lease.token,
        key: idempotencyKey,
        answerCount: answers.length,
        isRepeat: earlier.length > 0,
        signal,
        outcome: undefined,
      };
      world.log(worker, `executes ${tool} ${id}${isStale ? " without the lease" : ""}`);
      const call = audited.facts.runs.get(runId)?.calls.get(callId);
      if (!call || call.starts === 0) world.reportViolation("a tool runs after its intent is stored", id);
      if (toolKinds[tool]?.needsApproval && !call?.isAllowed)
        world.reportViolation("no call runs without its approval", id);
      if (call?.result && !isStale) world.reportViolation("a completed step is never performed again", id);
      if (earlier.some(({ key }) => key !== execution.key))
        world.reportViolation("a call keeps its idempotency key", id);
      if (
        !toolKinds[tool]?.repeatable &&
        earlier.some(({ answerCount }) => answerCount === execution.answerCount)
      )
        world.reportViolation("a non-repeatable call is executed at most once", id);
      const isStillRunning = earlier.some(
        (execution) =>
          !execution.outcome && !execution.signal.aborted && audited.leases.wasReleased(execution.token),
      );
      if (isStillRunning) world.reportViolation("no effect is in progress when its lease is released", id);
      checkSolitude(world, audited, { worker, runId });
      byCall.set(id, [...earlier, execution]);
      return execution;
    },
    compareWithFacts() {
      for (const { runId, calls } of audited.facts.runs.values())
        for (const [callId, { name, result }] of calls) {
          const executions = byCall.get(`${runId}/${callId}`) ?? [];
          const detail = `${name} ${runId}/${callId} is ${result?.status}; executions: ${executions.length}`;
          const isBegun = executions.length > 0;
          if (isBegun && result && (result.status === "skipped" || result.status === "denied"))
            world.reportViolation("a started call is never reported as skipped or denied", detail);
          if (
            result?.status === "ok" &&
            !toolKinds[name]?.byClient &&
            !executions.some(({ outcome }) => outcome === "ok")
          )
            world.reportViolation("no call is reported as done that was not executed", detail);
          if (
            result?.status === "error" &&
            result.error?.code === "tool_failed" &&
            !isBegun &&
            name !== "missing"
          )
            world.reportViolation("no call is reported as done that was not executed", detail);
        }
    },
  };
}

/** Checks that no other run executes in a process while a suspect is alone in it. */
export function checkSolitude(
  world: World,
  { facts, leases }: AuditedStore,
  { worker, runId }: { readonly worker: string; readonly runId: string },
): void {
  for (const { sessionId, runId: suspect } of facts.runs.values()) {
    const lease = leases.findHolder(sessionId);
    if (suspect === runId || lease?.worker !== worker || !lease.hasRecovered) continue;
    const { run } = facts.getSession(sessionId).state;
    if (run?.id === suspect && run.isAlone && !run.done)
      world.reportViolation("a suspect is alone in its process", `${suspect} beside ${runId} in ${worker}`);
  }
}
