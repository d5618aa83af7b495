import type { Fact } from "../event.ts";
import { addLabels, type Labels } from "../labels.ts";
import type { Usage } from "../model.ts";
import type { Reads } from "../tool.ts";
import { addFragment } from "./citations.ts";
import {
  addUsage,
  type Call,
  createState,
  listAncestors,
  type RunState,
  type State,
  updateWaitedTime,
} from "./state.ts";

/** The state that the person talks to: of the run that is nested in no other. */
export function getRootState(state: State): State {
  let outer = state;
  while (outer.run?.parent) outer = outer.run.parent.state;
  return outer;
}

/** The state of a run, or of one that is nested in it and not over yet. */
export function findRunState(state: State, runId: string): State | undefined {
  if (state.run?.id === runId) return state;
  for (const child of state.run?.nested.values() ?? []) {
    const found = findRunState(child, runId);
    if (found) return found;
  }
  return undefined;
}

/** The run, among this one and those nested in it, whose turn has the call. */
export function findRunByCall(run: RunState, callId: string): RunState | undefined {
  if (run.currentTurn?.calls.has(callId)) return run;
  for (const child of run.nested.values()) {
    const found = child.run && findRunByCall(child.run, callId);
    if (found) return found;
  }
  return undefined;
}

/** Whether the call is in the hands of a nested run that only an answer from outside can move. */
export function isNestedRunWaiting(run: RunState, callId: string): boolean {
  const child = run.nested.get(callId)?.run;
  if (!child?.waiting || child.done) return false;
  // Of a copy of a session, open calls may be refused: then there is nothing to wait for.
  return [...(child.currentTurn?.calls.values() ?? [])].some((call) => !call.result && !call.check?.error);
}

/**
 * Folds a fact of a nested run into that run's own state. Those above it only learn what it spends, that time passes,
 * and what people said to its calls.
 */
export function applyNested(state: State, fact: Fact, fold: (state: State, fact: Fact) => void): void {
  const parent = findRunState(state, fact.parentRunId ?? "");
  const callId = fact.parentCallId;
  if (!parent?.run || callId === undefined) return;
  const known = parent.run.nested.get(callId);
  if (!known && fact.type !== "run_start") return;
  const child = known ?? createNestedState(parent);
  if (!known) parent.run.nested.set(callId, child);
  const begun = child.run?.startedCalls ?? 0;
  child.seq = fact.seq;
  fold(child, fact);
  if (!child.run) return;
  child.run.parent ??= { state: parent, callId };
  const calls = child.run.startedCalls - begun;
  const reply = fact.type === "approval_resolved" ? child.run.approvals.get(fact.callId) : undefined;
  const usage = getUsage(fact);
  for (const run of listAncestors(parent.run)) {
    updateWaitedTime(run, fact);
    run.startedCalls += calls;
    if (usage) run.usage = addUsage(run.usage, usage);
    if (fact.type === "message" || fact.type === "tool_call_result") run.recoveries = 0;
    if (fact.type === "approval_resolved" && reply) run.approvals.set(fact.callId, reply);
  }
}

/** An empty history, and what the caller knows is not to be trusted: its words come from there. */
function createNestedState({ sessionId, callIds, numbers, labels }: State): State {
  return {
    ...createState(sessionId),
    callIds,
    numbers,
    labels: { untrusted: [...labels.untrusted], private: [...labels.private] },
  };
}

function getUsage(fact: Fact): Usage | undefined {
  if (fact.type === "message" || fact.type === "compacted" || fact.type === "turn_summary") return fact.usage;
  return undefined;
}

/** The call is over: what its nested run found and changed is the caller's too, and what it read taints the caller. */
export function mergeNestedRun(state: State, run: RunState, { part }: Call): void {
  const child = run.nested.get(part.id);
  if (!child) return;
  run.nested.delete(part.id);
  for (const fragment of child.fragments.values()) addFragment(state, fragment);
  run.affected.push(...(child.run?.affected ?? []));
  const missing = listReads(child.labels).filter((label) => state.labels[label].length === 0);
  addLabels(state.labels, missing, { tool: part.name, turn: run.turn, input: part.input });
}

/** The kinds of labels that there are. */
export function listReads(labels: Labels): readonly Exclude<Reads, "public">[] {
  return (["untrusted", "private"] as const).filter((label) => labels[label].length > 0);
}
