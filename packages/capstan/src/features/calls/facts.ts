import { completeTurn, toCallKey, toCallRecord, toResultEntry } from "../../kernel/complete-turn.ts";
import type { FactOf, FactRows } from "../../kernel/fact-row.ts";
import { addLabels, listReads } from "../../kernel/provenance.ts";
import { clearCrashes, type RunState, type State } from "../../kernel/state.ts";
import { withEditNote } from "../approvals/edit-call.ts";
import { settleHandoff } from "../handoffs/fold.ts";
import { isHosted, settleHosted, startHosted } from "../hosted/fold.ts";
import { addDiscovered } from "../tool-search/discovered-tools.ts";

/** Both facts have the id of their call; `identifyFact` distinguishes start and result. */
export const callFacts: FactRows<"tool_call_start" | "tool_call_result"> = {
  tool_call_start: {
    id: ({ id }) => id,
    fold: (state, run, fact) =>
      (fact.hosted && isHosted(run, fact) ? startHosted : startCall)(state, run, fact),
  },
  tool_call_result: {
    id: ({ id }) => id,
    fold: (state, run, fact) =>
      (fact.hosted && isHosted(run, fact) ? settleHosted : settleCall)(state, run, fact),
  },
};

function startCall(state: State, run: RunState, fact: FactOf<"tool_call_start">): void {
  const call = run.currentTurn?.calls.get(fact.id);
  if (fact.attempt === 1 && !call?.check?.error) run.startedCalls += 1;
  if (call) call.attempt = fact.attempt;
  else {
    // The model did not make this call: it is the fallback tool.
    state.callIds.add(fact.id);
    run.fallback = { input: fact.arguments, attempt: fact.attempt, result: undefined };
  }
}

function settleCall(state: State, run: RunState, fact: FactOf<"tool_call_result">): void {
  const { currentTurn } = run;
  const frame = run.handoffs.findLast(({ call }) => call.part.id === fact.id);
  if (frame) {
    settleHandoff(state, run, { frame, fact });
    return;
  }
  const call = currentTurn?.calls.get(fact.id);
  if (fact.reads && !call?.result) {
    const input = call?.part.input ?? run.fallback?.input ?? {};
    addLabels(state.labels, fact.reads, { tool: fact.name, turn: run.turn, input });
  }
  if (!currentTurn || !call) {
    const record = toCallRecord(fact, run.fallback?.input ?? {});
    run.toolCalls.push(record);
    if (run.fallback) run.fallback.result = record;
    return;
  }
  if (call.result) return;
  clearCrashes(run);
  // The tool may return what the model has passed to it.
  if (fact.handle !== undefined) state.handles.set(fact.handle, listReads(state.labels));
  if (fact.discovered) addDiscovered(state, fact);
  if (fact.cacheUntil !== undefined) state.cache.set(toCallKey(call.part), fact);
  const result = toResultEntry(fact);
  call.result = call.approval?.edit ? withEditNote(result, call) : result;
  call.record = toCallRecord(fact, call.part.input);
  currentTurn.unsettled -= 1;
  if (currentTurn.unsettled === 0) completeTurn(state, run, currentTurn);
}
