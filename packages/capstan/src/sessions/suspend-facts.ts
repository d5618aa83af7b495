import { toErrorData } from "../errors.ts";
import type { Fact, FactBody } from "../event.ts";
import { createFactId } from "../ids.ts";
import { fold } from "../state/apply.ts";
import type { Call, RunState } from "../state/state.ts";
import { isNested } from "./load-facts.ts";

/**
 * The facts with a rest at their end. A copy of an unfinished run must not look like one whose process has died:
 * whoever takes over such runs would go on with it, and nobody has asked for that.
 */
export function suspendFacts(facts: readonly Fact[]): readonly Fact[] {
  // A nested run rests with the one around it.
  const lastOfRun = facts.findLast((fact) => !isNested(fact));
  const newest = facts.at(-1);
  if (!lastOfRun || !newest || (isSuspended(newest) && !isNested(newest))) return facts;
  const { runId, sessionId, agent, turn } = lastOfRun;
  const { at, seq } = newest;
  const body: FactBody = { type: "waiting", callIds: [] };
  const waits = fold(sessionId, facts).run?.waits ?? 0;
  const waiting: Fact = {
    ...body,
    ...{ runId, sessionId, agent, turn, at },
    id: createFactId(body, runId, String(waits)),
    seq: seq + 1,
  };
  return [...facts, waiting];
}

/** A rest that ends at a given time is none: whoever looks after the store would end it. */
function isSuspended(last: Fact): boolean {
  return last.type === "done" || (last.type === "waiting" && last.until === undefined);
}

/**
 * The facts with those calls refused that have no result and that `mustAskAgain` names. When the run goes on, the model
 * is told, and what it asks for then is checked, and asked for, here and now.
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

/** The run and those that are nested in it and not over. */
function listActiveRuns(run: RunState): RunState[] {
  const nested = [...run.nested.values()].flatMap((state) => state.run ?? []);
  return [run, ...nested.filter((nestedRun) => !nestedRun.done).flatMap(listActiveRuns)];
}

const refusalMessage =
  "The call was not made: it was open when its session was copied, and no approval goes along with a copy. Make it again if it is still needed.";
