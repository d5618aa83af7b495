import { describe, expect, it } from "vitest";
import { type AgentDefinition, defineAgent } from "../../kernel/agent.ts";
import type { Fact } from "../../kernel/event.ts";
import type { Policy } from "../../kernel/policy.ts";
import { defineTool } from "../../kernel/tool.ts";
import type { Result } from "../../runtime/result.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import {
  type Script,
  type ScriptedModel,
  type ScriptedStep,
  scriptedModel,
} from "../../testing/scripted-model.ts";

const look = defineTool({
  name: "look",
  description: "Looks, or fails.",
  input: { type: "object" },
  execute: ({ fails }) => (fails ? { error: `Dark in ${fails}.`, retryable: false } : "Seen."),
});
const widen = defineTool({
  name: "widen",
  description: "Searches more widely.",
  input: { type: "object" },
  execute: () => "Found by a wider search.",
});
const broken = defineTool({
  name: "widen",
  description: "Fails.",
  input: { type: "object" },
  execute: () => ({ error: "Down." }),
});

const makeCalls = (...fails: (string | false)[]): ScriptedStep => ({
  calls: fails.map((place, n) => ({ name: "look", input: { fails: place, n } })),
});

async function runWith(
  onAllToolsFailed: Policy["onAllToolsFailed"],
  script: Script,
  more: Partial<AgentDefinition> = {},
): Promise<{ model: ScriptedModel; facts: Fact[]; result: Result }> {
  const model = scriptedModel(script);
  const policy = { onAllToolsFailed, ...more.policy };
  const agent = defineAgent({ name: "helper", instructions: "Base.", tools: [look], ...more, model, policy });
  const { facts, result } = await collect(run(agent, "Go.", { store: memory(), session: "s", runId: "r" }));
  return { model, facts, result };
}

describe("when every call of a turn failed, under continue", () => {
  it("the model sees the errors and may try again, with its tools (C-08, S0-07)", async () => {
    const { model, result } = await runWith("continue", [
      makeCalls("a"),
      makeCalls(false),
      { text: "Seen." },
    ]);
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 1, 1]);
    expect(model.requests[1]).toMatchObject({
      instructions: "Base.",
      history: [{}, {}, { type: "result", status: "error", content: "Tool execution failed: Dark in a." }],
    });
    expect(result).toMatchObject({ status: "done", grounded: true });
  });

  it("an answer without a successful tool call is not grounded (C-08)", async () => {
    const { result } = await runWith("continue", [makeCalls("a"), { text: "I guess." }]);
    expect(result).toMatchObject({ status: "done", text: "I guess.", grounded: false });
  });

  it("is the default (C-08)", async () => {
    const model = scriptedModel([makeCalls("a"), { text: "I guess." }]);
    await run(defineAgent({ name: "helper", model, tools: [look] }), "Go.", { store: memory() });
    expect(model.requests[1]?.tools).toHaveLength(1);
  });
});

