import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CrashHarness, openCrashHarness } from "./crash-harness.ts";

let shop: CrashHarness;
beforeEach(() => {
  shop = openCrashHarness();
});
afterEach(() => shop.close());

describe("a process that was stopped for longer than its lease", () => {
  it("finds its call aborted and its writes refused, and goes on with other work (F74, F75)", async () => {
    const first = await shop.startWorker({ longMs: 600_000 });
    first.start({ runId: "r", plan: [["long_look"]] });
    await shop.waitForTrace("begin");
    first.signal("SIGSTOP");
    const second = await shop.startWorker();
    const facts = await shop.waitForFact("r", "done");
    first.signal("SIGCONT");
    expect(await first.waitForReport("refused", "r")).toMatchObject({ code: "lease_lost" });
    await shop.waitForTrace("aborted");
    expect(await shop.store.read("r")).toEqual(facts);
    // On a busy machine the second worker could take over the next run.
    second.signal("SIGKILL");
    await second.ended;
    first.start({ runId: "next", plan: [["look"]] });
    expect(await first.waitForReport("rested", "next")).toMatchObject({ status: "done" });
    expect(await shop.check()).toMatchObject({ problems: [], executions: 3, repeated: 1 });
  });

  it("has not made a payment that the model was told may have been made (F75)", async () => {
    const first = await shop.startWorker({ longMs: 600_000 });
    first.start({ runId: "r", plan: [["long_pay"]] });
    await shop.waitForTrace("begin");
    first.signal("SIGSTOP");
    await shop.startWorker();
    expect((await shop.waitForFact("r", "done")).at(-1)).toMatchObject({ text: "Calls: interrupted" });
    first.signal("SIGCONT");
    await first.waitForReport("refused", "r");
    await shop.waitForTrace("aborted");
    expect(shop.getTrace("effect")).toEqual([]);
    expect((await shop.check()).problems).toEqual([]);
  });

  it("does not begin a call whose intent it had stored before (F75)", async () => {
    const first = await shop.startWorker({
      breakpoint: { point: "after_intent", count: 2, signal: "SIGSTOP" },
    });
    first.start({ runId: "r", plan: [["pay"]] });
    await first.waitForReport("stored", "r");
    await shop.startWorker();
    expect((await shop.waitForFact("r", "done")).at(-1)).toMatchObject({ text: "Calls: interrupted" });
    first.signal("SIGCONT");
    expect(await first.waitForReport("refused", "r")).toMatchObject({ code: "lease_lost" });
    expect(shop.getTrace("begin")).toEqual([]);
    expect((await shop.check()).problems).toEqual([]);
  });

  it("cannot log the result of a call that was answered in the meantime (F74)", async () => {
    const first = await shop.startWorker({
      breakpoint: { point: "before_log", count: 2, signal: "SIGSTOP" },
    });
    first.start({ runId: "r", plan: [["pay"]] });
    await shop.waitForTrace("end");
    await shop.startWorker();
    const facts = await shop.waitForFact("r", "done");
    first.signal("SIGCONT");
    expect(await first.waitForReport("refused", "r")).toMatchObject({ code: "lease_lost" });
    expect(await shop.store.read("r")).toEqual(facts);
    expect(await shop.check()).toMatchObject({ problems: [], interrupted: 1, interruptedWithEffect: 1 });
  });
});

it("on SIGTERM a process ends the call it is at, puts its run down, and another goes on at once (F82)", async () => {
  const first = await shop.startWorker({ longMs: 1_500, leaseMs: 600_000 });
  first.start({ runId: "r", plan: [["long_pay"], ["look"]] });
  await shop.waitForTrace("begin");
  first.signal("SIGTERM");
  expect(await first.ended).toMatchObject({ code: 0, errors: "" });
  expect(await first.waitForReport("refused", "r")).toMatchObject({ code: "aborted" });
  expect((await shop.store.read("r")).at(-1)?.type).not.toBe("done");
  await shop.startWorker();
  expect((await shop.waitForFact("r", "done")).at(-1)).toMatchObject({ text: "Calls: ok ok" });
  expect(await shop.check()).toMatchObject({ problems: [], executions: 2, repeated: 0, interrupted: 0 });
});
