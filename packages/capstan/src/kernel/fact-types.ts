import { AgentError } from "../base/errors.ts";
import type { FactBody } from "./event.ts";

const factTypes: Readonly<Record<FactBody["type"], true>> = {
  ...{ run_start: true, turn_start: true, message: true, message_partial: true, model_failed: true },
  ...{ compaction_start: true, compacted: true, tool_call_start: true, tool_call_result: true },
  ...{ approval_required: true, approval_resolved: true, waiting: true, woken: true },
  ...{ handoff: true, handoff_denied: true, handoff_return: true, steered: true, cancel_requested: true },
  ...{ retried: true, recovered: true, solo_end: true, turn_end: true, turn_summary: true },
  ...{ limit_reached: true, warning: true, error: true, done: true },
};

/** Throws `invalid_input` for a fact that no version of this library could fold: it would make its session unreadable. */
export function assertFactTypes(facts: readonly { readonly type: string }[]): void {
  for (const { type } of facts) {
    if (typeof type === "string" && Object.hasOwn(factTypes, type)) continue;
    const message = `Unknown fact type ${JSON.stringify(type)}. A log takes the facts of this library only; keep other data in records.`;
    throw new AgentError("invalid_input", message);
  }
}
