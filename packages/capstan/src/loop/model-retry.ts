import { type Clock, sleep } from "../clock.ts";
import { findFailure, type ModelRetryPlan, type Step } from "../effect.ts";
import { type ErrorData, isOutage } from "../errors.ts";
import type { DeltaBody, FactBody } from "../event.ts";
import { countAttempts, createRetryDelta, maxRequestedWaitMs } from "./attempts.ts";

export type ModelRetryOptions = {
  readonly clock: Clock;
  /** Whether the run may suspend during an outage: an engine resumes it later. */
  readonly canSuspend: boolean;
  emit(delta: DeltaBody): void;
};

/** Default patience with an outage: for a run that waits in its process, and for a run that can suspend. */
const heldPatienceMs = 90_000;
const suspendedPatienceMs = 86_400_000;
/** Longest backoff of a run that waits in its process, so that it notices soon when the provider is back. */
const maxHeldWaitMs = 10_000;
/** First wait of a suspended run. Suspending for less costs more than it saves. */
const minSuspensionMs = 5_000;

/**
 * Repeats a model call that failed with a retryable error. An unusable answer is requested a few times. During an outage
 * the call is repeated until the policy's patience ends: the run waits in its process or, under an engine, suspends after
 * a few attempts. If another model can answer instead, a run that cannot suspend does not wait.
 */
export function withModelRetry(step: Step, options: ModelRetryOptions): Step {
  const { clock, canSuspend, emit } = options;
  return async (effect, signal) => {
    if (effect.type !== "model" && effect.type !== "summary") return step(effect, signal);
    const { retry } = effect;
    const startedAt = clock.monotonic();
    const mayRest = canSuspend && effect.type === "model";
    for (let attempt = 1; ; attempt++) {
      const facts = await step(effect, signal);
      const failure = findFailure(facts);
      if (!failure?.retryable || signal.aborted) return countAttempts(facts, attempt);
      const hasQuickAttempts = attempt < retry.attempts && retry.suspensions === 0;
      const patienceMs = computePatienceMs(failure, retry, mayRest) - (clock.monotonic() - startedAt);
      const waitMs = computeHeldWaitMs(failure, retry, attempt);
      const isLong = (failure.retryAfterMs ?? 0) > maxRequestedWaitMs;
      if (mayRest && patienceMs > 0 && (isLong || !hasQuickAttempts))
        return countAttempts(facts, attempt).map((fact) => park(fact, failure, retry));
      if (!hasQuickAttempts && waitMs > patienceMs) return countAttempts(facts, attempt);
      emit(createRetryDelta(failure, { attempt, waitMs, at: clock.now() + waitMs }));
      // If the run is cancelled while waiting, the failure is the result.
      await sleep(clock, waitMs, signal).catch(() => undefined);
      if (signal.aborted) return countAttempts(facts, attempt);
    }
  };
}

/** Returns how much longer an outage may last: 0 for an unusable answer, and if waiting for this model is not worthwhile. */
function computePatienceMs(failure: ErrorData, retry: ModelRetryPlan, canSuspend: boolean): number {
  if (!isOutage(failure)) return 0;
  // Unless the run can suspend, another model answers sooner, and repeating an answer that is always cut off only costs.
  if (!canSuspend && (retry.hasAlternative || failure.code === "stream_truncated")) return 0;
  const defaultMs = canSuspend ? suspendedPatienceMs : heldPatienceMs;
  return (retry.patienceMs === "auto" ? defaultMs : retry.patienceMs) - retry.failingMs;
}

function computeHeldWaitMs({ retryAfterMs = 0 }: ErrorData, retry: ModelRetryPlan, attempt: number): number {
  const requestedMs = retryAfterMs > maxRequestedWaitMs ? 0 : retryAfterMs;
  const backoffMs = computeWaitMs(retry.minMs, Math.min(retry.maxMs, maxHeldWaitMs), attempt);
  return Math.max(requestedMs, backoffMs);
}

/** Marks a failure that the run waits out while it is suspended. */
function park(fact: FactBody, { retryAfterMs = 0 }: ErrorData, retry: ModelRetryPlan): FactBody {
  if (fact.type !== "model_failed") return fact;
  const minMs = Math.min(Math.max(retry.minMs, minSuspensionMs), retry.maxMs);
  const waitMs = Math.max(retryAfterMs, computeWaitMs(minMs, retry.maxMs, retry.suspensions + 1));
  return { ...fact, isParked: true, waitMs };
}

/** Doubles the wait with each attempt. Half of it is random, so that runs which failed together do not retry together. */
function computeWaitMs(minMs: number, maxMs: number, attempt: number): number {
  const longestMs = Math.min(maxMs, minMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round(longestMs * (1 - Math.random() / 2));
}

/** Receives the outcome of a model call: whether the provider is up, even if it rejected the request. */
export type OnModelCall = (model: string, isUp: boolean) => void;

/** Reports the outcome of every attempt of a model call. */
export function withModelObserver(step: Step, onModelCall: OnModelCall | undefined): Step {
  if (!onModelCall) return step;
  return async (effect, signal) => {
    const facts = await step(effect, signal);
    for (const fact of facts) {
      if (fact.type === "message" && fact.stopReason !== "aborted") onModelCall(fact.model, true);
      else if (fact.type === "model_failed" && !signal.aborted)
        onModelCall(fact.model, !isOutage(fact.error));
    }
    return facts;
  };
}
