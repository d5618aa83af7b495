import type { CallCheck, Fact } from "../event.ts";
import { type CallPart, getCalls, getText } from "../history.ts";
import { addLabels } from "../labels.ts";
import type { Reply } from "../tool.ts";
import { endHandoffs, handBack, handOver, settleHandoff } from "./apply-handoff.ts";
import { applyCompaction } from "./compact.ts";
import { callKey, closeRound, recordOf, resultEntry } from "./complete-turn.ts";
import { correct, measure } from "./context-size.ts";
import { applyNested, passTime } from "./nested-state.ts";
import { startRun } from "./start-run.ts";
import { addUsage, type Call, newState, noUsage, type RunState, type State } from "./state.ts";

type FactOf<Type extends Fact["type"]> = Extract<Fact, { type: Type }>;

/**
 * Folds one fact into the state: no clock, no chance, no world, and a cost that does not grow with the history.
 * Results may come in any order; they join the history in call order.
 */
export function apply(state: State, fact: Fact): State {
  if (fact.seq <= state.seq) return state;
  state.seq = fact.seq;
  if (fact.parentRunId === undefined) applyOwn(state, fact);
  else applyNested(state, fact, applyOwn);
  return state;
}

function applyOwn(state: State, fact: Fact): void {
  if (fact.type === "run_start") state.run = startRun(state, fact);
  else if (state.run?.id === fact.runId) {
    passTime(state.run, fact);
    // A table of functions is not known to fit the fact it is asked for.
    (folds[fact.type] as (state: State, run: RunState, fact: Fact) => void)(state, state.run, fact);
  }
}

/** The state after these facts. To resume is to fold and go on; to fork is to fold a prefix. */
export function fold(sessionId: string, facts: readonly Fact[]): State {
  return facts.reduce(apply, newState(sessionId));
}

type Folds = {
  readonly [Type in Exclude<Fact["type"], "run_start">]: (
    state: State,
    run: RunState,
    fact: FactOf<Type>,
  ) => void;
};

/** What each kind of fact does to the run it belongs to. */
const folds: Folds = {
  turn_start: startTurn,
  message: addMessage,
  model_failed: failModel,
  compaction_start(_, { compactions }, { number, until }) {
    compactions.open ??= { number, until, candidate: 0 };
  },
  compacted: applyCompaction,
  tool_call_start: startCall,
  tool_call_result: settleCall,
  approval_required: markAsked,
  approval_resolved: resolveApproval,
  waiting: rest,
  woken: wake,
  handoff: handOver,
  handoff_denied(_, run, { reason }) {
    if (run.policy.handoff?.onDenied === "fail") run.denied = reason;
  },
  handoff_return: handBack,
  steered(_, run, { entry }) {
    run.steering.push(entry);
    run.passing = undefined;
  },
  cancel_requested(_, run, { reason }) {
    run.cancelReason ??= reason;
  },
  recovered(_, run) {
    run.recoveries += 1;
  },
  turn_end(_, { round }) {
    if (round) round.ended = true;
  },
  turn_summary(_, run, { usage }) {
    if (run.round) run.round.isSummarised = true;
    if (usage) run.usage = addUsage(run.usage, usage);
  },
  limit_reached(_, run, { code, message }) {
    run.limit = { code, message };
  },
  warning(_, run, { code }) {
    run.warned.add(code);
  },
  error() {
    // It is told again by `done`.
  },
  done: endRun,
};

function rest(_: State, run: RunState, { until }: FactOf<"waiting">): void {
  run.waiting = true;
  run.waits += 1;
  run.wakeAt = until;
}

function wake(_: State, run: RunState): void {
  run.wakeAt = undefined;
  if (run.round) run.round.failure = undefined;
}

function startTurn(state: State, run: RunState, { turn, tools, chain, notes }: FactOf<"turn_start">): void {
  run.turn = turn;
  run.round = {
    turn,
    tools,
    chain,
    notes,
    message: undefined,
    finish: undefined,
    output: undefined,
    calls: new Map(),
    unsettled: 0,
    failure: undefined,
    overflows: 0,
    usage: noUsage,
    repeated: undefined,
    ended: false,
    isSummarised: false,
  };
  hearSteering(state, run);
  if (typeof run.policy.contextBudget === "number") measure(state, state.history.length);
}

function failModel(_: State, run: RunState, fact: FactOf<"model_failed">): void {
  const { candidate, hadMoreRoom, error } = fact;
  const { round, compactions } = run;
  if (fact.compaction !== undefined) {
    if (compactions.open) compactions.open = { ...compactions.open, candidate: candidate + 1 };
  } else if (round) {
    // One model of the chain that may be asked again later is enough to wait for.
    const retryAt = fact.isParked ? fact.at + (error.retryAfterMs ?? 0) : round.failure?.retryAt;
    round.failure = { candidate, hadMoreRoom, error, ...(retryAt !== undefined && { retryAt }) };
    if (error.code === "context_overflow") round.overflows += 1;
  }
}

