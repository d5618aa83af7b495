import type { FactBody } from "../../kernel/event.ts";
import type { FactRows, IdContext } from "../../kernel/fact-row.ts";
import type { RunState, State } from "../../kernel/state.ts";
import { applyHandoff, applyHandoffReturn } from "./fold.ts";

type HandoffType = "handoff" | "handoff_denied" | "handoff_return";

function identifyByCall(
  { type, callId }: Extract<FactBody, { readonly type: HandoffType }>,
  { prefix }: IdContext,
): string {
  return `${prefix}/${type}/${callId}`;
}

export const handoffFacts: FactRows<HandoffType> = {
  handoff: { id: identifyByCall, fold: applyHandoff },
  handoff_denied: {
    id: identifyByCall,
    fold(_, run, { reason }) {
      if (run.policy.handoff?.onDenied === "fail") run.denied = reason;
    },
  },
  handoff_return: { id: identifyByCall, fold: applyHandoffReturn },
};

/** A message of the user ends a series of handoffs between the same two agents. */
export function forgetLastHandoff(_: State, run: RunState): void {
  run.lastHandoff = undefined;
}
