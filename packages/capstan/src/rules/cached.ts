import { toolOf } from "../builtin-tools.ts";
import { callKey } from "../close-round.ts";
import type { FactBody } from "../event.ts";
import type { CachedResult, Call, RunState } from "../state.ts";
import { note, type Rule } from "./rule.ts";

/** A call whose result is still fresh gets that result again, and is not made. */
export const cached: Rule = ({ agent, state, run }) => {
  const { round } = run;
  if (!round || round.unsettled === 0 || state.cache.size === 0) return undefined;
  if (round.tools === "withdrawn" || round.tools === "unavailable") return undefined;
  const facts: FactBody[] = [];
  for (const call of round.calls.values()) {
    if (!mayRun(call, run) || !toolOf(agent, call.part.name)?.cacheMs) continue;
    const known = state.cache.get(callKey(call.part));
    if (known?.cacheUntil !== undefined && known.cacheUntil > run.lastAt) facts.push(again(known, call));
  }
  return facts.length > 0 ? note(`cached.${run.turn}`, ...facts) : undefined;
};

/** Only what could be made now: not begun, nothing against it, and approved where that is needed. */
function mayRun({ result, attempt, check, approval }: Call, { policy }: RunState): boolean {
  if (result || attempt > 0 || check?.error) return false;
  if (!check?.approval || approval?.approved === true) return true;
  return policy.approvals === "allow" && !check.approval.because;
}

function again(known: CachedResult, { part }: Call): FactBody {
  const { name, result, status, data, ui, contexts, affected, reads } = known;
  return {
    type: "tool_call_result",
    id: part.id,
    name,
    result,
    is_error: false,
    status,
    attempts: 0,
    ms: 0,
    cached: true,
    ...(data !== undefined && { data }),
    ...(ui && { ui }),
    ...(contexts && { contexts }),
    ...(affected !== undefined && { affected }),
    ...(reads && { reads }),
  };
}
