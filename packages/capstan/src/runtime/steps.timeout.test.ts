import { describe, expect, it } from "vitest";
import { AgentError } from "../base/errors.ts";
import type { Effect, Step } from "../kernel/effect.ts";
import { defaultPolicy } from "../kernel/policy.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { withTimeout } from "./steps.ts";

const call: Effect = {
  type: "tool",
  id: "call.c1",
  agent: "helper",
  callId: "c1",
  name: "look",
  input: {},
  attempt: 1,
  timeoutMs: 1000,
  deadlineMs: 1e9,
  retry: defaultPolicy.retry,
};
const ask: Effect = {
  type: "model",
  id: "turn.1.0",
  agent: "helper",
  turn: 1,
  candidate: 0,
  hasMoreRoom: false,
  continueAfter: [],
  maxTurns: 10,
  messageCount: 1,
  tools: "offered",
  chain: "main",
  notes: [],
  thinking: false,
  timeoutMs: 5000,
  deadlineMs: 1e9,
  retry: { ...defaultPolicy.modelRetry, failingMs: 0, suspensions: 0, hasAlternative: false },
};

/** Ends when aborted and reports the reason. */
const patient: Step = (_effect, signal) =>
  new Promise((resolve) => {
    const told = () => {
      const { code, message } = signal.reason as AgentError;
      resolve([{ type: "warning", code, message }]);
    };
    if (signal.aborted) told();
    else signal.addEventListener("abort", told);
  });

describe("withTimeout", () => {
  it.each([
    [call, 1000, "tool_timeout", '"look" took longer than 1000 ms.'],
    [ask, 5000, "model_timeout", "The model took longer than 5000 ms."],
  ])("aborts a $type when its time is up, and what it then says is its answer (F40)", async (effect, ms, code, message) => {
    const clock = fakeClock();
    const answer = withTimeout(patient, clock, "timeoutMs")(effect, new AbortController().signal);
    await clock.advance(ms - 1);
    expect(clock.pending).toBe(1);
    await clock.advance(1);
    expect(await answer).toEqual([{ type: "warning", code, message }]);
  });

  it("passes on a cancellation with its reason, even one from before the start", async () => {
    const clock = fakeClock();
    const controller = new AbortController();
    const answer = withTimeout(patient, clock, "timeoutMs")(call, controller.signal);
    controller.abort(new AgentError("cancelled", "Enough."));
    expect(await answer).toMatchObject([{ code: "cancelled", message: "Enough." }]);
    expect(await withTimeout(patient, clock, "timeoutMs")(call, controller.signal)).toMatchObject([
      { code: "cancelled" },
    ]);
  });

  it("leaves no timer behind, however the step ends", async () => {
    const clock = fakeClock();
    const { signal } = new AbortController();
    await withTimeout(async () => [], clock, "timeoutMs")(call, signal);
    await withTimeout(
      () => Promise.reject(new Error("journal")),
      clock,
      "timeoutMs",
    )(call, signal).catch(() => undefined);
    expect(clock.pending).toBe(0);
  });

  it("does not abort a step that ended in time", async () => {
    const clock = fakeClock();
    let given: AbortSignal | undefined;
    const step: Step = async (_effect, signal) => {
      given = signal;
      return [];
    };
    const controller = new AbortController();
    await withTimeout(step, clock, "timeoutMs")(call, controller.signal);
    await clock.advance(10_000);
    controller.abort();
    expect(given?.aborted).toBe(false);
  });

  it("applies the effect's deadline to all attempts together", async () => {
    const clock = fakeClock();
    const ended = Promise.withResolvers<string>();
    const step: Step = async (_effect, signal) => {
      signal.addEventListener("abort", () => ended.resolve((signal.reason as Error).message));
      return [];
    };
    const stuck: Step = async (effect, signal) => {
      await step(effect, signal);
      await ended.promise;
      return [];
    };
    const work = withTimeout(
      stuck,
      clock,
      "deadlineMs",
    )({ ...call, deadlineMs: 70 }, new AbortController().signal);
    await clock.advance(70);
    await work;
    expect(await ended.promise).toContain("70 ms");
  });

  it("sets no timeout for a note", async () => {
    const clock = fakeClock();
    await withTimeout(
      async () => {
        expect(clock.pending).toBe(0);
        return [];
      },
      clock,
      "timeoutMs",
    )({ type: "note", id: "n", facts: [] }, new AbortController().signal);
    expect.assertions(1);
  });
});
