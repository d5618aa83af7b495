import type { RunState } from "../state/state.ts";
import { settleOpenCalls } from "./refusals.ts";
import { buildDone, decideFacts, type Rule } from "./rule.ts";

const maxSoloCrashes = 3;
/** Limits the wait before a suspect is resumed to this many times its first wait. */
const maxBackoff = 256;

/**
 * Fails a run whose process crashed repeatedly while it executed no other run. Crashes in the company of other runs do not
 * count, because any of them may be the cause.
 */
export const stopWhenQuarantined: Rule = ({ run }) => {
  if (run.soloCrashes < maxSoloCrashes) return undefined;
  const message = `The run was stopped because its process crashed ${run.soloCrashes} times while it executed only this run (${describeWork(run)}). Retry the run to release it.`;
  const error = { code: "quarantined", message, retryable: false };
  return decideFacts(
    "quarantine",
    ...settleOpenCalls(run),
    { type: "error", ...error },
    buildDone(run, { status: "failed", text: message, error, canRetry: true }),
  );
};

function describeWork({ turn, currentTurn }: RunState): string {
  const calls = [...(currentTurn?.calls.values() ?? [])].filter((call) => call.attempt > 0 && !call.result);
  const names = [...new Set(calls.map(({ part }) => `"${part.name}"`))];
  return names.length > 0 ? `last call: ${names.join(", ")}` : `in turn ${turn}`;
}

/**
 * How a run resumes after its process crashed. Undefined: immediately, beside other runs. A run that makes no progress
 * between two crashes is a suspect: it resumes alone, and later after each further crash.
 */
export function planSoloRetry(run: RunState): { readonly backoff: number } | undefined {
  const crashes = run.soloCrashes + (run.isAlone ? 1 : 0);
  if (run.recoveries === 0 || crashes >= maxSoloCrashes) return undefined;
  return { backoff: Math.min(maxBackoff, 2 ** (run.recoveries - 1)) };
}
