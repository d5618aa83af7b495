import type { FactBody } from "../event.ts";
import { interruptedCalls } from "./cancelled.ts";
import { done, note, type Rule } from "./rule.ts";

const mostRecoveries = 5;

/** A run that ends its process each time it is taken up again is left alone: it would take the others with it. */
export const quarantined: Rule = ({ run }) => {
  if (run.recoveries <= mostRecoveries) return undefined;
  const message = `The process was gone ${run.recoveries} times while it worked on turn ${run.turn}. The run is not taken up again.`;
  const error = { code: "quarantined", message, retryable: false };
  const facts: FactBody[] = interruptedCalls(run);
  return note(
    "quarantine",
    ...facts,
    { type: "error", ...error },
    done(run, { status: "failed", text: message, error }),
  );
};
