import type { FactBody, UnplacedFact } from "./event.ts";

/**
 * Derives the id of a fact from its content, never from randomness or time, so that a step repeated after a crash
 * records nothing twice: one start per turn, one result per call, one end per run. `idSuffix` distinguishes facts that
 * may occur several times; `retries` distinguishes the facts of a retried run, such as its second end.
 */
export function createFactId(
  body: FactBody,
  { runId, retries }: { readonly runId: string; readonly retries: number },
  idSuffix: string,
): string {
  const prefix = retries === 0 ? runId : `${runId}.retry${retries}`;
  switch (body.type) {
    // These use the id of their call; `identifyFact` distinguishes start and result.
    case "tool_call_start":
    case "tool_call_result":
      return body.id;
    case "turn_start":
      return `${runId}/${body.type}/${body.turn}`; // a retry continues the turn
    case "turn_end":
    case "turn_summary":
      return `${prefix}/${body.type}/${body.turn}`;
    case "compaction_start":
    case "compacted":
      return `${prefix}/${body.type}/${body.number}`;
    case "handoff":
    case "handoff_denied":
    case "handoff_return":
      return `${prefix}/${body.type}/${body.callId}`;
    case "approval_required":
    case "approval_resolved":
      // The number precedes the slash, because a call id comes from the provider and may end in a number.
      return `${prefix}/${body.type}${body.number === undefined ? "" : `.${body.number}`}/${body.callId}`;
    case "cancel_requested":
      return `${prefix}/${body.type}${body.callId === undefined ? "" : `/${body.callId}`}`;
    case "run_start":
    case "limit_reached":
    case "error":
    case "done":
      return `${prefix}/${body.type}`;
    case "message":
    case "message_partial":
    case "model_failed":
    case "waiting":
    case "steered":
    case "recovered":
    case "solo_end":
    case "woken":
    case "retried":
    case "warning":
      return `${prefix}/${body.type}/${idSuffix}`;
  }
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
