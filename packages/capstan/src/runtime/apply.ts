import { AgentError } from "../base/errors.ts";
import { editCall, withEditNote } from "../features/approvals/edit-call.ts";
import { applyCompaction } from "../features/compaction/fold.ts";
import { applyHandoff, applyHandoffReturn, settleHandoff } from "../features/handoffs/fold.ts";
import { isHosted, reserveNumbers, settleHosted, startHosted } from "../features/hosted/fold.ts";
import { applyNested } from "../features/nested/nested-state.ts";
import { addProgress } from "../features/nested/progress.ts";
import { addDiscovered } from "../features/tool-search/discovered-tools.ts";
import type { CallCheck } from "../kernel/call-check.ts";
import {
  addModelUsage,
  completeTurn,
  toCallKey,
  toCallRecord,
  toResultEntry,
} from "../kernel/complete-turn.ts";
import { measureHistory } from "../kernel/context-size.ts";
import type { Fact } from "../kernel/event.ts";
import { addSteering, endRun } from "../kernel/fold-end.ts";
import { type CallPart, getAnswerText, getCalls } from "../kernel/history.ts";
import { getStopReason } from "../kernel/model.ts";
import { addPartialMessage, discardDeltas } from "../kernel/partial-message.ts";
import {
  addEntryLabels,
  addLabels,
  addSource,
  findModelProvenance,
  listReads,
} from "../kernel/provenance.ts";
import { reopenRun, suspendRun, wakeRun } from "../kernel/resume-run.ts";
import { startRun } from "../kernel/start-run.ts";
import {
  addUsage,
  type Call,
  clearCrashes,
  createState,
  noUsage,
  type RunState,
  type State,
  updateElapsedTime,
  updateWaitedTime,
} from "../kernel/state.ts";
import type { Reply } from "../kernel/tool.ts";

type FactOf<Type extends Fact["type"]> = Extract<Fact, { type: Type }>;

/**
 * Folds one fact into the state. Deterministic, without I/O, at a cost that does not grow with the history. Results may
 * arrive in any order; they are added to the history in call order.
 */
export function apply(state: State, fact: Fact): State {
  if (fact.seq <= state.seq) return state;
  updateElapsedTime(state, fact);
  state.seq = fact.seq;
  if (fact.parentRunId === undefined) applyToRun(state, fact);
  else applyNested(state, fact, applyToRun);
  return state;
}

function applyToRun(state: State, fact: Fact): void {
  if (fact.type === "run_start") state.run = startRun(state, fact);
  else if (state.run?.id === fact.runId) {
    updateWaitedTime(state.run, fact, state.elapsedMs);
    if (endsModelCall(fact)) state.run.modelCalls += 1;
    // TypeScript cannot correlate the entry of the table with the type of the fact.
    const fold = folds[fact.type] as ((state: State, run: RunState, fact: Fact) => void) | undefined;
    if (!fold) throw createUnknownFactError(state, fact);
    fold(state, state.run, fact);
  }
}

function createUnknownFactError({ sessionId }: State, { seq, type }: Fact): AgentError {
  const message = `Fact ${seq} of session "${sessionId}" has the unknown type ${JSON.stringify(type)}: a newer version of Capstan or another program stored it. Update this process, or start a new session.`;
  return new AgentError("newer_version", message);
}

/** Whether the fact is the result of a model call. */
function endsModelCall({ type }: Fact): boolean {
  return modelResults.has(type);
}

const modelResults: ReadonlySet<Fact["type"]> = new Set([
  ...(["message", "message_partial", "model_failed", "compacted", "turn_summary"] as const),
]);

/** Builds the state from facts. Resuming a run folds all of its facts; forking one folds a prefix. */
export function fold(sessionId: string, facts: readonly Fact[]): State {
  return facts.reduce(apply, createState(sessionId));
}

type Folds = {
  readonly [Type in Exclude<Fact["type"], "run_start">]: (
    state: State,
    run: RunState,
    fact: FactOf<Type>,
  ) => void;
};

