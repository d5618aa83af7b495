import type { Fact } from "../kernel/event.ts";
import { getCalls } from "../kernel/history.ts";
import { identifyFact } from "../kernel/ids.ts";
import { isNested } from "../runtime/load-facts.ts";

/** Returns a check of the facts of a session, one after the other: each call returns the problem with the next fact. */
export function createOrderCheck(): (fact: Fact) => string | undefined {
  const seenFacts = new Set<string>();
  const findRunProblem = createRunCheck();
  const findCallProblem = createCallCheck();
  let previous: Fact | undefined;
  return (fact) => {
    const seq = (previous?.seq ?? 0) + 1;
    if (fact.seq !== seq) return `expected seq ${seq}, got ${fact.seq}`;
    if (fact.sessionId !== (previous ?? fact).sessionId) return "it belongs to another session";
    if (seenFacts.has(identifyFact(fact))) return "it is a duplicate";
    seenFacts.add(identifyFact(fact));
    const problem = findRunProblem(fact, previous) ?? findCallProblem(fact);
    previous = fact;
    return problem;
  };
}

/** Checks that runs follow one another, and that nested runs are within their parents. */
function createRunCheck(): (fact: Fact, previous: Fact | undefined) => string | undefined {
  const startedRuns = new Set<string>();
  const openNestedRuns = new Set<string>();
  let openRunId: string | undefined;

  function findNestedProblem(fact: Fact): string | undefined {
    const { type, runId, parentRunId = "" } = fact;
    const isExpected = type === "run_start" ? !startedRuns.has(runId) : openNestedRuns.has(runId);
    const isParentOpen = parentRunId === openRunId || openNestedRuns.has(parentRunId);
    if (!isExpected || !isParentOpen) return "it does not belong to an active nested run";
    startedRuns.add(runId);
    openNestedRuns.add(runId);
    if (type === "done") openNestedRuns.delete(runId);
    return undefined;
  }

  return (fact, previous) => {
    const { type, runId } = fact;
    if (isNested(fact)) return findNestedProblem(fact);
    if (type === "run_start") {
      if (openRunId !== undefined) return `the previous run "${openRunId}" has not ended`;
      if (startedRuns.has(runId)) return `the run "${runId}" starts twice`;
      startedRuns.add(runId);
      openRunId = runId;
    } else if (type === "retried") {
      if (previous?.type !== "done" || previous.runId !== runId || !previous.canRetry)
        return "it does not follow the end of a run that can be retried";
      openRunId = runId;
    } else if (runId !== openRunId) return "it does not belong to an active run";
    if (type !== "done") return undefined;
    openRunId = undefined;
    openNestedRuns.clear();
    return undefined;
  };
}

/**
 * Checks that facts about a call follow the call: otherwise they would decide about a call that the model makes only
 * after the import.
 */
function createCallCheck(): (fact: Fact) => string | undefined {
  const callers = new Map<string, string>();
  const nestedRuns = new Map<string, string>();
  const retries = new Map<string, number>();
  const findUnknown = (callId: string, runId: string) =>
    callers.get(callId) === runId ? undefined : `its run has not made the call "${callId}"`;

  function findParentProblem({ runId, parentRunId, parentCallId }: Fact): string | undefined {
    if (parentRunId === undefined) return undefined;
    if (parentCallId === undefined) return "it does not belong to an active nested run";
    const known = nestedRuns.get(parentCallId) ?? runId;
    nestedRuns.set(parentCallId, runId);
    return known === runId
      ? findUnknown(parentCallId, parentRunId)
      : `the call "${parentCallId}" has another nested run`;
  }

  function findBodyProblem(fact: Fact): string | undefined {
    const { runId } = fact;
    switch (fact.type) {
      case "message":
        for (const { id } of getCalls(fact.entry)) {
          if (callers.has(id)) return `the call "${id}" was made before`;
          callers.set(id, runId);
        }
        return undefined;
      case "tool_call_start":
        // The model does not make the call of the fallback tool.
        if (!callers.has(fact.id)) callers.set(fact.id, runId);
        return findUnknown(fact.id, runId);
      case "tool_call_result":
        if ((fact.retry ?? 0) > (retries.get(runId) ?? 0)) return "its run has not been retried that often";
        return findUnknown(fact.id, runId);
      case "approval_required":
      case "approval_resolved":
      case "handoff":
      case "handoff_denied":
      case "handoff_return":
        return findUnknown(fact.callId, runId);
      case "cancel_requested":
        return fact.callId === undefined ? undefined : findUnknown(fact.callId, runId);
      case "retried":
        retries.set(runId, (retries.get(runId) ?? 0) + 1);
        return undefined;
      default:
        return undefined;
    }
  }

  return (fact) => findParentProblem(fact) ?? findBodyProblem(fact);
}