describe("when every call of a turn failed, under answer-from-knowledge", () => {
  it("the model is called once more, without tools and with the failures named, and its text is the answer (S4-17, S4-07, C-08)", async () => {
    const { model, facts, result } = await runWith("answer-from-knowledge", [
      makeCalls("the hall", "the yard"),
      { text: "From memory: it is red." },
    ]);
    expect(model.requests).toHaveLength(2);
    expect(model.requests[1]).toMatchObject({ tools: [], toolChoice: "none" });
    expect(model.requests[1]?.instructions).toMatchInlineSnapshot(`
      "Base.

      All tools have failed:
      - look: Tool execution failed: Dark in the hall.
      - look: Tool execution failed: Dark in the yard.
      Answer from what you know, and say that you could not look it up."
    `);
    expect(result).toMatchObject({ status: "done", text: "From memory: it is red.", grounded: false });
    expect(facts.findLast((fact) => fact.type === "turn_start")).toMatchObject({ tools: "unavailable" });
  });

  it("the answer is not grounded, even if an earlier turn had a result (S4-07, C-08)", async () => {
    const { model, result } = await runWith("answer-from-knowledge", [
      makeCalls(false),
      makeCalls("the yard"),
      { text: "From memory: it is red." },
    ]);
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 1, 0]);
    expect(result).toMatchObject({ status: "done", text: "From memory: it is red.", grounded: false });
  });

  it("nothing changes if one call of the turn succeeded (S4-17, C-08)", async () => {
    const { model, result } = await runWith("answer-from-knowledge", [
      makeCalls("a", false),
      { text: "Seen." },
    ]);
    expect(model.requests[1]).toMatchObject({ instructions: "Base.", toolChoice: "auto" });
    expect(result.grounded).toBe(true);
  });

  it("a call made anyway is refused, and the model is called again (C-02, C-08)", async () => {
    const { model, result } = await runWith("answer-from-knowledge", [
      makeCalls("a"),
      makeCalls(false),
      { text: "It is red." },
    ]);
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 0, 1]);
    expect(result.toolCalls.map(({ status }) => status)).toEqual(["error", "skipped"]);
    expect(result).toMatchObject({ status: "done", text: "It is red.", grounded: false });
  });

  it("the turn limit still applies (C-01)", async () => {
    const { model, result } = await runWith("answer-from-knowledge", [makeCalls("a"), { text: "Late." }], {
      policy: { maxTurns: 1, finalTurn: "keep-tools" },
    });
    expect(model.requests).toHaveLength(1);
    expect(result).toMatchObject({ status: "limit", error: { code: "max_turns" } });
  });

  it("a denied call does not count as failed", async () => {
    const pay = defineTool({
      name: "look",
      description: "Needs approval.",
      input: { type: "object" },
      needsApproval: true,
      execute: () => "Paid.",
    });
    const { model } = await runWith("answer-from-knowledge", [makeCalls(false), { text: "Then not." }], {
      tools: [pay],
      policy: { approvals: "deny" },
    });
    expect(model.requests[1]?.tools).toHaveLength(1);
  });
});

describe("when every call of a turn failed, under fallback-tool", () => {
  it("the fallback tool gives an ungrounded answer, and the model is not called again (C-08)", async () => {
    const { model, facts, result } = await runWith("fallback-tool", [makeCalls("a")], {
      fallbackTool: widen,
    });
    expect(model.requests).toHaveLength(1);
    expect(result).toMatchObject({ status: "done", text: "Found by a wider search.", grounded: false });
    expect(facts.findLast((fact) => fact.type === "tool_call_start")).toMatchObject({
      name: "widen",
      arguments: { reason: "All tool calls of a turn failed.", query: "Go." },
    });
  });

  it("the next run of the session has the answer in its history", async () => {
    const model = scriptedModel([makeCalls("a"), { text: "Second." }]);
    const agent = defineAgent({
      name: "helper",
      model,
      tools: [look],
      fallbackTool: widen,
      policy: { onAllToolsFailed: "fallback-tool" },
    });
    const options = { store: memory(), session: "s" };
    await run(agent, "One?", options);
    await run(agent, "Two?", options);
    expect(model.requests[1]?.history.slice(-2)).toEqual([
      { type: "assistant", parts: [{ type: "text", text: "Found by a wider search." }] },
      { type: "user", content: "Two?" },
    ]);
  });

  it("the model continues when the fallback tool fails too, and the tool is not run twice (C-08)", async () => {
    const { facts, result } = await runWith(
      "fallback-tool",
      [makeCalls("a"), makeCalls("b"), { text: "I guess." }],
      {
        fallbackTool: broken,
      },
    );
    expect(result).toMatchObject({ status: "done", text: "I guess.", grounded: false });
    expect(facts.filter((fact) => fact.type === "tool_call_start" && fact.name === "widen")).toHaveLength(1);
  });

  it("the model continues when the agent has no fallback tool (C-08)", async () => {
    const { result } = await runWith("fallback-tool", [makeCalls("a"), { text: "I guess." }]);
    expect(result).toMatchObject({ status: "done", text: "I guess." });
  });
});
