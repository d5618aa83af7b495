import { type Fact, getCalls, getText, type Json, toCanonicalJson } from "capstan";
import { apply, createState, identifyFact, type State } from "capstan/internal/verification";
import { isWhole } from "./plan.ts";
import type { World } from "./world.ts";

/** State of a call according to the log. */
export type AuditedCall = {
  readonly name: string;
  /** The model's arguments, or the arguments that the user approved instead. */
  input: Json;
  starts: number;
  /** Numbers of the answered questions; 0 is the approval of the call. */
  readonly answered: Set<number>;
  isAllowed: boolean;
  result: Extract<Fact, { type: "tool_call_result" }> | undefined;
};

/** State of a run according to the log. */
export type AuditedRun = {
  readonly runId: string;
  readonly sessionId: string;
  readonly calls: Map<string, AuditedCall>;
  readonly steered: Map<string, number>;
  messages: number;
  compactions: number;
  recoveries: number;
  isCancelled: boolean;
  /** The end of the run, unless it was retried since. */
  done: Extract<Fact, { type: "done" }> | undefined;
  /** Statuses with which the run has ended so far: several, if it was retried. */
  readonly statuses: Set<string>;
};

export type AuditedSession = {
  readonly facts: Fact[];
  readonly state: State;
  open: AuditedRun | undefined;
  newest: AuditedRun | undefined;
};

/** Checks every stored fact, in order, against the invariants. */
export interface FactAudit {
  readonly runs: ReadonlyMap<string, AuditedRun>;
  getSession(sessionId: string): AuditedSession;
  /** Takes the facts as stored, including facts stored before. */
  read(sessionId: string, placed: readonly Fact[]): void;
}

export function createFactAudit(world: World): FactAudit {
  const runs = new Map<string, AuditedRun>();
  const sessions = new Map<string, AuditedSession>();

  function getSession(sessionId: string): AuditedSession {
    const known = sessions.get(sessionId);
    if (known) return known;
    const session = { facts: [], state: createState(sessionId), open: undefined, newest: undefined };
    sessions.set(sessionId, session);
    return session;
  }

  function addFact(session: AuditedSession, fact: Fact): void {
    world.totals.facts += 1;
    if (fact.type === "run_start") startRun(session, fact);
    const run = runs.get(fact.runId);
    if (!run) {
      world.reportViolation("no fact without its run", describeFact(fact));
      return;
    }
    if (fact.type === "retried") reopenRun(session, run, fact);
    if (run.done) world.reportViolation("`done` comes once and last", `${describeFact(fact)} follows it`);
    if (session.open !== run) world.reportViolation("a session has one run at a time", describeFact(fact));
    applyToAuditedRun(world, run, fact);
    if (fact.type === "done") session.open = undefined;
    apply(session.state, fact);
    if (fact.type === "run_start" || fact.type === "done") checkHistory(world, session.state.history);
  }

  /** Only the newest run of a session can be retried, and only if it failed because of its model. */
  function reopenRun(session: AuditedSession, run: AuditedRun, fact: Fact): void {
    if (!run.done?.canRetry || session.newest !== run)
      world.reportViolation("only a run that failed because of its model is retried", describeFact(fact));
    run.done = undefined;
    session.open ??= run;
  }

  function startRun(session: AuditedSession, { runId, sessionId, seq }: Fact): void {
    if (runs.has(runId)) world.reportViolation("a run starts once", runId);
    if (session.open) world.reportViolation("a session has one run at a time", `${runId} starts at ${seq}`);
    const run: AuditedRun = {
      runId,
      sessionId,
      calls: new Map(),
      steered: new Map(),
      messages: 0,
      compactions: 0,
      recoveries: 0,
      isCancelled: false,
      done: undefined,
      statuses: new Set(),
    };
    runs.set(runId, run);
    session.open = run;
    session.newest = run;
  }

  return {
    runs,
    getSession,
    read(sessionId, placed) {
      const session = getSession(sessionId);
      for (const fact of placed) {
        const known = session.facts[fact.seq - 1];
        if (!known && fact.seq !== session.facts.length + 1)
          world.reportViolation("facts are numbered without a gap", describeFact(fact));
        if (known && identifyFact(known) !== identifyFact(fact))
          world.reportViolation("a stored fact does not change", describeFact(fact));
        if (known) continue;
        session.facts.push(fact);
        addFact(session, fact);
      }
    },
  };
}

function describeFact({ type, runId, seq }: Fact): string {
  return `${type} of ${runId} at ${seq}`;
}

