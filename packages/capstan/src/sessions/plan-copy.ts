import { toErrorData } from "../base/errors.ts";
import { listActiveRuns } from "../features/nested/nested-state.ts";
import type { CallCheck } from "../kernel/call-check.ts";
import type { Fact, FactBody, Origin } from "../kernel/event.ts";
import { getCalls } from "../kernel/history.ts";
import { type Call, createState, type State } from "../kernel/state.ts";
import { apply, createFactId } from "../runtime/facts.ts";
import { isNested } from "../runtime/load-facts.ts";

/** A run of a session, nested or not. */
export type RunOrigin = Pick<Origin, "runId" | "parentRunId" | "parentCallId">;

/** What changes in the copy of a session. */
export type CopyPlan = {
  /** All runs, in start order. */
  readonly runs: readonly RunOrigin[];
  /** Returns the fact with its open calls refused. */
  refuseCalls(fact: Fact): Fact;
  /** The `waiting` fact to append to an unfinished run. */
  readonly suspension: Fact | undefined;
};

type Survey = {
  readonly runs: Map<string, RunOrigin>;
  /** Position of the message that made each call since the last root run started. */
  readonly messages: Map<string, number>;
  state: State | undefined;
  /** Whether the last root run comes from a file. */
  isImported: boolean;
  newest: Fact | undefined;
  lastOfRun: Fact | undefined;
};

/**
 * Reads the facts of a copy and plans its changes. Open calls that need approval are refused, and so are all open calls
 * of an imported run, which were never checked here. When the run resumes, the model sees the refusals, and calls it
 * requests again go through the usual checks and approvals.
 */
export async function planCopy(pages: AsyncIterable<readonly Fact[]>): Promise<CopyPlan> {
  const survey: Survey = {
    ...{ runs: new Map(), messages: new Map(), isImported: false },
    ...{ state: undefined, newest: undefined, lastOfRun: undefined },
  };
  for await (const page of pages) for (const fact of page) addFact(survey, fact);
  const checks = collectRefusals(survey);
  return {
    runs: [...survey.runs.values()],
    refuseCalls(fact) {
      const refusals = fact.type === "message" ? checks.get(fact.seq) : undefined;
      return fact.type === "message" && refusals
        ? { ...fact, checks: { ...fact.checks, ...refusals } }
        : fact;
    },
    suspension: createSuspension(survey),
  };
}

/** Only the last run can have open calls, so the state starts again with each run. */
function addFact(survey: Survey, fact: Fact): void {
  const { runId, parentRunId, parentCallId, sessionId } = fact;
  if (!survey.runs.has(runId))
    survey.runs.set(runId, {
      runId,
      ...(parentRunId !== undefined && { parentRunId }),
      ...(parentCallId !== undefined && { parentCallId }),
    });
  const isStart = fact.type === "run_start" && !isNested(fact);
  if (isStart) survey.isImported = fact.imported ?? false;
  if (!survey.state || isStart) {
    survey.state = createState(sessionId);
    survey.messages.clear();
  }
  apply(survey.state, fact);
  if (fact.type === "message")
    for (const call of getCalls(fact.entry)) survey.messages.set(call.id, fact.seq);
  survey.newest = fact;
  // Nested runs suspend with their root run.
  if (!isNested(fact)) survey.lastOfRun = fact;
}

/** Returns the refusals by the position of the message that has the calls. */
function collectRefusals({
  state,
  messages,
  isImported,
}: Survey): Map<number, { [callId: string]: CallCheck }> {
  // Approvals are bound to the original run, and approval rules to the original session.
  const mustRefuse = ({ check }: Call) => isImported || Boolean(check?.approval ?? check?.rule);
  const refusals = new Map<number, { [callId: string]: CallCheck }>();
  const error = toErrorData("approval_mismatch", refusalMessage);
  // A failed run may be retried, so its calls count as open, too.
  for (const openRun of state?.run ? listActiveRuns(state.run) : [])
    for (const call of openRun.currentTurn?.calls.values() ?? []) {
      if (call.result || call.check?.error || !mustRefuse(call)) continue;
      const { id } = call.part;
      const message = messages.get(id) ?? 0;
      refusals.set(message, { ...refusals.get(message), [id]: { error } });
    }
  return refusals;
}

/**
 * Creates a `waiting` fact for an unfinished run. Otherwise a copy would look like an orphaned run, and an engine on the
 * same store would take it over.
 */
function createSuspension({ state, newest, lastOfRun }: Survey): Fact | undefined {
  if (!lastOfRun || !newest || (isSettled(newest) && !isNested(newest))) return undefined;
  const { runId, sessionId, agent, turn } = lastOfRun;
  const body: FactBody = { type: "waiting", callIds: [] };
  const { waits = 0, retries = 0 } = state?.run ?? {};
  return {
    ...body,
    ...{ runId, sessionId, agent, turn, at: newest.at },
    id: createFactId(body, { runId, retries }, String(waits)),
    seq: newest.seq + 1,
  };
}

/**
 * True if nothing happens after this fact by itself. A wait until a given time does not count: an engine would resume
 * it.
 */
function isSettled(last: Fact): boolean {
  return last.type === "done" || (last.type === "waiting" && last.until === undefined);
}

const refusalMessage =
  "The call was not made. It was open when the session was copied, and approvals are not copied. Call the tool again if it is still needed.";
