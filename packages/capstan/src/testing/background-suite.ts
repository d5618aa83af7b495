import { expect, it } from "vitest";
import { agentTool } from "../features/nested/agent-tool.ts";
import { type Agent, defineAgent } from "../kernel/agent.ts";
import type { Fact } from "../kernel/event.ts";
import { type Entry, toPlainText } from "../kernel/history.ts";
import { defineTool, type ToolContext } from "../kernel/tool.ts";
import type { Result } from "../runtime/result.ts";
import {
  chooseKills,
  createClock,
  expectNothingRepeated,
  type NestedSuiteOptions,
  runApproving,
  seedSession,
} from "./nested-suite.ts";
import { scriptedModel } from "./scripted-model.ts";

const session = "background";
const runId = "parent";

/** The contract of every engine for sub-agents in the background: part of `engineSuite`. */
export function backgroundSuite({ make, close, kills }: NestedSuiteOptions): void {
  it("killed after any fact of background work, delivers each receipt and each result once (F73)", async () => {
    const engine = await make();
    const start = engine.start(createBackgroundAgents([]), "Go.", { session, runId, clock: createClock() });
    const whole = await runApproving(start);
    const facts = await engine.store.read(session);
    expectDelivery(facts, whole);
    await close(engine);
    for (const kill of chooseKills(facts.length, kills)) {
      const stored = facts.slice(0, kill);
      const executed: string[] = [];
      const second = await make();
      await seedSession(second.store, stored);
      const resumed = second.resume(createBackgroundAgents(executed), runId, { clock: createClock() });
      const result = await runApproving(resumed);
      const after = await second.store.read(session);
      expect(after.slice(0, kill)).toEqual(stored);
      expectDelivery(after, result, `killed after fact ${kill}`);
      expectNothingRepeated(stored, executed);
      await close(second);
    }
  });

  it("cancelled while background work waits for the user, ends that work first", async () => {
    const engine = await make();
    const run = engine.start(createBackgroundAgents([]), "Go.", { session, runId, clock: createClock() });
    const waiting = await run;
    expect(waiting.pending.map(({ name, agent }) => `${agent} ${name}`)).toEqual([
      "scout guarded",
      "scout guarded",
    ]);
    expect((await run.cancel("Enough.")).status).toBe("cancelled");
    const ends = (await engine.store.read(session)).filter((fact) => fact.type === "done");
    expect(ends.map(({ status }) => status)).toEqual(["cancelled", "cancelled", "cancelled"]);
    expect(ends.at(-1)?.runId).toBe(runId);
    await close(engine);
  });
}

/** `main` starts two scouts, each of which reads, writes, and needs approval for more, and answers when both are back. */
export function createBackgroundAgents(executed: string[]): Agent {
  const tool = (name: string, settings: object) =>
    defineTool({
      name,
      description: name,
      input: { type: "object", properties: {} },
      reads: ["public"],
      ...settings,
      execute: (_: object, { idempotencyKey }: ToolContext) => {
        executed.push(idempotencyKey);
        return `${name} is done`;
      },
    });
  const scout = defineAgent({
    name: "scout",
    model: scriptedModel(({ history }) => {
      const turns = history.filter(({ type }) => type === "assistant").length;
      if (turns === 0)
        return {
          text: "I look.",
          calls: [
            { name: "look", input: {} },
            { name: "write", input: {} },
          ],
        };
      return turns === 1 ? { calls: [{ name: "guarded", input: {} }] } : { text: "Scouted." };
    }),
    tools: [
      tool("look", { effects: "none" }),
      tool("write", { effects: "state" }),
      tool("guarded", { effects: "state", needsApproval: true }),
    ],
  });
  const model = scriptedModel(({ history }) => {
    if (history.length === 1)
      return {
        calls: ["North.", "South."].map((prompt) => ({ name: "scout", input: { prompt } })),
      };
    return { text: countDelivered(history) === 2 ? "All known." : "They are on their way." };
  });
  return defineAgent({ name: "main", model, tools: [agentTool(scout, { background: true })] });
}

function countDelivered(history: readonly Entry[]): number {
  return history.filter(
    (entry) => entry.type === "user" && toPlainText(entry.content).includes(" is done. Its answer"),
  ).length;
}

/** Checks that every run starts and ends once, the parent last, and that each result is in the history once. */
function expectDelivery(facts: readonly Fact[], result: Result, reason = "whole"): void {
  expect(result, reason).toMatchObject({ status: "done", text: "All known." });
  expect(countDelivered(result.history), reason).toBe(2);
  const runs = Map.groupBy(facts, (fact) => fact.runId);
  expect([...runs.keys()].toSorted()).toEqual(["parent", "parent~call_1_0", "parent~call_1_1"]);
  for (const own of runs.values()) {
    expect(own.filter((fact) => fact.type === "run_start")).toEqual([own[0]]);
    expect(own.filter((fact) => fact.type === "done")).toEqual([own.at(-1)]);
  }
  expect(facts.at(-1)).toMatchObject({ type: "done", runId });
  const receipts = facts.filter((fact) => fact.type === "tool_call_result" && fact.name === "scout");
  expect(receipts).toHaveLength(2);
  for (const receipt of receipts)
    expect(receipt).toMatchObject({ status: "ok", data: { status: "running" } });
  const messages = facts.filter((fact) => fact.type === "message").length;
  expect(result.usage, reason).toEqual({ inputTokens: 10 * messages, outputTokens: 5 * messages });
}
