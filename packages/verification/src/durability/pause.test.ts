import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CrashHarness, openCrashHarness } from "./crash-harness.ts";

let harness: CrashHarness;
beforeEach(() => {
  harness = openCrashHarness();
});
afterEach(() => harness.close());

describe("a process that was paused for longer than its lease", () => {
  it("has its call aborted and its writes rejected, and continues with other work (F74, F75)", async () => {
    const first = await harness.startWorker({ longMs: 600_000 });
    first.start({ runId: "r", plan: [["long_look"]] });
    await harness.waitForTrace("begin");
    await harness.pauseWorker(first);
    const second = await harness.startWorker();
    const facts = await harness.waitForFact("r", "done");
    first.signal("SIGCONT");
    expect(await first.waitForReport("refused", "r")).toMatchObject({ code: "lease_lost" });
    await harness.waitForTrace("aborted");
    expect(await harness.store.read("r")).toEqual(facts);
    // On a busy machine the second worker could take over the next run.
    second.signal("SIGKILL");
    await second.ended;
    first.start({ runId: "next", plan: [["look"]] });
    expect(await first.waitForReport("rested", "next")).toMatchObject({ status: "done" });
    expect(await harness.check()).toMatchObject({ problems: [], executions: 3, repeated: 1 });
  });

  it("does not make a payment that was reported as interrupted (F75)", async () => {
    const first = await harness.startWorker({ longMs: 600_000 });
    first.start({ runId: "r", plan: [["long_pay"]] });
    await harness.waitForTrace("begin");
    await harness.pauseWorker(first);
    await harness.startWorker();
    expect((await harness.waitForFact("r", "done")).at(-1)).toMatchObject({ text: "Calls: interrupted" });
    first.signal("SIGCONT");
    await first.waitForReport("refused", "r");
    await harness.waitForTrace("aborted");
    expect(harness.getTrace("effect")).toEqual([]);
    expect((await harness.check()).problems).toEqual([]);
  });

  it("does not start a call whose intent it stored before the pause (F75)", async () => {
    const first = await harness.startWorker({
      breakpoint: { point: "after_intent", count: 2, signal: "SIGSTOP" },
    });
    first.start({ runId: "r", plan: [["pay"]] });
    await first.waitForReport("stored", "r");
    await harness.startWorker();
    expect((await harness.waitForFact("r", "done")).at(-1)).toMatchObject({ text: "Calls: interrupted" });
    first.signal("SIGCONT");
    expect(await first.waitForReport("refused", "r")).toMatchObject({ code: "lease_lost" });
    expect(harness.getTrace("begin")).toEqual([]);
    expect((await harness.check()).problems).toEqual([]);
  });

  it("cannot store the result of a call that was settled in the meantime (F74)", async () => {
    const first = await harness.startWorker({
      breakpoint: { point: "before_log", count: 2, signal: "SIGSTOP" },
    });
    first.start({ runId: "r", plan: [["pay"]] });
    await harness.waitForTrace("end");
    await harness.startWorker();
    const facts = await harness.waitForFact("r", "done");
    first.signal("SIGCONT");
    expect(await first.waitForReport("refused", "r")).toMatchObject({ code: "lease_lost" });
    expect(await harness.store.read("r")).toEqual(facts);
    expect(await harness.check()).toMatchObject({ problems: [], interrupted: 1, interruptedWithEffect: 1 });
  });
});

it("on SIGTERM a process finishes its current call and releases its run, and another resumes it at once (F82)", async () => {
  const first = await harness.startWorker({ longMs: 1_500, leaseMs: 600_000 });
  first.start({ runId: "r", plan: [["long_pay"], ["look"]] });
  await harness.waitForTrace("begin");
  first.signal("SIGTERM");
  expect(await first.ended).toMatchObject({ code: 0, errors: "" });
  expect(await first.waitForReport("refused", "r")).toMatchObject({ code: "aborted" });
  expect((await harness.store.read("r")).at(-1)?.type).not.toBe("done");
  await harness.startWorker();
  expect((await harness.waitForFact("r", "done")).at(-1)).toMatchObject({ text: "Calls: ok ok" });
  expect(await harness.check()).toMatchObject({ problems: [], executions: 2, repeated: 0, interrupted: 0 });
});
