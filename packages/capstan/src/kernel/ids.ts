import type { FactBody, UnplacedFact } from "./event.ts";
import type { IdContext } from "./fact-row.ts";

/** The id of a fact that occurs once in a run. */
export function identifyByType({ type }: FactBody, { prefix }: IdContext): string {
  return `${prefix}/${type}`;
}

/** The id of a fact that may occur several times in a run. */
export function identifyBySuffix({ type }: FactBody, { prefix, idSuffix }: IdContext): string {
  return `${prefix}/${type}/${idSuffix}`;
}

/** Returns the identity of a fact within its session. A store keeps one fact per identity. */
export function identifyFact(fact: UnplacedFact): string {
  return `${fact.runId}/${fact.type}/${fact.id}${formatAttempt(fact)}`;
}

/** A tool fact has the id of its call, which may start, and after a retry end, more than once. */
function formatAttempt(fact: UnplacedFact): string {
  if (fact.type === "tool_call_start") return `/${fact.attempt}`;
  return fact.type === "tool_call_result" && fact.retry !== undefined ? `/retry${fact.retry}` : "";
}

/** Returns the identity of a run's first fact. An imported fact may have another one. */
export function identifyRunStart(runId: string): string {
  return `${runId}/run_start/${runId}/run_start`;
}

/** Returns the id of the call of a run's fallback tool. */
export function createFallbackId(runId: string): string {
  return `${runId}.fallback`;
}

/**
 * Creates a unique id. Uses `join` because concatenation would keep the rope of small strings that `randomUUID` returns
 * alive in every fact.
 */
export function createId(...parts: readonly string[]): string {
  return [...parts, crypto.randomUUID()].join("");
}

const evalSession = /(?:^|~)ses_eval_/;

/** Creates the id of a session for a run of an eval, in a user's scope. */
export function createEvalSessionId(scope: string): string {
  return createId(scope === "" ? "" : `${scope}~`, "ses_eval_");
}

/**
 * Whether a session belongs to a run of an eval. Its tools may be replaced by simulations, which only its own process
 * has: another process must not continue the run with the real ones.
 */
export function isEvalSession(sessionId: string): boolean {
  return evalSession.test(sessionId);
}
