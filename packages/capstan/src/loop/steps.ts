import { type Clock, sleep } from "../clock.ts";
import { type Engine, findFailure, type Step, toIntent } from "../effect.ts";
import { AgentError } from "../errors.ts";
import type { DeltaBody, FactBody } from "../event.ts";
import type { Retry } from "../policy.ts";

/** Runs effects in this process, side by side. */
export function direct(step: Step, signal: AbortSignal): Engine {
  return {
    async all(effects) {
      // Settled, not raced: nothing may still be in flight when the next decision is taken.
      const outcomes = await Promise.allSettled(effects.map((effect) => step(effect, signal)));
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    },
  };
}

/** At most `most` tool calls at once; the others begin in call order as places become free. */
export function limited(step: Step, most: number): Step {
  let running = 0;
  const queue: (() => void)[] = [];
  return async (effect, signal) => {
    if (effect.type !== "tool") return step(effect, signal);
    if (running < most) running += 1;
    else await new Promise<void>((begin) => queue.push(begin));
    try {
      return await step(effect, signal);
    } finally {
      const next = queue.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

/** Where facts go. Resolves when they are stored. */
export type Journal = { append(facts: readonly FactBody[], place: string): Promise<void> };

/**
 * Stores the intent, performs, stores the result as soon as this effect is done: a crash after three of four
 * calls repeats none of the three. What was not begun when the run was cancelled is not begun any more.
 */
export function recorded(step: Step, journal: Journal): Step {
  return async (effect, signal) => {
    if (signal.aborted && effect.type !== "note") return [];
    await journal.append(toIntent(effect), effect.id);
    const facts = await step(effect, signal);
    await journal.append(facts, effect.id);
    return facts;
  };
}

/** Aborts an effect when its time is up, by one of its two limits; what it then says is still its own answer. */
export function timed(step: Step, clock: Clock, limit: "timeoutMs" | "deadlineMs"): Step {
  return async (effect, signal) => {
    // No limit, no timer: `unlimited` is the largest number there is.
    if (effect.type === "note" || effect[limit] === Number.MAX_SAFE_INTEGER) return step(effect, signal);
    const deadline = new AbortController();
    const forward = () => deadline.abort(signal.reason);
    if (signal.aborted) forward();
    else signal.addEventListener("abort", forward, { once: true });
    const subject = effect.type === "tool" ? `"${effect.name}"` : "The model";
    const code = effect.type === "tool" ? "tool_timeout" : "model_timeout";
    const cancel = clock.after(effect[limit], () => {
      deadline.abort(new AgentError(code, `${subject} took longer than ${effect[limit]} ms.`));
    });
    try {
      return await step(effect, deadline.signal);
    } finally {
      cancel();
      signal.removeEventListener("abort", forward);
    }
  };
}

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
      const failure = findFailure(facts);
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
