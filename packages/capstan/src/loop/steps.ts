import { type Clock, sleep } from "../clock.ts";
import {
  type Effect,
  type Engine,
  findFailure,
  type NoteEffect,
  type ShortenEffect,
  type Step,
  toIntent,
} from "../effect.ts";
import { AgentError } from "../errors.ts";
import type { DeltaBody, FactBody } from "../event.ts";
import type { Retry } from "../policy.ts";
import { countAttempts, createRetryDelta, maxRequestedWaitMs } from "./attempts.ts";

/** Runs effects in this process, concurrently. */
export function direct(step: Step, signal: AbortSignal): Engine {
  return {
    async all(effects) {
      // Wait for all: no effect may be in flight when the next decision is made.
      const outcomes = await Promise.allSettled(effects.map((effect) => step(effect, signal)));
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    },
  };
}

/** Runs at most `limit` tool calls at once; the others start in call order. */
export function withConcurrencyLimit(step: Step, limit: number): Step {
  let running = 0;
  const queue: (() => void)[] = [];
  return async (effect, signal) => {
    if (effect.type !== "tool") return step(effect, signal);
    if (running < limit) running += 1;
    else await new Promise<void>((start) => queue.push(start));
    try {
      return await step(effect, signal);
    } finally {
      const next = queue.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

/** Resolves when the facts are stored. */
export type Journal = { append(facts: readonly FactBody[], idSuffix: string): Promise<void> };

/**
 * Stores the intent, performs the effect, and stores the result as soon as this effect is done: a crash after three of
 * four calls repeats none of the three. After a cancellation no further effect starts.
 */
export function withJournal(step: Step, journal: Journal): Step {
  return async (effect, signal) => {
    if (signal.aborted && effect.type !== "note") return [];
    await journal.append(toIntent(effect), effect.id);
    const facts = await step(effect, signal);
    await journal.append(facts, effect.id);
    return facts;
  };
}

/** Whether an effect needs neither a model nor a tool, and so neither a time limit nor a retry. */
function isLocal(effect: Effect): effect is NoteEffect | ShortenEffect {
  return effect.type === "note" || effect.type === "shorten";
}

/** Aborts an effect after one of its two time limits. The facts it returns after the abort still count. */
export function withTimeout(step: Step, clock: Clock, limit: "timeoutMs" | "deadlineMs"): Step {
  return async (effect, signal) => {
    // `unlimited` is stored as the largest integer: no timer then.
    if (isLocal(effect) || effect[limit] === Number.MAX_SAFE_INTEGER) return step(effect, signal);
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

type RetryOptions = { readonly clock: Clock; emit(delta: DeltaBody): void };

/** Retries a tool call that failed with a retryable error, as its `retry` settings say. */
export function withRetry(step: Step, { clock, emit }: RetryOptions): Step {
  return async (effect, signal) => {
    if (effect.type !== "tool") return step(effect, signal);
    for (let attempt = 1; ; attempt++) {
      const facts = await step(effect, signal);
      const failure = findFailure(facts);
      const shouldRetry = failure?.retryable && attempt < effect.retry.maxAttempts && !signal.aborted;
      if (!shouldRetry) return countAttempts(facts, attempt);
      const requestedMs = failure.retryAfterMs ?? 0;
      const waitMs = Math.max(
        requestedMs > maxRequestedWaitMs ? 0 : requestedMs,
        computeBackoffMs(effect.retry, attempt, Math.random()),
      );
      emit(createRetryDelta(failure, { attempt, waitMs, at: clock.now() + waitMs }));
      // If the run is cancelled while waiting, the failure is the result.
      await sleep(clock, waitMs, signal).catch(() => undefined);
      if (signal.aborted) return countAttempts(facts, attempt);
    }
  };
}

/** The wait after attempt `attempt`: `baseMs` times the attempt, or doubled each time; `chance` is 0 to 1. */
export function computeBackoffMs(
  { baseMs, factor, maxMs, jitter }: Retry,
  attempt: number,
  chance: number,
): number {
  const wait = Math.min(maxMs, factor === "linear" ? baseMs * attempt : baseMs * 2 ** (attempt - 1));
  return Math.round(wait * (1 - jitter * chance));
}
