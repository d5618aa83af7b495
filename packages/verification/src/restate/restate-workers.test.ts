import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { PlannedCalls } from "../durability/crash-agent.ts";
import { openRestateHarness, type RestateHarness } from "./restate-harness.ts";
import { findRestateServer } from "./start-restate.ts";

let harness: RestateHarness;

const enqueue = (runId: string, plan: PlannedCalls) =>
  harness.client.enqueue(harness.agent, JSON.stringify(plan), { runId, session: runId });
const waitForCall = () => expect.poll(() => harness.getTrace("begin").length).toBeGreaterThan(0);
const waitForEnd = (runId: string) =>
  expect
    .poll(async () => (await harness.store.read(runId)).at(-1), { timeout: 60_000 })
    .toMatchObject({ type: "done" });

describe.skipIf(!findRestateServer())("workers behind a health-checked balancer", () => {
  beforeEach(async () => {
    harness = await openRestateHarness();
  });
  afterEach(() => harness.close());

  it("a worker that was paused beyond its lease stores nothing more, and makes no payment that was settled without it (F74, F75)", async () => {
    const first = harness.addWorker({ longMs: 600_000 });
    await harness.register();
    await enqueue("r", [["long_pay"], ["look"]]);
    await waitForCall();
    await harness.pauseWorker(first);
    harness.addWorker();
    await waitForEnd("r");
    const facts = await harness.store.read("r");
    expect(facts.at(-1)).toMatchObject({ status: "done", text: "Calls: interrupted ok" });
    first.signal("SIGCONT");
    await expect.poll(() => harness.getTrace("aborted")).toHaveLength(1);
    expect(await harness.store.read("r")).toEqual(facts);
    expect(harness.getTrace("effect")).toHaveLength(1);
    expect((await harness.check()).problems).toEqual([]);
  });

  it("on SIGTERM a worker finishes its current call, and another one continues the run (F82)", async () => {
    const first = harness.addWorker({ longMs: 1_500 });
    await harness.register();
    await enqueue("r", [["long_pay"], ["look"]]);
    await waitForCall();
    first.signal("SIGTERM");
    expect(await first.ended).toMatchObject({ code: 0, errors: "" });
    expect((await harness.store.read("r")).at(-1)?.type).not.toBe("done");
    harness.addWorker();
    await waitForEnd("r");
    expect((await harness.store.read("r")).at(-1)).toMatchObject({ text: "Calls: ok ok" });
    expect(await harness.check()).toMatchObject({ problems: [], executions: 2, repeated: 0, interrupted: 0 });
  });
});
