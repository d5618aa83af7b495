import type { Agent } from "../agent.ts";
import type { Effect } from "../effect.ts";
import type { FactBody, RunStatus } from "../event.ts";
import type { Json } from "../json.ts";
import type { RunState, State } from "../state/state.ts";

/** What a rule looks at. */
export type RuleContext = { readonly agent: Agent; readonly state: State; readonly run: RunState };

export type Decision =
  | { readonly type: "effects"; readonly effects: readonly Effect[] }
  /** `waiting`: only a person's or a client's answer can move the run, or the time `until`. */
  | { readonly type: "stop"; readonly reason: "done" | "waiting"; readonly until?: number };

/** A pure rule: what must happen now, or nothing when it has no say. The first rule with an answer decides. */
export type Rule = (view: RuleContext) => Decision | undefined;

/** Decides that something be said. `place` makes the ids of its facts unique in the run. */
export function decideFacts(place: string, ...facts: readonly FactBody[]): Decision {
  return { type: "effects", effects: [{ type: "note", id: place, facts }] };
}

/** The last fact of a run. */
export function buildDone(
  run: RunState,
  end: {
    status: RunStatus;
    text: string;
    grounded?: boolean;
    output?: Json;
    error?: { code: string; message: string; retryable?: boolean };
  },
): FactBody {
  const { status, text, grounded = isGrounded(run), output, error } = end;
  const { usage } = run;
  return {
    type: "done",
    status,
    text,
    usage,
    cost: usage.cost ?? 0,
    grounded,
    ...(output !== undefined && { output }),
    ...(error && {
      error: { code: error.code, message: error.message, retryable: error.retryable ?? false },
    }),
  };
}

/** Whether a tool was called; a handoff is such a call. */
export function hasActed({ toolCalls, handoffs }: RunState): boolean {
  return toolCalls.length > 0 || handoffs.length > 0;
}

/** An answer has nothing to stand on when tools were tried and none of them worked. */
function isGrounded({ toolCalls, handoffCalls }: RunState): boolean {
  const tried = toolCalls.filter(({ id }) => !handoffCalls.has(id));
  return tried.length === 0 || tried.some((call) => call.status === "ok");
}
