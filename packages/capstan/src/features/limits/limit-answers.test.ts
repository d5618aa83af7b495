import { describe, expect, it } from "vitest";
import { type AgentDefinition, defineAgent } from "../../kernel/agent.ts";
import type { Fact } from "../../kernel/event.ts";
import type { LimitAction } from "../../kernel/policy.ts";
import { defineTool } from "../../kernel/tool.ts";
import type { Result } from "../../runtime/result.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import { type ScriptedStep, scriptedModel } from "../../testing/scripted-model.ts";

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  execute: ({ n }) => `Seen ${n}.`,
});
const widen = defineTool({
  name: "widen",
  description: "Searches more widely.",
  input: { type: "object" },
  execute: () => "Found by a wider search.",
});
const broken = defineTool({
  name: "widen",
  description: "Always fails.",
  input: { type: "object" },
  execute() {
    throw new Error("Down.");
  },
});

const callLook = (n: number): ScriptedStep => ({ calls: [{ name: "look", input: { n } }] });
const callLookWithText = (n: number): ScriptedStep => ({ ...callLook(n), text: `Working on ${n}.` });

/** A run that reaches its limit of two turns. */
async function runToLimit(
  onLimit: readonly LimitAction[],
  { step = callLook, ...more }: Partial<AgentDefinition> & { step?: (n: number) => ScriptedStep } = {},
): Promise<{ facts: Fact[]; result: Result }> {
  const agent = defineAgent({
    name: "helper",
    model: scriptedModel((_request, index) => step(index)),
    tools: [look],
    policy: { maxTurns: 2, finalTurn: "keep-tools", onLimit },
    ...more,
  });
  return collect(run(agent, "What is there?", { store: memory(), session: "s", runId: "r" }));
}

const effort =
  /^I could not finish this: The limit of 2 turns was reached\.\n\nWhat I found so far:\n- Used look: Seen 0\.\n- Used look: Seen 1\./;
const question = /^I'm sorry, .* I tried look, .* Could you tell me a little more/;

describe("the answer at a limit", () => {
  it.each<[LimitAction[], string, RegExp]>([
    [["best-effort"], "limit", effort],
    [["clarify"], "limit", question],
    [["fail"], "failed", /^Maximum tool iterations reached$/],
    [["last-text"], "limit", effort],
    [["last-text", "clarify"], "limit", question],
    [["fallback-tool"], "limit", effort],
    [["fallback-tool", "clarify"], "limit", question],
    [["fallback-tool", "fail"], "failed", /^Maximum tool iterations reached$/],
    [["clarify", "fail"], "limit", question],
    [[], "limit", effort],
  ])("under onLimit %j is %s with text (C-03, S0-15, S2-16, S4-20)", async (onLimit, status, text) => {
    const { result } = await runToLimit(onLimit);
    expect(result).toMatchObject({ status, turns: 2, error: { code: "max_turns", retryable: false } });
    expect(result.text).toMatch(text);
  });

  it("is the model's last text under last-text (S2-05, C-03)", async () => {
    const { result } = await runToLimit(["last-text"], { step: callLookWithText });
    expect(result).toMatchObject({ status: "limit", text: "Working on 1." });
  });

  it("is best effort by default (C-03)", async () => {
    const { result } = await runToLimit(["best-effort"], {
      policy: { maxTurns: 2, finalTurn: "keep-tools" },
    });
    expect(result.text).toMatch(effort);
  });

  it("includes an error fact before the end under fail (S2-05, S2-16, S3-40)", async () => {
    const { facts } = await runToLimit(["fail"]);
    expect(facts.slice(-3)).toMatchObject([
      { type: "limit_reached", code: "max_turns" },
      { type: "error", code: "max_turns", message: "The limit of 2 turns was reached.", retryable: false },
      { type: "done", status: "failed", error: { code: "max_turns" } },
    ]);
  });

  it("has no error fact if there is a text (C-03)", async () => {
    const { facts } = await runToLimit(["clarify"]);
    expect(facts.slice(-2).map(({ type }) => type)).toEqual(["limit_reached", "done"]);
  });

  it("names the limit under fail if it was not the turn limit (C-03)", async () => {
    const { result } = await runToLimit(["fail"], {
      policy: { onLimit: ["fail"], budget: { tokens: 20 } },
    });
    expect(result).toMatchObject({ status: "failed", text: "The budget of 20 tokens is used up." });
  });

  it("never rejects the run, but orThrow throws it (C-03)", async () => {
    const { result } = await runToLimit(["best-effort"]);
    expect(() => result.orThrow()).toThrow(
      expect.objectContaining({ code: "max_turns", message: "The limit of 2 turns was reached." }),
    );
  });

  it("is in the history of the next run of the session", async () => {
    const model = scriptedModel([callLook(0), { text: "Second." }]);
    const agent = defineAgent({ name: "helper", model, tools: [look] });
    const options = { store: memory(), session: "s" };
    const policy = { maxTurns: 1, finalTurn: "keep-tools", onLimit: ["clarify"] } as const;
    const first = await run(agent, "One?", { ...options, policy });
    await run(agent, "Two?", options);
    expect(model.requests[1]?.history.slice(-2)).toEqual([
      { type: "assistant", parts: [{ type: "text", text: first.text }] },
      { type: "user", content: "Two?" },
    ]);
  });

  it("is not in the history twice if it was the model's own text", async () => {
    const { result } = await runToLimit(["last-text"], { step: callLookWithText });
    expect(result.history.filter((entry) => entry.type === "assistant")).toHaveLength(2);
  });
});

describe("the fallback tool at a limit", () => {
  it("provides the answer, and the limit and the call are both facts (S3-41, S3-61)", async () => {
    const { facts, result } = await runToLimit(["fallback-tool", "best-effort"], { fallbackTool: widen });
    expect(result).toMatchObject({
      status: "limit",
      text: "Found by a wider search.",
      error: { code: "max_turns" },
    });
    expect(facts.slice(-4).map(({ type }) => type)).toEqual([
      "limit_reached",
      "tool_call_start",
      "tool_call_result",
      "done",
    ]);
  });

  it("does not run when an earlier action gave an answer (C-03)", async () => {
    const { result } = await runToLimit(["clarify", "fallback-tool"], { fallbackTool: widen });
    expect(result.toolCalls.map(({ name }) => name)).toEqual(["look", "look"]);
  });

  it("runs once, and the next action follows when it fails (S3-41, C-03)", async () => {
    const { facts, result } = await runToLimit(["fallback-tool", "fallback-tool", "clarify"], {
      fallbackTool: broken,
    });
    expect(result.text).toMatch(/Could you tell me a little more/);
    expect(facts.filter((fact) => fact.type === "tool_call_start" && fact.name === "widen")).toHaveLength(1);
  });
});
