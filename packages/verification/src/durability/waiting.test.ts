import type { Fact } from "capstan";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ToolName } from "./crash-agent.ts";
import { type CrashHarness, openCrashHarness } from "./crash-harness.ts";
import type { WorkerOptions } from "./worker-process.ts";

let shop: CrashHarness;
beforeEach(() => {
  shop = openCrashHarness(300);
});
afterEach(() => shop.close());

async function approve(runId: string): Promise<void> {
  const facts = await shop.store.read(runId);
  for (const fact of facts)
    if (fact.type === "approval_required")
      await shop.store.sendMessage(runId, { key: "yes", type: "approve", callId: fact.callId });
}

/** A run that waits for a person, and whose process is gone. */
async function waiting(...runIds: string[]): Promise<void> {
  const worker = await shop.startWorker();
  for (const runId of runIds) worker.start({ runId, plan: [["look"], ["sign"]] });
  for (const runId of runIds)
    expect(await worker.waitForReport("rested", runId)).toMatchObject({ status: "waiting" });
  worker.signal("SIGKILL");
  await worker.ended;
}

const resultOf = (facts: readonly Fact[], tool: ToolName) =>
  facts.find((fact) => fact.type === "tool_call_result" && fact.name === tool);

describe("runs that wait for a person", () => {
  it("survive their process, and go on in a fresh one (S4-60)", async () => {
    const runIds = Array.from({ length: 20 }, (_, n) => `r${n}`);
    await waiting(...runIds);
    await Promise.all(runIds.map(approve));
    await shop.startWorker();
    for (const runId of runIds)
      expect((await shop.waitForFact(runId, "done")).at(-1)).toMatchObject({ text: "Calls: ok ok" });
    expect(await shop.check()).toMatchObject({ problems: [], runs: 20, executions: 40, repeated: 0 });
  });

  it("go on under new instructions: what was approved is still what runs (F78)", async () => {
    await waiting("r");
    await shop.startWorker({ instructions: "Be brief." });
    await approve("r");
    expect((await shop.waitForFact("r", "done")).at(-1)).toMatchObject({
      status: "done",
      text: "Calls: ok ok",
    });
    expect((await shop.check()).problems).toEqual([]);
  });

  it("do not run a tool that has been described anew since: it is not what was approved (F78)", async () => {
    await waiting("r");
    const executions = shop.getTrace("begin");
    await shop.startWorker({ version: 2 });
    await approve("r");
    const facts = await shop.waitForFact("r", "done");
    expect(resultOf(facts, "sign")).toMatchObject({ status: "denied", error: { code: "approval_mismatch" } });
    expect(facts.at(-1)).toMatchObject({ status: "done", text: "Calls: ok denied" });
    expect(shop.getTrace("begin")).toEqual(executions);
  });

  it("say so when their tool is gone (F78)", async () => {
    await waiting("r");
    await shop.startWorker({ omittedTool: "sign" });
    await approve("r");
    const facts = await shop.waitForFact("r", "done");
    expect(resultOf(facts, "sign")).toMatchObject({ status: "error", error: { code: "unknown_tool" } });
  });

  it("are left to processes that know their agent, and what they were told is kept (F78)", async () => {
    await waiting("r");
    const facts = await shop.store.read("r");
    const other = await shop.startWorker({ name: "renamed" });
    await approve("r");
    other.start({ runId: "own", plan: [["slow_look"], ["slow_look"], ["slow_look"], ["slow_look"]] });
    await shop.waitForFact("own", "done");
    expect(await shop.store.read("r")).toEqual(facts);
    expect(await shop.store.listMessages("r")).toHaveLength(1);
    await shop.startWorker();
    expect((await shop.waitForFact("r", "done")).at(-1)).toMatchObject({ text: "Calls: ok ok" });
  });
});

describe("a run that was cut off in the middle of a call", () => {
  async function cutOff(tool: ToolName, next: Partial<WorkerOptions>): Promise<readonly Fact[]> {
    const worker = await shop.startWorker({ longMs: 600_000 });
    worker.start({ runId: "r", plan: [[tool]] });
    await shop.waitForTrace("begin");
    worker.signal("SIGKILL");
    await worker.ended;
    await shop.startWorker(next);
    return shop.waitForFact("r", "done");
  }

  it("goes on with a new version of a tool that may be repeated, under the same key (F78)", async () => {
    const facts = await cutOff("long_look", { version: 2 });
    expect(facts.at(-1)).toMatchObject({ text: "Calls: ok" });
    const keys = shop.getTrace("begin").map((line) => "key" in line && line.key);
    expect(keys).toEqual(["r/call_1_0", "r/call_1_0"]);
  });

  it("is told that the call was interrupted when its tool is gone (F78)", async () => {
    const facts = await cutOff("long_look", { omittedTool: "long_look" });
    expect(facts.at(-1)).toMatchObject({ text: "Calls: interrupted" });
  });
});
