import { fold } from "../apply.ts";
import { errorData } from "../errors.ts";
import { type Fact, type FactBody, factId } from "../event.ts";
import type { Call } from "../state.ts";

/**
 * The facts with a rest at their end. A copy of an unfinished run must not look like one whose process has died:
 * whoever takes over such runs would go on with it, and nobody has asked for that.
 */
export function parked(facts: readonly Fact[]): readonly Fact[] {
  const last = facts.at(-1);
  if (!last || isAtRest(last)) return facts;
  const { runId, sessionId, agent, turn, at, seq } = last;
  const body: FactBody = { type: "waiting", callIds: [] };
  const waits = fold(sessionId, facts).run?.waits ?? 0;
  const rest: Fact = {
    ...body,
    ...{ runId, sessionId, agent, turn, at },
    id: factId(body, runId, String(waits)),
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
  const calls = run && !run.done ? [...(run.round?.calls.values() ?? [])] : [];
  const open = calls.filter((call) => !call.result && !call.check?.error && mustAskAgain(call));
  if (open.length === 0) return facts;
  const said = facts.findLastIndex((fact) => fact.type === "message");
  const refused = open.map(({ part }) => [part.id, { error: errorData("approval_mismatch", refusal) }]);
  return facts.map((fact, index) =>
    index === said && fact.type === "message"
      ? { ...fact, checks: { ...fact.checks, ...Object.fromEntries(refused) } }
      : fact,
  );
}

const refusal =
  "The call was not made: it was open when its session was copied, and no approval goes along with a copy. Make it again if it is still needed.";
