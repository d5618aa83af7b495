import type { Fact } from "capstan";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ToolName } from "./crash-agent.ts";
import { type CrashHarness, openCrashHarness } from "./crash-harness.ts";
import type { WorkerOptions } from "./run-engine-worker.ts";

let harness: CrashHarness;
beforeEach(() => {
  harness = openCrashHarness(300);
});
afterEach(() => harness.close());

async function approve(runId: string): Promise<void> {
  const facts = await harness.store.read(runId);
  for (const fact of facts)
    if (fact.type === "approval_required")
      await harness.store.sendMessage(runId, { key: "yes", type: "approve", callId: fact.callId });
}

/** A run that waits for a person, and whose process is gone. */
async function waiting(...runIds: string[]): Promise<void> {
  const worker = await harness.startWorker();
  for (const runId of runIds) worker.start({ runId, plan: [["look"], ["sign"]] });
  for (const runId of runIds)
    expect(await worker.waitForReport("rested", runId)).toMatchObject({ status: "waiting" });
  worker.signal("SIGKILL");
  await worker.ended;
}

const resultOf = (facts: readonly Fact[], tool: ToolName) =>
  facts.find((fact) => fact.type === "tool_call_result" && fact.name === tool);

describe("waiting runs", () => {
  it("survive their process and resume in a new one (S4-60)", async () => {
    const runIds = Array.from({ length: 20 }, (_, n) => `r${n}`);
    await waiting(...runIds);
    await Promise.all(runIds.map(approve));
    await harness.startWorker();
    for (const runId of runIds)
      expect((await harness.waitForFact(runId, "done")).at(-1)).toMatchObject({ text: "Calls: ok ok" });
    expect(await harness.check()).toMatchObject({ problems: [], runs: 20, executions: 40, repeated: 0 });
  });

  it("resume under new instructions: the approved call runs unchanged (F78)", async () => {
    await waiting("r");
    await harness.startWorker({ instructions: "Be brief." });
    await approve("r");
    expect((await harness.waitForFact("r", "done")).at(-1)).toMatchObject({
      status: "done",
      text: "Calls: ok ok",
    });
    expect((await harness.check()).problems).toEqual([]);
  });

  it("do not run a tool whose description has changed since the approval (F78)", async () => {
    await waiting("r");
    const executions = harness.getTrace("begin");
    await harness.startWorker({ version: 2 });
    await approve("r");
    const facts = await harness.waitForFact("r", "done");
    expect(resultOf(facts, "sign")).toMatchObject({ status: "denied", error: { code: "approval_mismatch" } });
    expect(facts.at(-1)).toMatchObject({ status: "done", text: "Calls: ok denied" });
    expect(harness.getTrace("begin")).toEqual(executions);
  });

  it("report a missing tool (F78)", async () => {
    await waiting("r");
    await harness.startWorker({ omittedTool: "sign" });
    await approve("r");
    const facts = await harness.waitForFact("r", "done");
    expect(resultOf(facts, "sign")).toMatchObject({ status: "error", error: { code: "unknown_tool" } });
  });

  it("are left to processes that know their agent, and their messages are kept (F78)", async () => {
    await waiting("r");
    const facts = await harness.store.read("r");
    const other = await harness.startWorker({ name: "renamed" });
    await approve("r");
    other.start({ runId: "own", plan: [["slow_look"], ["slow_look"], ["slow_look"], ["slow_look"]] });
    await harness.waitForFact("own", "done");
    expect(await harness.store.read("r")).toEqual(facts);
    expect(await harness.store.listMessages("r")).toHaveLength(1);
    await harness.startWorker();
    expect((await harness.waitForFact("r", "done")).at(-1)).toMatchObject({ text: "Calls: ok ok" });
  });
});

describe("a run that was killed during a call", () => {
  async function cutOff(tool: ToolName, next: Partial<WorkerOptions>): Promise<readonly Fact[]> {
    const worker = await harness.startWorker({ longMs: 600_000 });
    worker.start({ runId: "r", plan: [[tool]] });
    await harness.waitForTrace("begin");
    worker.signal("SIGKILL");
    await worker.ended;
    await harness.startWorker(next);
    return harness.waitForFact("r", "done");
  }

  it("resumes with a new version of a repeatable tool, under the same key (F78)", async () => {
    const facts = await cutOff("long_look", { version: 2 });
    expect(facts.at(-1)).toMatchObject({ text: "Calls: ok" });
    const keys = harness.getTrace("begin").map((line) => "key" in line && line.key);
    expect(keys).toEqual(["r/call_1_0", "r/call_1_0"]);
  });

  it("gets an interrupted result when the tool is missing (F78)", async () => {
    const facts = await cutOff("long_look", { omittedTool: "long_look" });
    expect(facts.at(-1)).toMatchObject({ text: "Calls: interrupted" });
  });
});
