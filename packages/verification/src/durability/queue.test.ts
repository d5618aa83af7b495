import type { Fact } from "capstan";
import { listQueuedRuns } from "capstan/sessions";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type CrashHarness, openCrashHarness } from "./crash-harness.ts";

let harness: CrashHarness;
beforeEach(() => {
  harness = openCrashHarness(300);
});
afterEach(() => harness.close());

const runIds = Array.from({ length: 8 }, (_, number) => `r${number}`);

const listRuns = (facts: readonly Fact[], type: Fact["type"]) =>
  facts.filter((fact) => fact.type === type).map(({ runId }) => runId);

it("queued messages survive kill -9 at any moment: none is lost, none runs twice, their order stays", async () => {
  const first = await harness.startWorker({ longMs: 600_000 });
  for (const runId of runIds) {
    first.start({ runId, session: "s", plan: runId === "r0" ? [["long_look"]] : [["look"]] });
    await first.waitForReport("stored", runId);
  }
  expect(await listQueuedRuns(harness.store, "s")).toHaveLength(runIds.length - 1);
  first.signal("SIGKILL");
  await first.ended;
  // The next workers are killed while they start or end one of the queued runs.
  for (const [point, count] of [
    ["after_log", 2],
    ["after_intent", 5],
  ] as const) {
    const worker = await harness.startWorker({ breakpoint: { point, count, signal: "SIGKILL" } });
    expect(await worker.ended).toMatchObject({ signal: "SIGKILL" });
  }
  await harness.startWorker();
  await expect
    .poll(async () => listRuns(await harness.store.read("s"), "done"), { timeout: 30_000 })
    .toEqual(runIds);
  expect(listRuns(await harness.store.read("s"), "run_start")).toEqual(runIds);
  await expect.poll(() => harness.store.listRecords("queue")).toEqual([]);
});