/** How each type of fact changes its run. */
const folds: Folds = {
  turn_start: startTurn,
  message: addMessage,
  message_partial: addPartialMessage,
  model_failed: failModel,
  compaction_start(_, { compactions }, { number, until }) {
    compactions.open ??= { number, until, candidate: 0 };
  },
  compacted: applyCompaction,
  tool_call_start: (state, run, fact) =>
    (fact.hosted && isHosted(run, fact) ? startHosted : startCall)(state, run, fact),
  tool_call_result: (state, run, fact) =>
    (fact.hosted && isHosted(run, fact) ? settleHosted : settleCall)(state, run, fact),
  approval_required: recordApprovalRequest,
  approval_resolved: resolveApproval,
  waiting: suspendRun,
  woken: wakeRun,
  handoff: applyHandoff,
  handoff_denied(_, run, { reason }) {
    if (run.policy.handoff?.onDenied === "fail") run.denied = reason;
  },
  handoff_return: applyHandoffReturn,
  steered(state, run, { entry }) {
    run.steering.push(entry);
    addEntryLabels(state.labels, entry);
    run.lastHandoff = undefined;
  },
  cancel_requested(_, run, { reason, callId }) {
    const cancelled = callId === undefined ? run : run.nested.get(callId)?.run;
    if (cancelled) cancelled.cancelReason ??= reason;
  },
  retried: reopenRun,
  recovered(_, run, { alone = false }) {
    discardDeltas(run);
    run.recoveries += 1;
    if (run.isAlone) run.soloCrashes += 1;
    run.isAlone = alone;
  },
  solo_end(_, run) {
    run.isAlone = false;
  },
  turn_end(_, { currentTurn }) {
    if (currentTurn) currentTurn.ended = true;
  },
  turn_summary(_, run, { usage }) {
    if (run.currentTurn) run.currentTurn.isSummarized = true;
    if (usage) run.usage = addUsage(run.usage, usage);
  },
  limit_reached(_, run, { code, message }) {
    run.limit = { code, message };
  },
  warning(_, run, { code }) {
    run.warned.add(code);
  },
  error() {
    // The `done` fact carries the error too.
  },
  done: endRun,
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

function failModel(_: State, run: RunState, fact: FactOf<"model_failed">): void {
  const { model, candidate, hadMoreRoom, error } = fact;
  const { currentTurn, compactions } = run;
  run.usage = addUsage(run.usage, fact.usage);
  if (fact.compaction !== undefined) {
    if (compactions.open) compactions.open = { ...compactions.open, candidate: candidate + 1 };
  } else if (currentTurn) {
    discardDeltas(run);
    currentTurn.usage = addUsage(currentTurn.usage, fact.usage);
    // The run waits if at least one model of the chain can be retried later.
    const waitMs = fact.waitMs ?? error.retryAfterMs ?? 0;
    const retryAt = fact.isParked ? fact.at + waitMs : currentTurn.failure?.retryAt;
    if (fact.isParked) currentTurn.failingSince ??= fact.at;
    currentTurn.failure = {
      ...{ model, candidate, hadMoreRoom, error },
      ...(fact.text !== undefined && { text: fact.text }),
      ...(retryAt !== undefined && { retryAt }),
    };
    run.stopReason = fact.stopReason;
    if (error.code === "context_overflow") currentTurn.overflows += 1;
  }
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
  call.result = withEditNote(toResultEntry(fact), call);
  call.record = toCallRecord(fact, call.part.input);
  currentTurn.unsettled -= 1;
  if (currentTurn.unsettled === 0) completeTurn(state, run, currentTurn);
}

function recordApprovalRequest(state: State, run: RunState, fact: FactOf<"approval_required">): void {
  const call = run.currentTurn?.calls.get(fact.callId);
  if (!call) return;
  const { question, reason, digest, reads, expiresAt } = fact;
  if (!question) {
    call.approvalRequest = { expiresAt };
    return;
  }
  if (reads) addLabels(state.labels, reads, { tool: fact.name, turn: run.turn, input: call.part.input });
  const { attempt } = call;
  call.questions = [...call.questions, { question, reason, digest, expiresAt, attempt, reply: undefined }];
}

function resolveApproval(_: State, run: RunState, fact: FactOf<"approval_resolved">): void {
  const { callId, approved, reason, number, value = null, input, digest } = fact;
  const call = run.currentTurn?.calls.get(callId);
  const reply: Reply = approved ? { approved, value } : { approved, ...(reason !== undefined && { reason }) };
  if (number !== undefined) {
    const askedQuestion = call?.questions[number - 1];
    if (!askedQuestion || askedQuestion.reply) return;
    askedQuestion.reply = reply;
  } else if (run.approvals.has(callId)) return;
  else if (call) {
    call.approval = { approved, ...(reason !== undefined && { reason }) };
    if (input !== undefined) editCall(call, input, digest);
  }
  run.approvals.set(callId, input === undefined ? reply : { ...reply, input });
}
