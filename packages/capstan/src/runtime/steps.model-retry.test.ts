import { afterEach, describe, expect, it, vi } from "vitest";
import type { ModelEffect, ModelRetryPlan, Step } from "../kernel/effect.ts";
import type { DeltaBody, FactBody } from "../kernel/event.ts";
import { defaultPolicy } from "../kernel/policy.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { withModelObserver, withModelRetry } from "./steps.ts";

const { signal } = new AbortController();

function createEffect(retry: Partial<ModelRetryPlan> = {}): ModelEffect {
  return {
    type: "model",
    id: "turn.1.0",
    agent: "a",
    turn: 1,
    chain: "main",
    candidate: 0,
    hasMoreRoom: false,
    maxTurns: 10,
    messageCount: 1,
    tools: "offered",
    notes: [],
    thinking: false,
    continueAfter: [],
    timeoutMs: 1000,
    deadlineMs: 1e9,
    retry: { ...defaultPolicy.modelRetry, failingMs: 0, suspensions: 0, hasAlternative: false, ...retry },
  };
}

function fail(code: string, more: { retryAfterMs?: number; retryable?: boolean } = {}): FactBody {
  const error = { code, message: "No.", retryable: true, ...more };
  return { type: "model_failed", model: "m", candidate: 0, attempts: 1, hadMoreRoom: false, error };
}

const answer: FactBody = {
  type: "message",
  entry: { type: "assistant", parts: [] },
  model: "m",
  usage: { inputTokens: 0, outputTokens: 0 },
  ms: 0,
  stopReason: "end",
};

/** Performs the effect with these outcomes in a row, the last one forever, on a clock that skips all waits. */
async function attempt(
  outcomes: readonly FactBody[],
  retry: Partial<ModelRetryPlan> = {},
  canSuspend = false,
) {
  const clock = fakeClock({ skipUpToMs: 1e9 });
  const startedAt = clock.now();
  const deltas: DeltaBody[] = [];
  let attempts = 0;
  const step: Step = async () => [outcomes[Math.min(attempts++, outcomes.length - 1)] ?? answer];
  const emit = (delta: DeltaBody) => deltas.push(delta);
  const [fact] = await withModelRetry(step, { clock, canSuspend, emit })(createEffect(retry), signal);
  const waits = deltas.flatMap((delta) => (delta.type === "retry" ? [delta.waitMs] : []));
  return { fact, attempts, deltas, waits, waitedMs: clock.now() - startedAt, startedAt };
}

const outages = ["model_unreachable", "model_overloaded", "model_rate_limited", "model_timeout"];

describe("a model call of a run that holds its process", () => {
  it.each(outages)("survives a minute of %s", async (code) => {
    const { fact, waitedMs } = await attempt([...Array(9).fill(fail(code)), answer]);
    expect(fact?.type).toBe("message");
    expect(waitedMs).toBeGreaterThan(30_000);
  });

  it("waits longer each time, by half at random, and at most ten seconds", async () => {
    const { waits } = await attempt([fail("model_overloaded")]);
    for (const [index, waitMs] of waits.entries()) {
      const longestMs = Math.min(10_000, 500 * 2 ** index);
      expect(waitMs).toBeGreaterThanOrEqual(longestMs / 2);
      expect(waitMs).toBeLessThanOrEqual(longestMs);
    }
  });

  it("is given up after 90 seconds of an outage, or as the policy says", async () => {
    for (const [patienceMs, longestMs] of [
      ["auto", 90_000],
      [20_000, 20_000],
    ] as const) {
      const { fact, waitedMs } = await attempt([fail("model_unreachable")], { patienceMs });
      expect(fact).toMatchObject({ type: "model_failed" });
      expect(fact).not.toHaveProperty("isParked");
      expect(waitedMs).toBeLessThanOrEqual(longestMs);
      expect(waitedMs).toBeGreaterThan(longestMs - 10_000);
    }
  });

  it.each([
    "empty_response",
    "bad_chunk",
    "model_failed",
    "stream_truncated",
  ])("is made three times if the answer is unusable: %s", async (code) => {
    const { fact, attempts } = await attempt([fail(code)]);
    expect(attempts).toBe(3);
    expect(fact).toMatchObject({ type: "model_failed", attempts: 3 });
  });

  it("is made three times if another model can answer", async () => {
    expect((await attempt([fail("model_overloaded")], { hasAlternative: true })).attempts).toBe(3);
  });

  it.each(["model_auth", "model_rejected", "model_not_found"])("is not repeated after %s", async (code) => {
    expect((await attempt([fail(code, { retryable: false })])).attempts).toBe(1);
  });

  it("waits as long as the provider asks, up to a minute or its patience (F10)", async () => {
    for (const [retryAfterMs, patienceMs] of [
      [42_000, 0],
      [80_000, "auto"],
      [600_000, 3_600_000],
    ] as const) {
      const outcomes = [fail("model_rate_limited", { retryAfterMs }), answer];
      expect((await attempt(outcomes, { patienceMs })).waits).toEqual([retryAfterMs]);
    }
  });

  it.each([
    ["by itself", {}, false],
    ["beside another model", { hasAlternative: true }, false],
    ["under an engine with less patience", { patienceMs: 600_000 }, true],
  ])("is not repeated %s if the provider asks to wait longer, and names the time (F104)", async (_, retry, canSuspend) => {
    const outcomes = [fail("model_rate_limited", { retryAfterMs: 86_400_000 })];
    const { fact, attempts, startedAt } = await attempt(outcomes, retry, canSuspend);
    const until = new Date(startedAt + 86_400_000).toISOString();
    const message = `No. The provider asks to wait until ${until}. Retry the run then.`;
    expect(attempts).toBe(1);
    expect(fact).toMatchObject({ type: "model_failed", error: { message, retryAfterMs: 86_400_000 } });
    expect(fact).not.toHaveProperty("isParked");
  });

  it("reports each attempt with its reason and the time of the next one", async () => {
    const { deltas, startedAt, waits } = await attempt([fail("model_overloaded"), answer]);
    const [waitMs = 0] = waits;
    const at = startedAt + waitMs;
    expect(deltas).toEqual([
      { type: "retry", attempt: 1, code: "model_overloaded", message: "No.", waitMs, at },
    ]);
  });
});

