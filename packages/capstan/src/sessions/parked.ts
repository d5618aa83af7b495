import { toErrorData } from "../errors.ts";
import type { Fact, FactBody } from "../event.ts";
import { createFactId } from "../ids.ts";
import { fold } from "../state/apply.ts";
import type { Call, RunState } from "../state/state.ts";
import { isNested } from "./stored-facts.ts";

/**
 * The facts with a rest at their end. A copy of an unfinished run must not look like one whose process has died:
 * whoever takes over such runs would go on with it, and nobody has asked for that.
 */
export function parked(facts: readonly Fact[]): readonly Fact[] {
  // A nested run rests with the one around it.
  const last = facts.findLast((fact) => !isNested(fact));
  const newest = facts.at(-1);
  if (!last || !newest || (isAtRest(newest) && !isNested(newest))) return facts;
  const { runId, sessionId, agent, turn } = last;
  const { at, seq } = newest;
  const body: FactBody = { type: "waiting", callIds: [] };
  const waits = fold(sessionId, facts).run?.waits ?? 0;
  const rest: Fact = {
    ...body,
    ...{ runId, sessionId, agent, turn, at },
    id: createFactId(body, runId, String(waits)),
    seq: seq + 1,
  };
  return [...facts, rest];
}

/** A rest that ends at a given time is none: whoever looks after the store would end it. */
function isAtRest(last: Fact): boolean {
  return last.type === "done" || (last.type === "waiting" && last.until === undefined);
}

/**
 * The facts with those calls refused that have no result and that `mustAskAgain` names. When the run goes on, the model
 * is told, and what it asks for then is checked, and asked for, here and now.
 */
export function withoutOpenCalls(
  facts: readonly Fact[],
  mustAskAgain: (call: Call) => boolean,
): readonly Fact[] {
  const { run } = fold(facts[0]?.sessionId ?? "", facts);
  let left = facts;
  for (const open of run && !run.done ? withInner(run) : [])
    left = withoutOpenCallsOf(open, left, mustAskAgain);
  return left;
}

function withoutOpenCallsOf(
  run: RunState,
  facts: readonly Fact[],
  mustAskAgain: (call: Call) => boolean,
): readonly Fact[] {
  const calls = [...(run.currentTurn?.calls.values() ?? [])];
  const open = calls.filter((call) => !call.result && !call.check?.error && mustAskAgain(call));
  if (open.length === 0) return facts;
  const said = facts.findLastIndex((fact) => fact.type === "message" && fact.runId === run.id);
  const refused = open.map(({ part }) => [part.id, { error: toErrorData("approval_mismatch", refusal) }]);
  return facts.map((fact, index) =>
    index === said && fact.type === "message"
      ? { ...fact, checks: { ...fact.checks, ...Object.fromEntries(refused) } }
      : fact,
  );
}

/** The run and those that are nested in it and not over. */
function withInner(run: RunState): RunState[] {
  const inner = [...run.nested.values()].flatMap((state) => state.run ?? []);
  return [run, ...inner.filter((one) => !one.done).flatMap(withInner)];
}

const refusal =
  "The call was not made: it was open when its session was copied, and no approval goes along with a copy. Make it again if it is still needed.";
