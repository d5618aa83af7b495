import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CrashHarness, openCrashHarness } from "./crash-harness.ts";
import { crashUntilEnded } from "./crash-until-ended.ts";

let harness: CrashHarness;
beforeEach(() => {
  harness = openCrashHarness(200);
});
afterEach(() => harness.close());

describe("a run that kills its process", () => {
  it("is quarantined, and a run in a long call beside it is not and ends (F77)", async () => {
    const longMs = 4_000; // longer than a worker takes to start and to take over the culprit
    const first = await harness.startWorker({ longMs });
    first.start({ runId: "innocent", plan: [["long_look"], ["look"]] });
    await harness.waitForTrace("begin");
    first.start({ runId: "culprit", plan: [["kill_process"], ["look"]] });
    expect(await first.ended).toMatchObject({ signal: "SIGKILL" });
    const crashes = await crashUntilEnded(harness, ["innocent", "culprit"], { longMs });

    const innocent = await harness.store.read("innocent");
    expect(innocent.at(-1)).toMatchObject({ type: "done", status: "done", text: "Calls: ok ok" });
    // Crashed twice in its call, so it was a suspect too.
    expect(innocent.filter(({ type }) => type === "recovered").length).toBeGreaterThanOrEqual(2);
    const culprit = await harness.store.read("culprit");
    expect(culprit.at(-1)).toMatchObject({
      type: "done",
      status: "failed",
      error: { code: "quarantined", message: expect.stringContaining('(last call: "kill_process")') },
    });
    expect(crashes).toBeGreaterThanOrEqual(4);
    expect(await harness.check()).toMatchObject({ problems: [], quarantined: 1 });
  });
});
