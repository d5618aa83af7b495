import { handoffName } from "../../kernel/agent.ts";
import { recordCall, toCallRecord, toResultEntry } from "../../kernel/complete-turn.ts";
import { createContextSize } from "../../kernel/context-size.ts";
import type { Fact } from "../../kernel/event.ts";
import type { ResultEntry } from "../../kernel/history.ts";
import { findStricter } from "../../kernel/policy.ts";
import { addLabels, listReads } from "../../kernel/provenance.ts";
import type { Call, HandoffFrame, RunState, State } from "../../kernel/state.ts";

type FactOf<Type extends Fact["type"]> = Extract<Fact, { type: Type }>;

/** Puts the target in charge. In mode `return`, the agent that handed off waits for its answer. */
export function applyHandoff(state: State, run: RunState, fact: FactOf<"handoff">): void {
  const { from, to, callId, mode, rights, reads = [] } = fact;
  const call = run.currentTurn?.calls.get(callId);
  if (!call) return;
  countHandoff(run, from, to);
  run.handoffCalls.add(callId);
  addLabels(state.labels, reads, { tool: handoffName, turn: run.turn, input: { from, to } });
  if (mode === "return") suspendAgent(state, run, call);
  else call.handedTo = to;
  run.agent = to;
  run.instructions = undefined;
  run.invalidOutputs = 0;
  if (rights) run.policy = { ...run.policy, ...findStricter(run.policy, rights) };
}

/** Adds the turn to the history with a placeholder result, for the target to read; the answer replaces it later. */
function suspendAgent(state: State, run: RunState, call: Call): void {
  const { currentTurn: turnState, agent, instructions, policy, invalidOutputs } = run;
  if (!turnState) return;
  const base = state.history.length;
  const context = { ...state.context };
  const compactions = run.compactions.count;
  const frame = { agent, call, turnState, base, context, compactions, instructions, policy, invalidOutputs };
  run.handoffs.push({ ...frame, returned: undefined });
  if (turnState.message) state.history.push(turnState.message);
  for (const other of turnState.calls.values()) {
    state.history.push(other.result ?? createPendingResult(other, agent));
    recordCall(state, run, { turnState, call: other });
  }
  run.currentTurn = undefined;
}

function createPendingResult({ part }: Call, agent: string): ResultEntry {
  const to = JSON.stringify(part.input.agent);
  const content = `You are now ${to}. Do what is asked here; your answer goes back to ${JSON.stringify(agent)}.`;
  return { type: "result", callId: part.id, name: part.name, status: "ok", content };
}

/** Counts handoffs back and forth between two agents without a tool call in between. */
function countHandoff(run: RunState, from: string, to: string): void {
  const { lastHandoff, startedCalls } = run;
  const isBack =
    lastHandoff?.from === to && lastHandoff.to === from && lastHandoff.startedCalls === startedCalls;
  run.lastHandoff = { from, to, startedCalls, count: isBack ? lastHandoff.count + 1 : 1 };
}

/** Records that the target answered or handed back. The result of the original call follows as its own fact. */
export function applyHandoffReturn(_: State, run: RunState, fact: FactOf<"handoff_return">): void {
  const { from, to, text, data, error, by } = fact;
  const frame = run.handoffs.at(-1);
  if (!frame) return;
  frame.returned = { text, ...(data !== undefined && { data }), ...(error && { error }) };
  const call = by === undefined ? undefined : run.currentTurn?.calls.get(by);
  if (!call) return;
  call.handedTo = to;
  countHandoff(run, from, to);
  run.handoffCalls.add(call.part.id);
}

/** Settles the call that handed off: when the target returns, or when the run ends before that. */
export function settleHandoff(
  state: State,
  run: RunState,
  { frame, fact }: { readonly frame: HandoffFrame; readonly fact: FactOf<"tool_call_result"> },
): void {
  const { call } = frame;
  if (call.result) return;
  addLabels(state.labels, fact.reads ?? [], { tool: fact.name, turn: run.turn, input: call.part.input });
  // The target wrote the answer, and had read the whole conversation.
  const reads = frame.returned ? listReads(state.labels) : [];
  call.result = { ...toResultEntry(fact), ...(reads.length > 0 && { reads }) };
  call.record = toCallRecord(fact, call.part.input);
  if (frame.returned && frame === run.handoffs.at(-1)) restoreAgent(state, run, frame);
}

/** Puts the waiting agent back in charge. Its history has the answer in place of the target's turns. */
function restoreAgent(state: State, run: RunState, frame: HandoffFrame): void {
  const { agent, turnState, base, instructions, policy, invalidOutputs, call } = frame;
  run.handoffs.pop();
  Object.assign(run, { agent, currentTurn: turnState, instructions, policy, invalidOutputs });
  turnState.unsettled = 0;
  // Users steer the run, not one agent, so keep their messages.
  const userEntries = state.history.slice(base).filter(({ type }) => type === "user");
  const results = [...turnState.calls.values()].flatMap(({ result }) => result ?? []);
  const message = turnState.message ? [turnState.message] : [];
  state.history = [...state.history.slice(0, base), ...message, ...results, ...userEntries];
  state.context = run.compactions.count === frame.compactions ? { ...frame.context } : createContextSize();
  recordCall(state, run, { turnState, call });
}

/** Ends a run while a target is in charge: keeps the target's turns and replaces the placeholder results. */
export function endHandoffs(state: State, run: RunState): void {
  if (run.handoffs.length === 0) return;
  for (const { call, turnState } of run.handoffs) {
    const index = state.history.findLastIndex(
      (entry) => entry.type === "result" && entry.callId === call.part.id,
    );
    if (call.result && index !== -1) state.history = state.history.with(index, call.result);
    recordCall(state, run, { turnState, call });
  }
  run.interruptedHandoffs = run.handoffs;
  run.handoffs = [];
}

/** Takes `endHandoffs` back: the target's answer will be the result of the call that handed off. */
export function restoreHandoffs(state: State, run: RunState): void {
  for (const { agent, call } of run.interruptedHandoffs) {
    const index = state.history.findLastIndex(
      (entry) => entry.type === "result" && entry.callId === call.part.id,
    );
    if (index !== -1) state.history = state.history.with(index, createPendingResult(call, agent));
    const recordIndex = run.toolCalls.findLastIndex(({ id }) => id === call.part.id);
    if (recordIndex !== -1) run.toolCalls.splice(recordIndex, 1);
    call.result = undefined;
    call.record = undefined;
  }
  run.handoffs = run.interruptedHandoffs;
  run.interruptedHandoffs = [];
}
