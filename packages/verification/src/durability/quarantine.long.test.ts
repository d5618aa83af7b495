import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type CrashHarness, openCrashHarness } from "./crash-harness.ts";
import { crashUntilEnded } from "./crash-until-ended.ts";

const leaseMs = 400;
let harness: CrashHarness;
beforeEach(() => {
  harness = openCrashHarness(leaseMs);
});
afterEach(() => harness.close());

it("of several runs in a process, only the one that exhausts its memory is quarantined (F77)", async () => {
  const options = { longMs: 5_000, heapMb: 48 };
  const innocents = ["innocent_1", "innocent_2", "innocent_3"];
  const first = await harness.startWorker(options);
  for (const runId of innocents) first.start({ runId, plan: [["long_look"], ["pay"]] });
  for (const runId of innocents) await harness.waitForFact(runId, "tool_call_start");
  first.start({ runId: "culprit", plan: [["exhaust_heap"], ["look"]] });
  expect(await first.ended).toMatchObject({ signal: "SIGABRT", errors: expect.stringContaining("heap") });
  await crashUntilEnded(harness, [...innocents, "culprit"], options);
  for (const runId of innocents)
    expect((await harness.store.read(runId)).at(-1)).toMatchObject({ status: "done", text: "Calls: ok ok" });
  expect((await harness.store.read("culprit")).at(-1)).toMatchObject({ error: { code: "quarantined" } });
  expect(await harness.check()).toMatchObject({ problems: [], quarantined: 1 });
});

it.each([
  1, 3, 7,
])("a worker that is killed %i leases after each start, twenty times, quarantines no run (F77)", async (leases) => {
  const runIds = ["run_1", "run_2", "run_3"];
  const options = { longMs: 600_000 };
  const first = await harness.startWorker(options);
  for (const runId of runIds) first.start({ runId, plan: [["long_look"]] });
  for (const runId of runIds) await harness.waitForFact(runId, "tool_call_start");
  for (let kill = 1, worker = first; kill <= 20; kill++) {
    worker.signal("SIGKILL");
    await worker.ended;
    worker = await harness.startWorker(options);
    await pause(leases * leaseMs);
    if (kill === 20) worker.signal("SIGKILL");
  }
  await crashUntilEnded(harness, runIds, { longMs: 0 });
  for (const runId of runIds)
    expect((await harness.store.read(runId)).at(-1)).toMatchObject({ status: "done", text: "Calls: ok" });
  expect(await harness.check()).toMatchObject({ problems: [], quarantined: 0 });
});
