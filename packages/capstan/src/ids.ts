import type { FactBody, UnplacedFact } from "./event.ts";

/**
 * Derives the id of a fact from its content, never from randomness or time, so that a step repeated after a crash
 * records nothing twice: one start per turn, one result per call, one end per run. `idSuffix` distinguishes facts that
 * may occur several times.
 */
export function createFactId(body: FactBody, runId: string, idSuffix: string): string {
  switch (body.type) {
    // These use the id of their call; `identifyFact` distinguishes start and result.
    case "tool_call_start":
    case "tool_call_result":
      return body.id;
    case "turn_start":
    case "turn_end":
    case "turn_summary":
      return `${runId}/${body.type}/${body.turn}`;
    case "compaction_start":
    case "compacted":
      return `${runId}/${body.type}/${body.number}`;
    case "handoff":
    case "handoff_denied":
    case "handoff_return":
      return `${runId}/${body.type}/${body.callId}`;
    case "approval_required":
    case "approval_resolved":
      // The number precedes the slash, because a call id comes from the provider and may end in a number.
      return `${runId}/${body.type}${body.number === undefined ? "" : `.${body.number}`}/${body.callId}`;
    case "run_start":
    case "cancel_requested":
    case "limit_reached":
    case "error":
    case "done":
      return `${runId}/${body.type}`;
    case "message":
    case "model_failed":
    case "waiting":
    case "steered":
    case "recovered":
    case "woken":
    case "warning":
      return `${runId}/${body.type}/${idSuffix}`;
  }
}

/** Returns the identity of a fact within its session. A store keeps one fact per identity. */
export function identifyFact(fact: UnplacedFact): string {
  const attempt = fact.type === "tool_call_start" ? `/${fact.attempt}` : "";
  return `${fact.runId}/${fact.type}/${fact.id}${attempt}`;
}

/** Returns the identity of a run's first fact. An imported fact may have another one. */
export function identifyRunStart(runId: string): string {
  return `${runId}/run_start/${runId}/run_start`;
}

/**
 * Creates a unique id. Uses `join` because concatenation would keep the rope of small strings that `randomUUID` returns
 * alive in every fact.
 */
export function createId(...parts: readonly string[]): string {
  return [...parts, crypto.randomUUID()].join("");
}
