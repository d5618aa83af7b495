import { handoffName } from "../agent.ts";
import type { Fact } from "../event.ts";
import type { ResultEntry } from "../history.ts";
import { addLabels } from "../labels.ts";
import { noteCall, recordOf, resultEntry } from "./complete-turn.ts";
import { noContext } from "./context-size.ts";
import type { Call, Frame, RunState, State } from "./state.ts";

type FactOf<Type extends Fact["type"]> = Extract<Fact, { type: Type }>;

/** Another agent is in charge from here on. In mode `return` the one that handed over waits for its answer. */
export function handOver(state: State, run: RunState, fact: FactOf<"handoff">): void {
  const { from, to, callId, mode, rights, reads = [] } = fact;
  const call = run.round?.calls.get(callId);
  if (!call) return;
  countPassing(run, from, to);
  run.handoffCalls.add(callId);
  addLabels(state.labels, reads, { tool: handoffName, turn: run.turn, input: { from, to } });
  if (mode === "return") wait(state, run, call);
  else call.handedTo = to;
  run.agent = to;
  run.instructions = undefined;
  run.formless = 0;
  if (rights) run.policy = { ...run.policy, ...rights };
}

/** The round joins the history as if its call had been answered, for the specialist to read; the answer takes that place. */
function wait(state: State, run: RunState, call: Call): void {
  const { round, agent, instructions, policy, formless } = run;
  if (!round) return;
  const base = state.history.length;
  const context = { ...state.context };
  const compactions = run.compactions.count;
  const frame = { agent, call, round, base, context, compactions, instructions, policy, formless };
  run.handoffs.push({ ...frame, returned: undefined });
  if (round.message) state.history.push(round.message);
  for (const other of round.calls.values()) {
    state.history.push(other.result ?? openResult(other, agent));
    noteCall(state, run, { round, call: other });
  }
  run.round = undefined;
}

function openResult({ part }: Call, agent: string): ResultEntry {
  const to = JSON.stringify(part.input.agent);
  const content = `You are now ${to}. Do what is asked here; your answer goes back to ${JSON.stringify(agent)}.`;
  return { type: "result", callId: part.id, name: part.name, status: "ok", content };
}

/** Two agents that pass the conversation to and fro with nothing new in between. */
function countPassing(run: RunState, from: string, to: string): void {
  const { passing, begun } = run;
  const isBack = passing?.from === to && passing.to === from && passing.begun === begun;
  run.passing = { from, to, begun, count: isBack ? passing.count + 1 : 1 };
}

/** The specialist has answered, or hands back with a call of its own. The result of the first call follows. */
export function handBack(_: State, run: RunState, fact: FactOf<"handoff_return">): void {
  const { from, to, text, data, error, by } = fact;
  const frame = run.handoffs.at(-1);
  if (!frame) return;
  frame.returned = { text, ...(data !== undefined && { data }), ...(error && { error }) };
  const call = by === undefined ? undefined : run.round?.calls.get(by);
  if (!call) return;
  call.handedTo = to;
  countPassing(run, from, to);
  run.handoffCalls.add(call.part.id);
}

/** The result of a call that handed over. It comes at the return, or at the end of a run that ends before. */
export function settleHandoff(
  state: State,
  run: RunState,
  { frame, fact }: { readonly frame: Frame; readonly fact: FactOf<"tool_call_result"> },
): void {
  const { call } = frame;
  if (call.result) return;
  call.result = resultEntry(fact);
  call.record = recordOf(fact, call.part.input);
  addLabels(state.labels, fact.reads ?? [], { tool: fact.name, turn: run.turn, input: call.part.input });
  if (frame.returned && frame === run.handoffs.at(-1)) resume(state, run, frame);
}

/** Whoever waited is in charge again, and sees the answer in the place of what the specialist did. */
function resume(state: State, run: RunState, frame: Frame): void {
  const { agent, round, base, instructions, policy, formless, call } = frame;
  run.handoffs.pop();
  Object.assign(run, { agent, round, instructions, policy, formless });
  round.unsettled = 0;
  // What people said meanwhile was said to the run.
  const words = state.history.slice(base).filter(({ type }) => type === "user");
  const results = [...round.calls.values()].flatMap(({ result }) => result ?? []);
  const said = round.message ? [round.message] : [];
  state.history = [...state.history.slice(0, base), ...said, ...results, ...words];
  state.context = run.compactions.count === frame.compactions ? { ...frame.context } : noContext();
  noteCall(state, run, { round, call });
}

/** A run that ends with a specialist in charge keeps what it did; the calls that handed over have no better answer. */
export function endHandoffs(state: State, run: RunState): void {
  for (const { call, round } of run.handoffs) {
    const place = state.history.findLastIndex(
      (entry) => entry.type === "result" && entry.callId === call.part.id,
    );
    if (call.result && place !== -1) state.history = state.history.with(place, call.result);
    noteCall(state, run, { round, call });
  }
  run.handoffs = [];
}
