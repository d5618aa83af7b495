import { type Clock, sleep } from "../clock.ts";
import { failureOf, type Step } from "../effect.ts";
import type { DeltaBody, FactBody } from "../event.ts";
import type { Retry } from "../policy.ts";

type Waiting = {
  readonly clock: Clock;
  /** Whether a run whose model asks for a long time of patience may rest, for somebody takes it up again. */
  readonly canPark?: boolean;
  emit(delta: DeltaBody): void;
};

/** Nobody should be held for longer by what a provider asks. */
const longestWaitMs = 60_000;

/** Tries an effect again while it fails in a way that may pass, as its own `retry` says. */
export function retried(step: Step, { clock, canPark = false, emit }: Waiting): Step {
  return async (effect, signal) => {
    if (effect.type === "note") return step(effect, signal);
    for (let attempt = 1; ; attempt++) {
      const facts = await step(effect, signal);
      const failure = failureOf(facts);
      const again = failure?.retryable && attempt < effect.retry.maxAttempts && !signal.aborted;
      if (!again) return countAttempts(facts, attempt);
      const asked = failure.retryAfterMs ?? 0;
      const isLong = asked > longestWaitMs;
      if (isLong && canPark && effect.type === "model") return countAttempts(facts, attempt).map(parked);
      const waitMs = Math.max(isLong ? 0 : asked, backoffMs(effect.retry, attempt, Math.random()));
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

function parked(fact: FactBody): FactBody {
  return fact.type === "model_failed" ? { ...fact, isParked: true } : fact;
}

function countAttempts(facts: readonly FactBody[], attempts: number): readonly FactBody[] {
  return facts.map((fact) =>
    fact.type === "tool_call_result" || fact.type === "model_failed" ? { ...fact, attempts } : fact,
  );
}