function applyToAuditedRun(world: World, run: AuditedRun, fact: Fact): void {
  switch (fact.type) {
    case "message":
      run.messages += 1;
      checkWhole(world, fact);
      auditCalls(world, run, fact);
      return;
    case "tool_call_start":
    case "tool_call_result":
      applyToAuditedCall(world, run, fact);
      return;
    case "approval_resolved":
      applyApproval(world, run, fact);
      return;
    case "steered": {
      const text = String(fact.entry.content);
      run.steered.set(text, (run.steered.get(text) ?? 0) + 1);
      if (run.steered.get(text) !== 1)
        world.reportViolation("a message is delivered once", `"${text}" in ${run.runId}`);
      return;
    }
    case "cancel_requested":
      run.isCancelled = true;
      return;
    case "recovered":
      run.recoveries += 1;
      if (fact.alone) world.totals.trials += 1;
      return;
    case "message_partial":
      world.totals.continuations += 1;
      return;
    case "waiting":
      if (fact.until !== undefined) world.totals.suspensions += 1;
      return;
    case "retried":
      world.totals.retries += 1;
      return;
    case "compacted":
      world.totals.compactions += 1;
      run.compactions += 1;
      if (fact.number !== run.compactions)
        world.reportViolation("a compaction is performed once", describeFact(fact));
      return;
    case "turn_end":
      checkSettled(world, run, fact);
      return;
    case "done":
      run.done = fact;
      run.statuses.add(fact.status);
      if (run.isCancelled !== (fact.status === "cancelled"))
        world.reportViolation("only a cancelled run ends as cancelled", `${run.runId}: ${fact.status}`);
      if (fact.status === "done" && !isWhole(fact.text))
        world.reportViolation("no half answer ends a run as done", `${run.runId}: ${fact.text}`);
      if (fact.text === "") world.reportViolation("a run ends with a text", run.runId);
      checkSettled(world, run, fact);
      return;
    default:
  }
}

function auditCalls(world: World, run: AuditedRun, fact: Extract<Fact, { type: "message" }>): void {
  for (const { id, name, input, raw } of getCalls(fact.entry)) {
    if (run.calls.has(id)) world.reportViolation("a call id is used once", `${id} in ${describeFact(fact)}`);
    run.calls.set(id, {
      ...{ name, input: raw ?? input, starts: 0, answered: new Set<number>(), isAllowed: false },
      result: undefined,
    });
  }
}

function checkWhole(world: World, fact: Extract<Fact, { type: "message" }>): void {
  if (fact.stopReason === "aborted" || isWhole(getText(fact.entry))) return;
  world.reportViolation("the parts of a message are joined", `${describeFact(fact)}: ${getText(fact.entry)}`);
}

function applyToAuditedCall(
  world: World,
  run: AuditedRun,
  fact: Extract<Fact, { type: "tool_call_start" | "tool_call_result" }>,
): void {
  const call = run.calls.get(fact.id);
  if (!call) {
    world.reportViolation("only complete calls are executed", describeFact(fact));
    return;
  }
  if (call.result)
    world.reportViolation("a call has one result, and nothing after it", `${fact.id}: ${describeFact(fact)}`);
  if (fact.type === "tool_call_result") {
    call.result = fact;
    return;
  }
  call.starts += 1;
  if (toCanonicalJson(fact.arguments) !== toCanonicalJson(call.input))
    world.reportViolation("a call is made with the approved arguments", describeFact(fact));
}

function applyApproval(
  world: World,
  run: AuditedRun,
  fact: Extract<Fact, { type: "approval_resolved" }>,
): void {
  const call = run.calls.get(fact.callId);
  if (!call) {
    world.reportViolation("only complete calls are executed", describeFact(fact));
    return;
  }
  const { number = 0, approved, input } = fact;
  if (input !== undefined) {
    world.totals.edits += 1;
    call.input = input;
  }
  if (call.answered.has(number))
    world.reportViolation("a question is answered once", `${fact.callId} of ${run.runId}`);
  call.answered.add(number);
  if (number > 0) world.totals.questions += 1;
  if (number === 0) call.isAllowed = approved;
}

function checkSettled(world: World, { calls, runId }: AuditedRun, fact: Fact): void {
  for (const [id, call] of calls)
    if (!call.result)
      world.reportViolation("every call has exactly one result", `${id} of ${runId} at ${fact.type}`);
}

/** Checks that each call is followed by its result, in call order. */
export function checkHistory(world: World, history: State["history"]): void {
  let open: string[] = [];
  for (const [index, entry] of history.entries()) {
    if (entry.type === "result") {
      if (open.shift() !== entry.callId)
        world.reportViolation("the history is valid", `result of ${entry.callId} at ${index}`);
      continue;
    }
    if (open.length > 0)
      world.reportViolation("the history is valid", `${open} without a result at ${index}`);
    open = entry.type === "assistant" ? getCalls(entry).map((call) => call.id) : [];
  }
  if (open.length > 0) world.reportViolation("the history is valid", `${open} without a result at its end`);
}
