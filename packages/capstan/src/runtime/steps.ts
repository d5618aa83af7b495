import { type Clock, computeWaitMs, sleep } from "../base/clock.ts";
import { AgentError, type ErrorData, isOutage } from "../base/errors.ts";
import { withMessage } from "../kernel/calls/report-thrown.ts";
import {
  type Effect,
  type Engine,
  findFailure,
  type ModelEffect,
  type ModelRetryPlan,
  type NoteEffect,
  type ShortenEffect,
  type Step,
  type SummaryEffect,
  type ToolEffect,
  toIntent,
} from "../kernel/effect.ts";
import type { DeltaBody, FactBody } from "../kernel/event.ts";
import type { Usage } from "../kernel/model.ts";
import type { Retry } from "../kernel/policy.ts";
import { addUsage } from "../kernel/state.ts";
import type { Log } from "./log.ts";

/** Runs effects in this process, concurrently. */
export function direct(step: Step, signal: AbortSignal): Engine {
  return {
    async all(effects) {
      const [first, second] = effects;
      if (first && !second) return void (await step(first, signal));
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
  const performLimited: Step = async (effect, signal) => {
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
  return (effect, signal) => (effect.type === "tool" ? performLimited : step)(effect, signal);
}

/** `append` resolves when the facts, and all before them, are stored; `appendResult` when the next decision can be made. */
export type Journal = Pick<Log, "append" | "appendResult">;

/**
 * Stores the intent, performs the effect, and stores the result as soon as this effect is done: a crash after three of
 * four calls repeats none of the three. After a cancellation no further effect starts.
 */
export function withJournal(step: Step, journal: Journal): Step {
  return async (effect, signal) => {
    if (signal.aborted && effect.type !== "note") return [];
    if (!isLocal(effect)) await journal.append(toIntent(effect), effect.id);
    const facts = await step(effect, signal);
    await journal.appendResult(facts, effect.id);
    return facts;
  };
}

/** Whether an effect needs neither a model nor a tool, and so neither a time limit nor a retry. */
function isLocal(effect: Effect): effect is NoteEffect | ShortenEffect {
  return effect.type === "note" || effect.type === "shorten";
}

type LimitedEffect = Exclude<Effect, NoteEffect | ShortenEffect>;

/** Aborts an effect after one of its two time limits. The facts it returns after the abort still count. */
export function withTimeout(step: Step, clock: Clock, limit: "timeoutMs" | "deadlineMs"): Step {
  const performWithin = async (effect: LimitedEffect, signal: AbortSignal) => {
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
  // `unlimited` is stored as the largest integer: no timer then.
  return (effect, signal) =>
    isLocal(effect) || effect[limit] === Number.MAX_SAFE_INTEGER
      ? step(effect, signal)
      : performWithin(effect, signal);
}

type RetryOptions = { readonly clock: Clock; emit(delta: DeltaBody): void };

/** Retries a tool call that failed with a retryable error, as its `retry` settings say. */
export function withRetry(step: Step, { clock, emit }: RetryOptions): Step {
  const performTool = async (effect: ToolEffect, signal: AbortSignal) => {
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
  return (effect, signal) => (effect.type === "tool" ? performTool(effect, signal) : step(effect, signal));
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
 * a few attempts. A provider that asks to wait longer than a minute and than that patience is not called again. If another model can answer instead, a run that cannot suspend does not wait.
 */
export function withModelRetry(step: Step, options: ModelRetryOptions): Step {
  const { clock, canSuspend, emit } = options;
  const performModelCall = async (effect: ModelEffect | SummaryEffect, signal: AbortSignal) => {
    const { retry } = effect;
    let failingSince: number | undefined;
    let spent: Usage | undefined;
    const mayRest = canSuspend && effect.type === "model";
    for (let attempt = 1; ; attempt++) {
      const facts = addSpent(await step(effect, signal), spent);
      const failure = findFailure(facts);
      if (!failure?.retryable || signal.aborted) return countAttempts(facts, attempt);
      const hasQuickAttempts = attempt < retry.attempts && retry.suspensions === 0;
      failingSince ??= clock.monotonic(); // not earlier: the process may have been paused before the first attempt
      const patienceMs = computePatienceMs(failure, retry, mayRest) - (clock.monotonic() - failingSince);
      const waitMs = computeHeldWaitMs(failure, retry, attempt);
      const { retryAfterMs = 0 } = failure;
      const isLong = retryAfterMs > maxRequestedWaitMs;
      // Asking again earlier would only be refused again.
      if (isLong && retryAfterMs > patienceMs)
        return countAttempts(facts, attempt).map((fact) => nameWait(fact, clock.now() + retryAfterMs));
      if (mayRest && patienceMs > 0 && (isLong || !hasQuickAttempts))
        return countAttempts(facts, attempt).map((fact) => park(fact, failure, retry));
      if (!hasQuickAttempts && waitMs > patienceMs) return countAttempts(facts, attempt);
      spent = findFailedUsage(facts);
      emit(createRetryDelta(failure, { attempt, waitMs, at: clock.now() + waitMs }));
      // If the run is cancelled while waiting, the failure is the result.
      await sleep(clock, waitMs, signal).catch(() => undefined);
      if (signal.aborted) return countAttempts(facts, attempt);
    }
  };
  return (effect, signal) =>
    effect.type === "model" || effect.type === "summary"
      ? performModelCall(effect, signal)
      : step(effect, signal);
}

/** Adds the usage of the attempts before this one: the provider billed them too. */
function addSpent(facts: readonly FactBody[], spent: Usage | undefined): readonly FactBody[] {
  if (!spent) return facts;
  return facts.map((fact) => {
    if (fact.type === "message" || fact.type === "message_partial") return { ...fact, retryUsage: spent };
    if (fact.type !== "model_failed" && fact.type !== "compacted") return fact;
    return { ...fact, usage: addUsage(spent, fact.usage) };
  });
}

function findFailedUsage(facts: readonly FactBody[]): Usage | undefined {
  return facts.find((fact) => fact.type === "model_failed")?.usage;
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
  const backoffMs = computeWaitMs(retry.minMs, Math.min(retry.maxMs, maxHeldWaitMs), attempt);
  return Math.max(retryAfterMs, backoffMs);
}

/** Adds to a failure until when the provider asks to wait, because the run does not wait that long. */
function nameWait(fact: FactBody, until: number): FactBody {
  if (fact.type !== "model_failed") return fact;
  const { error } = fact;
  const message = `${error.message} The provider asks to wait until ${new Date(until).toISOString()}. Retry the run then.`;
  return { ...fact, error: withMessage(error, message) };
}

/** Marks a failure that the run waits out while it is suspended. */
function park(fact: FactBody, { retryAfterMs = 0 }: ErrorData, retry: ModelRetryPlan): FactBody {
  if (fact.type !== "model_failed") return fact;
  const minMs = Math.min(Math.max(retry.minMs, minSuspensionMs), retry.maxMs);
  const waitMs = Math.max(retryAfterMs, computeWaitMs(minMs, retry.maxMs, retry.suspensions + 1));
  return { ...fact, isParked: true, waitMs };
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

/** Longest Retry-After that is waited for whatever the policy's patience. */
const maxRequestedWaitMs = 60_000;

/** Reports that an attempt failed and when the next one starts. */
function createRetryDelta(
  { code, message }: ErrorData,
  attempt: { readonly attempt: number; readonly waitMs: number; readonly at: number },
): DeltaBody {
  return { type: "retry", code, message, ...attempt };
}

/** Notes how many attempts a result or a failure took. */
function countAttempts(facts: readonly FactBody[], attempts: number): readonly FactBody[] {
  return facts.map((fact) =>
    fact.type === "tool_call_result" || fact.type === "model_failed" ? { ...fact, attempts } : fact,
  );
}
