import type { CallCheck } from "../../kernel/call-check.ts";
import { addModelUsage } from "../../kernel/complete-turn.ts";
import { measureHistory } from "../../kernel/context-size.ts";
import type { FactOf, FactRows } from "../../kernel/fact-row.ts";
import { addSteering } from "../../kernel/fold-run.ts";
import { type CallPart, getAnswerText, getCalls } from "../../kernel/history.ts";
import { identifyBySuffix } from "../../kernel/ids.ts";
import { getStopReason } from "../../kernel/model.ts";
import { addPartialMessage } from "../../kernel/partial-message.ts";
import { addSource, findModelProvenance } from "../../kernel/provenance.ts";
import { type Call, noUsage, type RunState, type State } from "../../kernel/state.ts";
import { reserveNumbers } from "../hosted/fold.ts";
import { addProgress } from "../nested/progress.ts";

export const turnFacts: FactRows<"turn_start" | "message" | "message_partial" | "turn_end"> = {
  // A retry continues the turn.
  turn_start: { id: ({ type, turn }, { runId }) => `${runId}/${type}/${turn}`, fold: startTurn },
  message: { id: identifyBySuffix, fold: addMessage },
  message_partial: { id: identifyBySuffix, fold: addPartialMessage },
  turn_end: {
    id: ({ type, turn }, { prefix }) => `${prefix}/${type}/${turn}`,
    fold(_, { currentTurn }) {
      if (currentTurn) currentTurn.ended = true;
    },
  },
};

function startTurn(state: State, run: RunState, { turn, tools, chain, notes }: FactOf<"turn_start">): void {
  run.turn = turn;
  run.currentTurn = {
    turn,
    tools,
    chain,
    notes,
    partial: undefined,
    message: undefined,
    stopReason: undefined,
    output: undefined,
    calls: new Map(),
    hosted: undefined,
    unsettled: 0,
    failure: undefined,
    failingSince: undefined,
    suspensions: 0,
    overflows: 0,
    usage: noUsage,
    repeated: undefined,
    ended: false,
    isSummarized: false,
  };
  if (run.nested.size > 0) addProgress(state, run);
  addSteering(state, run);
  if (typeof run.policy.contextBudget === "number") measureHistory(state, state.history.length);
}

function addMessage(state: State, run: RunState, fact: FactOf<"message">): void {
  const { currentTurn } = run;
  if (!currentTurn) return;
  addModelUsage(state, currentTurn, fact);
  currentTurn.partial = undefined;
  for (const source of fact.sources ?? []) addSource(state.labels.untrusted, source);
  const provenance = findModelProvenance(state.labels);
  const entry = provenance ? { ...fact.entry, provenance } : fact.entry;
  currentTurn.message = entry;
  currentTurn.stopReason = run.stopReason = getStopReason(fact);
  currentTurn.output = fact.output;
  if (fact.output && "issues" in fact.output) run.invalidOutputs += 1;
  for (const part of getCalls(fact.entry)) {
    state.callIds.add(part.id);
    currentTurn.calls.set(part.id, createCall(part, getCheck(fact, part.id)));
  }
  currentTurn.unsettled = currentTurn.calls.size;
  const text = getAnswerText(fact.entry);
  if (text) {
    run.lastText = text;
    run.citations = fact.citations ?? [];
    if (fact.citations) reserveNumbers(state, fact.citations);
  }
  for (const part of fact.entry.parts) {
    if (part.type === "reasoning" && part.text)
      run.reasoning.push({ turn: currentTurn.turn, text: part.text });
    if (part.type === "media") run.media.push(part);
  }
  if (currentTurn.unsettled === 0 && entry.parts.length > 0) state.history.push(entry);
}

/** Reads own keys only, because a provider may choose `toString` as a call id. */
function getCheck({ checks }: FactOf<"message">, callId: string): CallCheck | undefined {
  return checks && Object.hasOwn(checks, callId) ? checks[callId] : undefined;
}

const noQuestions: Call["questions"] = [];

function createCall(part: CallPart, check: CallCheck | undefined): Call {
  return {
    part,
    check,
    approvalRequest: undefined,
    approval: undefined,
    questions: noQuestions,
    attempt: 0,
    result: undefined,
    record: undefined,
  };
}
