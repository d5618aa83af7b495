import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Fact } from "../event.ts";
import type { ToolName } from "./planned-agent.ts";
import type { WorkerOrder } from "./worker.ts";
import { openWorkshop, type Workshop } from "./workshop.ts";

let shop: Workshop;
beforeEach(() => {
  shop = openWorkshop(300);
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
  const worker = await shop.worker();
  for (const runId of runIds) worker.start({ runId, plan: [["look"], ["sign"]] });
  for (const runId of runIds) expect(await worker.said("rested", runId)).toMatchObject({ status: "waiting" });
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
    await shop.worker();
    for (const runId of runIds)
      expect((await shop.until(runId, "done")).at(-1)).toMatchObject({ text: "Calls: ok ok" });
    expect(await shop.verdict()).toMatchObject({ problems: [], runs: 20, executions: 40, repeated: 0 });
  });

  it("go on under new instructions: what was approved is still what runs (F78)", async () => {
    await waiting("r");
    await shop.worker({ instructions: "Be brief." });
    await approve("r");
    expect((await shop.until("r", "done")).at(-1)).toMatchObject({ status: "done", text: "Calls: ok ok" });
    expect((await shop.verdict()).problems).toEqual([]);
  });

  it("do not run a tool that has been described anew since: it is not what was approved (F78)", async () => {
    await waiting("r");
    const executions = shop.seen("begin");
    await shop.worker({ version: 2 });
    await approve("r");
    const facts = await shop.until("r", "done");
    expect(resultOf(facts, "sign")).toMatchObject({ status: "denied", error: { code: "approval_mismatch" } });
    expect(facts.at(-1)).toMatchObject({ status: "done", text: "Calls: ok denied" });
    expect(shop.seen("begin")).toEqual(executions);
  });

  it("say so when their tool is gone (F78)", async () => {
    await waiting("r");
    await shop.worker({ without: "sign" });
    await approve("r");
    const facts = await shop.until("r", "done");
    expect(resultOf(facts, "sign")).toMatchObject({ status: "error", error: { code: "unknown_tool" } });
  });

  it("are left to processes that know their agent, and what they were told is kept (F78)", async () => {
    await waiting("r");
    const facts = await shop.store.read("r");
    const other = await shop.worker({ name: "renamed" });
    await approve("r");
    other.start({ runId: "own", plan: [["slow_look"], ["slow_look"], ["slow_look"], ["slow_look"]] });
    await shop.until("own", "done");
    expect(await shop.store.read("r")).toEqual(facts);
    expect(await shop.store.listMessages("r")).toHaveLength(1);
    await shop.worker();
    expect((await shop.until("r", "done")).at(-1)).toMatchObject({ text: "Calls: ok ok" });
  });
});

describe("a run that was cut off in the middle of a call", () => {
  async function cutOff(tool: ToolName, next: Partial<WorkerOrder>): Promise<readonly Fact[]> {
    const worker = await shop.worker({ longMs: 600_000 });
    worker.start({ runId: "r", plan: [[tool]] });
    await shop.sees("begin");
    worker.signal("SIGKILL");
    await worker.ended;
    await shop.worker(next);
    return shop.until("r", "done");
  }

  it("goes on with a new version of a tool that may be repeated, under the same key (F78)", async () => {
    const facts = await cutOff("long_look", { version: 2 });
    expect(facts.at(-1)).toMatchObject({ text: "Calls: ok" });
    const keys = shop.seen("begin").map((line) => "key" in line && line.key);
    expect(keys).toEqual(["r/call_1_0", "r/call_1_0"]);
  });

  it("is told that the call was interrupted when its tool is gone (F78)", async () => {
    const facts = await cutOff("long_look", { without: "long_look" });
    expect(facts.at(-1)).toMatchObject({ text: "Calls: interrupted" });
  });
});