function hearSteering(state: State, run: RunState): void {
  state.history.push(...run.steering);
  run.steering = [];
}

function addMessage(state: State, run: RunState, fact: FactOf<"message">): void {
  const { round } = run;
  if (!round) return;
  correct(state, fact.usage);
  run.recoveries = 0;
  run.usage = addUsage(run.usage, fact.usage);
  round.usage = addUsage(round.usage, fact.usage);
  round.message = fact.entry;
  round.finish = fact.finish;
  round.output = fact.output;
  if (fact.output && "issues" in fact.output) run.formless += 1;
  for (const part of getCalls(fact.entry)) {
    state.callIds.add(part.id);
    round.calls.set(part.id, newCall(part, checkOf(fact, part.id)));
  }
  round.unsettled = round.calls.size;
  const text = getText(fact.entry).trim();
  if (text) {
    run.lastText = text;
    run.cited = fact.citations ?? [];
  }
  for (const part of fact.entry.parts) {
    if (part.type === "reasoning" && part.text) run.reasoning.push({ turn: round.turn, text: part.text });
  }
  if (round.unsettled === 0 && fact.entry.parts.length > 0) state.history.push(fact.entry);
}

/** Only an own key: a provider may call a call `toString`. */
function checkOf({ checks }: FactOf<"message">, callId: string): CallCheck | undefined {
  return checks && Object.hasOwn(checks, callId) ? checks[callId] : undefined;
}

const noQuestions: Call["questions"] = [];

function newCall(part: CallPart, check: CallCheck | undefined): Call {
  return {
    part,
    check,
    asked: false,
    approval: undefined,
    questions: noQuestions,
    attempt: 0,
    result: undefined,
    record: undefined,
  };
}

function startCall(state: State, run: RunState, fact: FactOf<"tool_call_start">): void {
  const call = run.round?.calls.get(fact.id);
  if (fact.attempt === 1 && !call?.check?.error) run.begun += 1;
  if (call) call.attempt = fact.attempt;
  else {
    // Not asked for by the model: the fallback tool of a limit.
    state.callIds.add(fact.id);
    run.fallback = { input: fact.arguments, attempt: fact.attempt, result: undefined };
  }
}

function settleCall(state: State, run: RunState, fact: FactOf<"tool_call_result">): void {
  const { round } = run;
  const frame = run.handoffs.findLast(({ call }) => call.part.id === fact.id);
  if (frame) {
    settleHandoff(state, run, { frame, fact });
    return;
  }
  const call = round?.calls.get(fact.id);
  if (fact.reads && !call?.result) {
    const input = call?.part.input ?? run.fallback?.input ?? {};
    addLabels(state.labels, fact.reads, { tool: fact.name, turn: run.turn, input });
  }
  if (!round || !call) {
    const record = recordOf(fact, run.fallback?.input ?? {});
    run.toolCalls.push(record);
    if (run.fallback) run.fallback.result = record;
    return;
  }
  if (call.result) return;
  run.recoveries = 0;
  state.hasHandles ||= fact.handle !== undefined;
  if (fact.cacheUntil !== undefined) state.cache.set(callKey(call.part), fact);
  call.result = resultEntry(fact);
  call.record = recordOf(fact, call.part.input);
  round.unsettled -= 1;
  if (round.unsettled === 0) closeRound(state, run, round);
}

function endRun(state: State, run: RunState, fact: FactOf<"done">): void {
  const { status, text, grounded, output, error } = fact;
  run.done = { status, text, grounded, ...(output !== undefined && { output }), ...(error && { error }) };
  // When the answer is ours and not the model's, the next run must know what the person was told.
  if ((status === "limit" || status === "done") && text !== run.lastText) {
    state.history.push({ type: "assistant", parts: [{ type: "text", text }] });
  }
  endHandoffs(state, run);
  hearSteering(state, run);
}

function markAsked(state: State, run: RunState, fact: FactOf<"approval_required">): void {
  const call = run.round?.calls.get(fact.callId);
  if (!call) return;
  const { question, reason, digest, reads } = fact;
  if (!question) {
    call.asked = true;
    return;
  }
  if (reads && call.questions.length === 0)
    addLabels(state.labels, reads, { tool: fact.name, turn: run.turn, input: call.part.input });
  call.questions = [...call.questions, { question, reason, digest, attempt: call.attempt, reply: undefined }];
}

function resolveApproval(_: State, run: RunState, fact: FactOf<"approval_resolved">): void {
  const { callId, approved, reason, number, value = null } = fact;
  const call = run.round?.calls.get(callId);
  const reply: Reply = approved ? { approved, value } : { approved, ...(reason !== undefined && { reason }) };
  if (number !== undefined) {
    const asked = call?.questions[number - 1];
    if (!asked || asked.reply) return;
    asked.reply = reply;
  } else if (run.approvals.has(callId)) return;
  else if (call) call.approval = { approved, ...(reason !== undefined && { reason }) };
  run.approvals.set(callId, reply);
}
