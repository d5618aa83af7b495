import type { Fact } from "../event.ts";
import { getCalls } from "../history.ts";
import { identifyFact } from "../ids.ts";
import { apply } from "../state/apply.ts";
import { createState, type State } from "../state/state.ts";
import type { World } from "./world.ts";

/** What the log says of one call. */
export type AuditedCall = {
  readonly name: string;
  starts: number;
  /** The questions that were answered; 0 is whether it may run at all. */
  readonly answered: Set<number>;
  isAllowed: boolean;
  result: Extract<Fact, { type: "tool_call_result" }> | undefined;
};

/** What the log says of one run. */
export type AuditedRun = {
  readonly runId: string;
  readonly sessionId: string;
  readonly calls: Map<string, AuditedCall>;
  readonly steered: Map<string, number>;
  messages: number;
  recoveries: number;
  isCancelled: boolean;
  done: Extract<Fact, { type: "done" }> | undefined;
};

export type AuditedSession = { readonly facts: Fact[]; readonly state: State; open: AuditedRun | undefined };

/** Reads every fact that is stored, in order, and holds it against the promises. */
export interface FactAudit {
  readonly runs: ReadonlyMap<string, AuditedRun>;
  sessionOf(sessionId: string): AuditedSession;
  /** The facts as the store placed them; those that it knew already are among them. */
  read(sessionId: string, placed: readonly Fact[]): void;
}

export function factAudit(world: World): FactAudit {
  const runs = new Map<string, AuditedRun>();
  const sessions = new Map<string, AuditedSession>();

  function sessionOf(sessionId: string): AuditedSession {
    const known = sessions.get(sessionId);
    if (known) return known;
    const session = { facts: [], state: createState(sessionId), open: undefined };
    sessions.set(sessionId, session);
    return session;
  }

  function add(session: AuditedSession, fact: Fact): void {
    world.totals.facts += 1;
    if (fact.type === "run_start") start(session, fact);
    const run = runs.get(fact.runId);
    if (!run) {
      world.violate("no fact without its run", described(fact));
      return;
    }
    if (run.done) world.violate("`done` comes once and last", `${described(fact)} follows it`);
    if (session.open !== run) world.violate("one run of a session at a time", described(fact));
    addToRun(world, run, fact);
    if (fact.type === "done") session.open = undefined;
    apply(session.state, fact);
    if (fact.type === "run_start" || fact.type === "done") checkHistory(world, session.state.history);
  }

  function start(session: AuditedSession, { runId, sessionId, seq }: Fact): void {
    if (runs.has(runId)) world.violate("a run starts once", runId);
    if (session.open) world.violate("one run of a session at a time", `${runId} starts at ${seq}`);
    const run: AuditedRun = {
      runId,
      sessionId,
      calls: new Map(),
      steered: new Map(),
      messages: 0,
      recoveries: 0,
      isCancelled: false,
      done: undefined,
    };
    runs.set(runId, run);
    session.open = run;
  }

  return {
    runs,
    sessionOf,
    read(sessionId, placed) {
      const session = sessionOf(sessionId);
      for (const fact of placed) {
        const known = session.facts[fact.seq - 1];
        if (!known && fact.seq !== session.facts.length + 1)
          world.violate("facts are numbered without a gap", described(fact));
        if (known && identifyFact(known) !== identifyFact(fact))
          world.violate("a stored fact stays as it is", described(fact));
        if (known) continue;
        session.facts.push(fact);
        add(session, fact);
      }
    },
  };
}

function described({ type, runId, seq }: Fact): string {
  return `${type} of ${runId} at ${seq}`;
}

function addToRun(world: World, run: AuditedRun, fact: Fact): void {
  switch (fact.type) {
    case "message":
      run.messages += 1;
      for (const { id, name } of getCalls(fact.entry)) {
        if (run.calls.has(id)) world.violate("a call id is used once", `${id} in ${described(fact)}`);
        run.calls.set(id, { name, starts: 0, answered: new Set(), isAllowed: false, result: undefined });
      }
      return;
    case "tool_call_start":
    case "tool_call_result":
      addToCall(world, run, fact);
      return;
    case "approval_resolved":
      addApproval(world, run, fact);
      return;
    case "steered": {
      const text = String(fact.entry.content);
      run.steered.set(text, (run.steered.get(text) ?? 0) + 1);
      if (run.steered.get(text) !== 1)
        world.violate("what was told is heard once", `"${text}" in ${run.runId}`);
      return;
    }
    case "cancel_requested":
      run.isCancelled = true;
      return;
    case "recovered":
      run.recoveries += 1;
      return;
    case "turn_end":
      checkSettled(world, run, fact);
      return;
    case "done":
      run.done = fact;
      if (run.isCancelled !== (fact.status === "cancelled"))
        world.violate("a cancelled run ends as cancelled, and no other", `${run.runId}: ${fact.status}`);
      if (fact.text === "") world.violate("no end without a text", run.runId);
      checkSettled(world, run, fact);
      return;
    default:
  }
}

function addToCall(
  world: World,
  run: AuditedRun,
  fact: Extract<Fact, { type: "tool_call_start" | "tool_call_result" }>,
): void {
  const call = run.calls.get(fact.id);
  if (!call) {
    world.violate("only calls that the model finished saying", described(fact));
    return;
  }
  if (call.result)
    world.violate("a call has one result, and nothing after it", `${fact.id}: ${described(fact)}`);
  if (fact.type === "tool_call_start") call.starts += 1;
  else call.result = fact;
}

function addApproval(
  world: World,
  run: AuditedRun,
  fact: Extract<Fact, { type: "approval_resolved" }>,
): void {
  const call = run.calls.get(fact.callId);
  if (!call) {
    world.violate("only calls that the model finished saying", described(fact));
    return;
  }
  const { number = 0, approved } = fact;
  if (call.answered.has(number))
    world.violate("a question is answered once", `${fact.callId} of ${run.runId}`);
  call.answered.add(number);
  if (number === 0) call.isAllowed = approved;
}

function checkSettled(world: World, { calls, runId }: AuditedRun, fact: Fact): void {
  for (const [id, call] of calls)
    if (!call.result) world.violate("every call has exactly one result", `${id} of ${runId} at ${fact.type}`);
}

/** Each call has its result right behind it, in call order. */
export function checkHistory(world: World, history: State["history"]): void {
  let open: string[] = [];
  for (const [index, entry] of history.entries()) {
    if (entry.type === "result") {
      if (open.shift() !== entry.callId)
        world.violate("the history is valid", `result of ${entry.callId} at ${index}`);
      continue;
    }
    if (open.length > 0) world.violate("the history is valid", `${open} without a result at ${index}`);
    open = entry.type === "assistant" ? getCalls(entry).map((call) => call.id) : [];
  }
  if (open.length > 0) world.violate("the history is valid", `${open} without a result at its end`);
}
