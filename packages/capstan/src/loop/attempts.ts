import type { ErrorData } from "../errors.ts";
import type { DeltaBody, FactBody } from "../event.ts";

/** Longest Retry-After that is waited for while the run holds its process. */
export const maxRequestedWaitMs = 60_000;

/** Reports that an attempt failed and when the next one starts. */
export function createRetryDelta(
  { code, message }: ErrorData,
  attempt: { readonly attempt: number; readonly waitMs: number; readonly at: number },
): DeltaBody {
  return { type: "retry", code, message, ...attempt };
}

/** Notes how many attempts a result or a failure took. */
export function countAttempts(facts: readonly FactBody[], attempts: number): readonly FactBody[] {
  return facts.map((fact) =>
    fact.type === "tool_call_result" || fact.type === "model_failed" ? { ...fact, attempts } : fact,
  );
}
