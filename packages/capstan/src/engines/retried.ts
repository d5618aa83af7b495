import { type Clock, sleep } from "../clock.ts";
import { failureOf, type Step } from "../effect.ts";
import type { DeltaBody, FactBody } from "../event.ts";
import type { Retry } from "../policy.ts";

type Waiting = { readonly clock: Clock; emit(delta: DeltaBody): void };

/** Tries an effect again while it fails in a way that may pass, as its own `retry` says. */
export function retried(step: Step, { clock, emit }: Waiting): Step {
  return async (effect, signal) => {
    if (effect.type === "note") return step(effect, signal);
    for (let attempt = 1; ; attempt++) {
      const facts = await step(effect, signal);
      const failure = failureOf(facts);
      const again = failure?.retryable && attempt < effect.retry.maxAttempts && !signal.aborted;
      if (!again) return countAttempts(facts, attempt);
      const waitMs = Math.max(failure.retryAfterMs ?? 0, backoffMs(effect.retry, attempt, Math.random()));
      emit({ type: "retry", attempt, code: failure.code, waitMs });
      // Cancelled while waiting: the failure stands.
      await sleep(clock, waitMs, signal).catch(() => undefined);
      if (signal.aborted) return countAttempts(facts, attempt);
    }
  };
}

/** The wait after attempt `attempt`: `baseMs` times the attempt, or doubled each time; `chance` is 0 to 1. */
export function backoffMs({ baseMs, factor, maxMs, jitter }: Retry, attempt: number, chance: number): number {
  const wait = Math.min(maxMs, factor === "linear" ? baseMs * attempt : baseMs * 2 ** (attempt - 1));
  return Math.round(wait * (1 - jitter * chance));
}

function countAttempts(facts: readonly FactBody[], attempts: number): readonly FactBody[] {
  return facts.map((fact) =>
    fact.type === "tool_call_result" || fact.type === "model_failed" ? { ...fact, attempts } : fact,
  );
}
