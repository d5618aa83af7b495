import { handoffName } from "../agent.ts";
import type { Fact } from "../event.ts";
import type { ResultEntry } from "../history.ts";
import { addLabels } from "../labels.ts";
import { recordCall, toCallRecord, toResultEntry } from "./complete-turn.ts";
import { createContextSize } from "./context-size.ts";
import type { Call, HandoffFrame, RunState, State } from "./state.ts";

type FactOf<Type extends Fact["type"]> = Extract<Fact, { type: Type }>;

/** Another agent is in charge from here on. In mode `return` the one that handed over waits for its answer. */
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
  if (rights) run.policy = { ...run.policy, ...rights };
}

/** The turn joins the history as if its call had been answered, for the specialist to read; the answer takes that place. */
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

/** Two agents that pass the conversation to and fro with nothing new in between. */
function countHandoff(run: RunState, from: string, to: string): void {
  const { lastHandoff: passing, startedCalls: begun } = run;
  const isBack = passing?.from === to && passing.to === from && passing.startedCalls === begun;
  run.lastHandoff = { from, to, startedCalls: begun, count: isBack ? passing.count + 1 : 1 };
}

/** The specialist has answered, or hands back with a call of its own. The result of the first call follows. */
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

/** The result of a call that handed over. It comes at the return, or at the end of a run that ends before. */
export function settleHandoff(
  state: State,
  run: RunState,
  { frame, fact }: { readonly frame: HandoffFrame; readonly fact: FactOf<"tool_call_result"> },
): void {
  const { call } = frame;
  if (call.result) return;
  call.result = toResultEntry(fact);
  call.record = toCallRecord(fact, call.part.input);
  addLabels(state.labels, fact.reads ?? [], { tool: fact.name, turn: run.turn, input: call.part.input });
  if (frame.returned && frame === run.handoffs.at(-1)) restoreAgent(state, run, frame);
}

/** Whoever waited is in charge again, and sees the answer in the place of what the specialist did. */
function restoreAgent(state: State, run: RunState, frame: HandoffFrame): void {
  const { agent, turnState, base, instructions, policy, invalidOutputs, call } = frame;
  run.handoffs.pop();
  Object.assign(run, { agent, currentTurn: turnState, instructions, policy, invalidOutputs });
  turnState.unsettled = 0;
  // What people said meanwhile was said to the run.
  const words = state.history.slice(base).filter(({ type }) => type === "user");
  const results = [...turnState.calls.values()].flatMap(({ result }) => result ?? []);
  const said = turnState.message ? [turnState.message] : [];
  state.history = [...state.history.slice(0, base), ...said, ...results, ...words];
  state.context = run.compactions.count === frame.compactions ? { ...frame.context } : createContextSize();
  recordCall(state, run, { turnState, call });
}

/** A run that ends with a specialist in charge keeps what it did; the calls that handed over have no better answer. */
export function endHandoffs(state: State, run: RunState): void {
  for (const { call, turnState } of run.handoffs) {
    const place = state.history.findLastIndex(
      (entry) => entry.type === "result" && entry.callId === call.part.id,
    );
    if (call.result && place !== -1) state.history = state.history.with(place, call.result);
    recordCall(state, run, { turnState, call });
  }
  run.handoffs = [];
}
