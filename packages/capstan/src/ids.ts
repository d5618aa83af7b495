import type { FactBody, UnplacedFact } from "./event.ts";

/**
 * The id of a fact, from what it says and never from chance or time, so that a step that is repeated after a
 * crash says nothing twice: one start per turn, one result per call, one end per run. `place` tells apart
 * facts that may occur several times.
 */
export function createFactId(body: FactBody, runId: string, place: string): string {
  switch (body.type) {
    // These carry the id of their call; `identityOf` tells start and result apart.
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
      // The number stands before the slash: call ids are made by providers and may end like one.
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
      return `${runId}/${body.type}/${place}`;
  }
}

/** What makes a fact unique in its session: a store keeps one fact per identity. */
export function identifyFact(fact: UnplacedFact): string {
  const attempt = fact.type === "tool_call_start" ? `/${fact.attempt}` : "";
  return `${fact.runId}/${fact.type}/${fact.id}${attempt}`;
}

/**
 * An id that nobody else has. Joined, not added up: `randomUUID` gives a string of twenty small ones, which every fact
 * would keep.
 */
export function createId(...parts: readonly string[]): string {
  return [...parts, crypto.randomUUID()].join("");
}
