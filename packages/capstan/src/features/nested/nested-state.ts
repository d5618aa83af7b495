import type { Fact } from "../../kernel/event.ts";
import type { Usage } from "../../kernel/model.ts";
import {
  addUsage,
  clearCrashes,
  createState,
  listAncestors,
  type RunState,
  type State,
  updateWaitedTime,
} from "../../kernel/state.ts";
import { deliverResult } from "./progress.ts";

/** Returns the state of the outermost run. */
export function getRootState(state: State): State {
  let root = state;
  while (root.run?.parent) root = root.run.parent.state;
  return root;
}

/** Finds the state of a run among this one and its unfinished nested runs. */
export function findRunState(state: State, runId: string): State | undefined {
  if (state.run?.id === runId) return state;
  for (const child of state.run?.nested.values() ?? []) {
    const found = findRunState(child, runId);
    if (found) return found;
  }
  return undefined;
}

/** Finds the run whose current turn has the call, among this one and its nested runs. */
export function findRunByCall(run: RunState, callId: string): RunState | undefined {
  if (run.currentTurn?.calls.has(callId)) return run;
  for (const child of run.nested.values()) {
    const found = child.run && findRunByCall(child.run, callId);
    if (found) return found;
  }
  return undefined;
}

/** Returns the run and its unfinished nested runs. */
export function listActiveRuns(run: RunState): RunState[] {
  if (run.nested.size === 0) return [run];
  const nested = [...run.nested.values()].flatMap((state) => state.run ?? []);
  return [run, ...nested.filter((nestedRun) => !nestedRun.done).flatMap(listActiveRuns)];
}

/** Whether the call's nested run waits: for an answer from the user or the client, or for its model's provider. */
export function isNestedRunWaiting(run: RunState, callId: string): boolean {
  const child = run.nested.get(callId)?.run;
  if (!child?.waiting || child.done || child.isBackground) return false;
  if (child.wakeAt !== undefined) return true;
  // In a copied session, all open calls may be refused, and then the run does not wait.
  return [...(child.currentTurn?.calls.values() ?? [])].some((call) => !call.result && !call.check?.error);
}

/** Returns the time at which the first of the nested runs that wait for their models resumes. */
export function findNestedWakeTime({ nested }: RunState): number | undefined {
  const times = [...nested.values()].flatMap(({ run }) =>
    run?.waiting && !run.done ? (run.wakeAt ?? []) : [],
  );
  return times.length > 0 ? Math.min(...times) : undefined;
}

/**
 * Folds a fact of a nested run into that run's own state. Its ancestors only track its usage, its calls, its start,
 * its waiting time, and the decisions on its calls.
 */
export function applyNested(state: State, fact: Fact, fold: (state: State, fact: Fact) => void): void {
  const parent = findRunState(state, fact.parentRunId ?? "");
  const callId = fact.parentCallId;
  if (!parent?.run || callId === undefined) return;
  const existing = parent.run.nested.get(callId);
  if (!existing && fact.type !== "run_start") return;
  const child = existing ?? createNestedState(parent);
  if (!existing) parent.run.nested.set(callId, child);
  const before = { startedCalls: child.run?.startedCalls ?? 0, modelCalls: child.run?.modelCalls ?? 0 };
  child.seq = fact.seq;
  child.at = fact.at;
  child.elapsedMs = state.elapsedMs;
  fold(child, fact);
  if (!child.run) return;
  child.run.parent ??= {
    ...{ state: parent, callId },
    name: parent.run.currentTurn?.calls.get(callId)?.part.name,
  };
  const calls = child.run.startedCalls - before.startedCalls;
  const modelCalls = child.run.modelCalls - before.modelCalls;
  const reply = fact.type === "approval_resolved" ? child.run.approvals.get(fact.callId) : undefined;
  const usage = getUsage(fact);
  for (const run of listAncestors(parent.run)) {
    updateWaitedTime(run, fact, state.elapsedMs);
    run.startedCalls += calls;
    run.modelCalls += modelCalls;
    if (!existing) run.startedAgents += 1;
    if (usage) run.usage = addUsage(run.usage, usage);
    if (["message", "message_partial", "tool_call_result"].includes(fact.type)) clearCrashes(run);
    if (fact.type === "approval_resolved" && reply) run.approvals.set(fact.callId, reply);
  }
  if (fact.type === "done" && child.run.isBackground) deliverResult(parent, callId);
}

/** Creates a state with an empty history and the parent's labels, because its input comes from the parent. */
function createNestedState({ sessionId, callIds, numbers, handles, labels }: State): State {
  return {
    ...createState(sessionId),
    callIds,
    numbers,
    handles,
    labels: { untrusted: [...labels.untrusted], private: [...labels.private] },
  };
}

function getUsage(fact: Fact): Usage | undefined {
  switch (fact.type) {
    case "message":
    case "message_partial":
      return addUsage(fact.usage, fact.retryUsage);
    case "model_failed":
    case "compacted":
    case "turn_summary":
      return fact.usage;
    default:
      return undefined;
  }
}
