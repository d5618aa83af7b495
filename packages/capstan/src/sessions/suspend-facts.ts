import { toErrorData } from "../errors.ts";
import type { Fact, FactBody } from "../event.ts";
import { createFactId } from "../ids.ts";
import { fold } from "../state/apply.ts";
import type { Call, RunState } from "../state/state.ts";
import { isNested } from "./load-facts.ts";

/**
 * Appends a `waiting` fact to an unfinished run. Otherwise a copy would look like an orphaned run, and an engine on the
 * same store would take it over.
 */
export function suspendFacts(facts: readonly Fact[]): readonly Fact[] {
  // Nested runs suspend with their root run.
  const lastOfRun = facts.findLast((fact) => !isNested(fact));
  const newest = facts.at(-1);
  if (!lastOfRun || !newest || (isSettled(newest) && !isNested(newest))) return facts;
  const { runId, sessionId, agent, turn } = lastOfRun;
  const { at, seq } = newest;
  const body: FactBody = { type: "waiting", callIds: [] };
  const { waits = 0, retries = 0 } = fold(sessionId, facts).run ?? {};
  const waiting: Fact = {
    ...body,
    ...{ runId, sessionId, agent, turn, at },
    id: createFactId(body, { runId, retries }, String(waits)),
    seq: seq + 1,
  };
  return [...facts, waiting];
}

/**
 * True if nothing happens after this fact by itself. A wait until a given time does not count: an engine would resume
 * it.
 */
function isSettled(last: Fact): boolean {
  return last.type === "done" || (last.type === "waiting" && last.until === undefined);
}

/**
 * Marks open calls selected by `needsNewDecision` as refused. When the run resumes, the model sees the refusals, and
 * calls it requests again go through the usual checks and approvals.
 */
export function refuseOpenCalls(
  facts: readonly Fact[],
  needsNewDecision: (call: Call) => boolean,
): readonly Fact[] {
  const { run } = fold(facts[0]?.sessionId ?? "", facts);
  let result = facts;
  for (const openRun of run && !run.done ? listActiveRuns(run) : [])
    result = refuseCallsInRun(openRun, result, needsNewDecision);
  return result;
}

function refuseCallsInRun(
  run: RunState,
  facts: readonly Fact[],
  needsNewDecision: (call: Call) => boolean,
): readonly Fact[] {
  const calls = [...(run.currentTurn?.calls.values() ?? [])];
  const openCalls = calls.filter((call) => !call.result && !call.check?.error && needsNewDecision(call));
  if (openCalls.length === 0) return facts;
  const messageIndex = facts.findLastIndex((fact) => fact.type === "message" && fact.runId === run.id);
  const refusals = openCalls.map(({ part }) => [
    part.id,
    { error: toErrorData("approval_mismatch", refusalMessage) },
  ]);
  return facts.map((fact, index) =>
    index === messageIndex && fact.type === "message"
      ? { ...fact, checks: { ...fact.checks, ...Object.fromEntries(refusals) } }
      : fact,
  );
}

/** Returns the run and its unfinished nested runs. */
function listActiveRuns(run: RunState): RunState[] {
  const nested = [...run.nested.values()].flatMap((state) => state.run ?? []);
  return [run, ...nested.filter((nestedRun) => !nestedRun.done).flatMap(listActiveRuns)];
}

const refusalMessage =
  "The call was not made. It was open when the session was copied, and approvals are not copied. Call the tool again if it is still needed.";