describe("a model call of a run that can suspend", () => {
  afterEach(() => void vi.restoreAllMocks());

  it.each([...outages, "stream_truncated"])("suspends after three attempts: %s", async (code) => {
    const { fact, attempts } = await attempt([fail(code)], {}, true);
    expect(attempts).toBe(3);
    expect(fact).toMatchObject({ isParked: true, attempts: 3 });
  });

  it("makes one attempt after each suspension and backs off to five minutes", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const waits: unknown[] = [];
    for (let suspensions = 0; suspensions < 9; suspensions++) {
      const { fact, attempts } = await attempt([fail("model_overloaded")], { suspensions }, true);
      if (suspensions > 0) expect(attempts).toBe(1);
      waits.push(fact?.type === "model_failed" && fact.waitMs);
    }
    const seconds = [5, 10, 20, 40, 80, 160, 300, 300, 300];
    expect(waits).toEqual(seconds.map((wait) => wait * 1000));
  });

  it("waits as long as the provider asks, at once if that is long", async () => {
    const error = fail("model_rate_limited", { retryAfterMs: 3_600_000 });
    const { fact, attempts } = await attempt([error], {}, true);
    expect([attempts, fact]).toEqual([1, expect.objectContaining({ isParked: true, waitMs: 3_600_000 })]);
  });

  it("is given up after a day, or as the policy says", async () => {
    const day = 86_400_000;
    for (const [failingMs, patienceMs, isParked] of [
      [day - 1, "auto", true],
      [day, "auto", undefined],
      [59_000, 60_000, true],
      [60_000, 60_000, undefined],
    ] as const) {
      const { fact } = await attempt(
        [fail("model_overloaded")],
        { failingMs, patienceMs, suspensions: 1 },
        true,
      );
      expect(fact).toMatchObject({ type: "model_failed" });
      expect(Reflect.get(fact ?? {}, "isParked")).toBe(isParked);
    }
  });

  it("does not suspend for an unusable answer", async () => {
    const { fact, attempts } = await attempt([fail("empty_response")], {}, true);
    expect([attempts, Reflect.get(fact ?? {}, "isParked")]).toEqual([3, undefined]);
  });
});

describe("an observer of model calls", () => {
  it("learns from every attempt whether the provider is up, even if it rejects the request", async () => {
    const reports: unknown[] = [];
    const outcomes = [fail("model_overloaded"), fail("model_auth"), fail("empty_response"), answer];
    let attempts = 0;
    const step: Step = async () => [outcomes[attempts++] ?? answer];
    const observed = withModelObserver(step, (model, isUp) => reports.push([model, isUp]));
    for (const _ of outcomes) await observed(createEffect(), signal);
    expect(reports).toEqual([
      ["m", false],
      ["m", true],
      ["m", true],
      ["m", true],
    ]);
  });
});
