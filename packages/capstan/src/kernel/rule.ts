import type { ErrorData } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { needsSources } from "../base/needs-sources.ts";
import type { Agent } from "./agent.ts";
import type { Effect } from "./effect.ts";
import type { FactBody, RunStatus } from "./event.ts";
import type { RunState, State } from "./state.ts";

/** The input of a rule. */
export type RuleContext = { readonly agent: Agent; readonly state: State; readonly run: RunState };

export type Decision =
  | { readonly type: "effects"; readonly effects: readonly Effect[] }
  /** `waiting`: the run suspends until the user or the client answers, or until the time `until`. */
  | { readonly type: "stop"; readonly reason: "done" | "waiting"; readonly until?: number };

/** A pure function that returns a decision, or undefined if it does not apply. The first decision wins. */
export type Rule = (context: RuleContext) => Decision | undefined;

/** Decides to record facts. `id` makes the ids of the facts unique within the run. */
export function decideFacts(id: string, ...facts: readonly FactBody[]): Decision {
  return { type: "effects", effects: [{ type: "note", id, facts }] };
}

/** Builds the last fact of a run. */
export function buildDone(
  run: RunState,
  end: {
    status: RunStatus;
    text: string;
    grounded?: boolean;
    output?: Json;
    error?: ErrorData | Pick<ErrorData, "code" | "message">;
    /** Whether a `retry` message may continue the run. A nested run ends with the call that it answers. */
    canRetry?: boolean;
  },
): FactBody {
  const { status, text, grounded = isGrounded(run), output, error, canRetry = false } = end;
  const { usage } = run;
  return {
    type: "done",
    status,
    text,
    usage,
    cost: usage.cost ?? 0,
    grounded,
    ...(output !== undefined && { output }),
    // The same object, by which `orThrow` finds what was thrown.
    ...(error && { error: "retryable" in error ? error : { ...error, retryable: false } }),
    ...(canRetry && !run.parent && { canRetry }),
  };
}

/** Whether the policy requires a tool call before an answer. With `auto`, small talk and arithmetic need none. */
export function requiresTool({ agent, run }: RuleContext): boolean {
  const { requireToolFirst } = run.policy;
  if (!requireToolFirst || agent.tools.size === 0) return false;
  return requireToolFirst === true || needsSources(run.query);
}

/** Whether a tool was called. A handoff counts. */
export function hasActed({ toolCalls, handoffs }: RunState): boolean {
  return toolCalls.length > 0 || handoffs.length > 0;
}

/** False if tools were called and none of them succeeded. */
function isGrounded({ toolCalls, handoffCalls }: RunState): boolean {
  const tried = toolCalls.filter(({ id }) => !handoffCalls.has(id));
  return tried.length === 0 || tried.some((call) => call.status === "ok");
}
