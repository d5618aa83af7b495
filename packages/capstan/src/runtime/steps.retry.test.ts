import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Effect, Step } from "../kernel/effect.ts";
import type { DeltaBody, FactBody } from "../kernel/event.ts";
import { defaultPolicy, type Retry } from "../kernel/policy.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { computeBackoffMs, withRetry } from "./steps.ts";

const { signal } = new AbortController();

function call(retry: Partial<Retry> = {}): Effect {
  return {
    type: "tool",
    id: "call.c1",
    agent: "helper",
    callId: "c1",
    name: "look",
    input: {},
    attempt: 1,
    timeoutMs: 1000,
    deadlineMs: 1e9,
    retry: { ...defaultPolicy.retry, ...retry },
  };
}

function result(status: "ok" | "error" | "denied", retryable = true): FactBody {
  const error = { code: "tool_failed", message: "no", retryable };
  const is_error = status !== "ok";
  return {
    type: "tool_call_result",
    id: "c1",
    name: "look",
    result: status,
    is_error,
    status,
    attempts: 1,
    ms: 0,
    ...(is_error && { error }),
  };
}

/** A step that returns these facts one after the other, and then repeats the last. */
function createFactStep(...facts: FactBody[]) {
  const asked: number[] = [];
  const step: Step = async () => [facts[Math.min(asked.push(0), facts.length) - 1] as FactBody];
  return { asked, step };
}

function runWithoutWaiting(step: Step, skipUpToMs = 60_000) {
  const deltas: DeltaBody[] = [];
  const clock = fakeClock({ skipUpToMs });
  return { clock, deltas, try: withRetry(step, { clock, emit: (delta) => deltas.push(delta) }) };
}

describe("withRetry", () => {
  it("returns the first success with the number of attempts (S4-07, S4-35)", async () => {
    const { asked, step } = createFactStep(result("error"), result("ok"));
    const patient = runWithoutWaiting(step);
    expect(await patient.try(call(), signal)).toEqual([{ ...result("ok"), attempts: 2 }]);
    expect(asked).toHaveLength(2);
  });

  it("makes at most two attempts by default and returns the last failure (S4-16)", async () => {
    const { asked, step } = createFactStep(result("error"));
    expect(await runWithoutWaiting(step).try(call(), signal)).toMatchObject([
      { status: "error", attempts: 2 },
    ]);
    expect(asked).toHaveLength(2);
  });

  it("ignores a requested wait of an hour and uses its own delays (F10)", async () => {
    const failed = result("error") as Extract<FactBody, { type: "tool_call_result" }>;
    const late = {
      ...failed,
      error: { code: "tool_failed", message: "no", retryable: true, retryAfterMs: 3_600_000 },
    };
    const patient = runWithoutWaiting(createFactStep(late, result("ok")).step);
    expect(await patient.try(call(), signal)).toMatchObject([{ status: "ok", attempts: 2 }]);
    expect(patient.deltas).toMatchObject([{ type: "retry", waitMs: 1000 }]);
  });

  it("waits 1000 ms times the attempt number between attempts and reports each wait (S4-36)", async () => {
    const { step } = createFactStep(result("error"));
    const patient = runWithoutWaiting(step);
    const startedAt = patient.clock.now();
    await patient.try(call({ maxAttempts: 4 }), signal);
    expect(patient.deltas).toEqual([
      { type: "retry", attempt: 1, code: "tool_failed", message: "no", waitMs: 1000, at: startedAt + 1000 },
      { type: "retry", attempt: 2, code: "tool_failed", message: "no", waitMs: 2000, at: startedAt + 3000 },
      { type: "retry", attempt: 3, code: "tool_failed", message: "no", waitMs: 3000, at: startedAt + 6000 },
    ]);
    expect(patient.clock.now() - startedAt).toBe(6000);
  });

  it.each([
    ["a failure that will not pass", result("error", false)],
    ["a refusal", result("denied")],
    ["a success", result("ok")],
  ])("does not repeat %s (S4-16)", async (_what, fact) => {
    const { asked, step } = createFactStep(fact);
    expect(await runWithoutWaiting(step).try(call({ maxAttempts: 5 }), signal)).toEqual([fact]);
    expect(asked).toHaveLength(1);
  });

  it("returns the failure at once when cancelled while waiting", async () => {
    const { asked, step } = createFactStep(result("error"), result("ok"));
    const patient = runWithoutWaiting(step, 0);
    const controller = new AbortController();
    const answer = patient.try(call(), controller.signal);
    await patient.clock.advance(500);
    controller.abort();
    expect(await answer).toMatchObject([{ status: "error", attempts: 1 }]);
    expect(asked).toHaveLength(1);
    expect(patient.clock.pending).toBe(0);
  });

  it("does not retry an effect that failed because of a cancellation", async () => {
    const controller = new AbortController();
    let asked = 0;
    const patient = runWithoutWaiting(async () => {
      asked += 1;
      controller.abort();
      return [result("error")];
    });
    await patient.try(call(), controller.signal);
    expect(asked).toBe(1);
    expect(patient.deltas).toEqual([]);
  });

  it("passes on a rejection without a retry, because a failed journal is not a failed effect", async () => {
    let asked = 0;
    const patient = runWithoutWaiting(async () => {
      asked += 1;
      throw new Error("disk full");
    });
    await expect(patient.try(call(), signal)).rejects.toThrow("disk full");
    expect(asked).toBe(1);
  });
});

describe("the wait before another attempt", () => {
  const retry: Retry = { maxAttempts: 9, baseMs: 100, factor: "linear", maxMs: 450, jitter: 0 };

  it("grows by its base, or doubles, up to its limit (S4-36)", () => {
    const waits = (factor: Retry["factor"]) =>
      [1, 2, 3, 4, 5].map((attempt) => computeBackoffMs({ ...retry, factor }, attempt, 0.5));
    expect(waits("linear")).toEqual([100, 200, 300, 400, 450]);
    expect(waits("exponential")).toEqual([100, 200, 400, 450, 450]);
  });

  it("is never negative and never above its limit, whatever the jitter (S4-36)", () => {
    const factor = fc.constantFrom("linear" as const, "exponential" as const);
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(
        factor,
        share,
        fc.integer({ min: 1, max: 2000 }),
        share,
        (factor, jitter, attempt, chance) => {
          const wait = computeBackoffMs({ ...retry, factor, jitter }, attempt, chance);
          expect(wait).toBeGreaterThanOrEqual(0);
          expect(wait).toBeLessThanOrEqual(450);
          expect(Number.isInteger(wait)).toBe(true);
        },
      ),
    );
  });
});
