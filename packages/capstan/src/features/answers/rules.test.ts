import { describe, expect, it } from "vitest";
import { type AgentDefinition, defineAgent } from "../../kernel/agent.ts";
import type { Fact } from "../../kernel/event.ts";
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
  description: "Looks.",
  input: { type: "object" },
  execute: () => "Seen.",
});

async function runWith(
  script: Script,
  more: Partial<AgentDefinition> = {},
): Promise<{ model: ScriptedModel; facts: Fact[]; result: Result }> {
  const model = scriptedModel(script);
  const agent = defineAgent({ name: "helper", instructions: "Base.", tools: [look], ...more, model });
  const { facts, result } = await collect(run(agent, "Go.", { store: memory(), session: "s", runId: "r" }));
  return { model, facts, result };
}

describe("the answer", () => {
  it("is a message without calls, in one turn (S0-14, S3-37)", async () => {
    const { facts, result } = await runWith([{ text: "  Four.\n" }]);
    expect(result).toMatchObject({ status: "done", text: "Four.", turns: 1, grounded: true });
    expect(facts.map(({ type }) => type)).toEqual(["run_start", "turn_start", "message", "turn_end", "done"]);
  });

  it("is not text that comes with calls: the calls run and the text stays in the history (D-02, C-16)", async () => {
    const { model, result } = await runWith([
      { text: "Let me look.", calls: [{ name: "look" }] },
      { text: "There." },
    ]);
    expect(model.requests).toHaveLength(2);
    expect(result.text).toBe("There.");
    expect(model.requests[1]?.history[1]).toMatchObject({
      parts: [{ type: "text", text: "Let me look." }, {}],
    });
  });

  it("is not text that comes with calls in a turn without tools: the calls are refused, the text stays a note (C-02, D-02)", async () => {
    const { result } = await runWith([{ text: "Let me look again.", calls: [{ name: "look" }] }], {
      policy: { maxTurns: 1 },
    });
    expect(result).toMatchObject({ status: "limit", error: { code: "max_turns" } });
    expect(result.text).toContain("My last note was: Let me look again.");
    expect(result.toolCalls).toMatchObject([
      {
        status: "skipped",
        result: "No tools are available in this turn, so the call was not made. Answer with text.",
      },
    ]);
  });

  it("is postponed when the user has sent a message meanwhile", async () => {
    const model = scriptedModel((_request, n) => {
      if (n === 0) running.steer("In Bergen, I mean.");
      return { text: `Answer ${n}.` };
    });
    const running = run(defineAgent({ name: "helper", model }), "Weather?", { store: memory() });
    expect(await running).toMatchObject({ status: "done", text: "Answer 1.", turns: 2 });
    expect(model.requests[1]?.history.at(-1)).toEqual({ type: "user", content: "In Bergen, I mean." });
  });

  it("is not postponed in the last turn; the user's message is kept for the next run", async () => {
    const model = scriptedModel(() => {
      running.steer("In Bergen, I mean.");
      return { text: "Rain." };
    });
    const agent = defineAgent({ name: "helper", model, policy: { maxTurns: 1 } });
    const running = run(agent, "Weather?", { store: memory() });
    const result = await running;
    expect(result).toMatchObject({ status: "done", text: "Rain." });
    expect(result.history.at(-1)).toEqual({ type: "user", content: "In Bergen, I mean." });
  });

  it("is not grounded when tools were called and none succeeded (C-08)", async () => {
    const failing = defineTool({
      name: "look",
      description: "Fails.",
      input: { type: "object" },
      execute: () => ({ error: "Dark." }),
    });
    const { result } = await runWith([{ calls: [{ name: "look" }] }, { text: "I guess." }], {
      tools: [failing],
    });
    expect(result).toMatchObject({ status: "done", grounded: false });
  });

  it("that was truncated is kept, and the status says so (F23, S1-30)", async () => {
    const { facts, result } = await runWith([{ text: "Once upon a", finish: "length" }], {
      policy: { onOutputLimit: "stop" },
    });
    expect(result).toMatchObject({
      ...{ status: "limit", text: "Once upon a", stopReason: "length" },
      error: { code: "output_truncated" },
    });
    expect(facts.find((fact) => fact.type === "limit_reached")).toMatchObject({ code: "output_truncated" });
    expect(() => result.orThrow()).toThrow("output limit");
  });

  it("that stopped for an unknown reason is asked for again; if that persists, the run fails with its text", async () => {
    const cut: ScriptedStep = { text: "Once upon a", finish: "other" };
    const better = await runWith([cut, { text: "Once upon a time." }]);
    expect(better.result).toMatchObject({ status: "done", text: "Once upon a time.", stopReason: "end" });
    expect(better.result.history).toHaveLength(2);
    const worse = await runWith([cut, cut, cut]);
    expect(worse.result).toMatchObject({
      ...{ status: "failed", text: "Once upon a", stopReason: "other" },
      error: { code: "answer_incomplete" },
    });
  });
});

describe("a filtered answer", () => {
  it("or a refusal says which of the two it is (F25)", async () => {
    const { result } = await runWith([{ text: "No.", finish: "refusal" }]);
    expect(result).toMatchObject({
      ...{ status: "failed", text: "No.", stopReason: "refusal" },
      error: { code: "content_filter", message: "The model refused to answer." },
    });
    const filtered = await runWith([{ text: "I can", finish: "content_filter" }]);
    expect(filtered.result.stopReason).toBe("content_filter");
  });

  it("fails the run and keeps its text (F25, S1-30)", async () => {
    const { facts, result } = await runWith([{ text: "I can", finish: "content_filter" }]);
    expect(result).toMatchObject({ status: "failed", text: "I can", error: { code: "content_filter" } });
    expect(facts.slice(-2).map(({ type }) => type)).toEqual(["error", "done"]);
  });

  it("without text still gets one (F25)", async () => {
    const { result } = await runWith([{ finish: "content_filter" }]);
    expect(result.text).toBe(
      "The model declined to answer: The provider's content filter stopped the answer.",
    );
  });
});

describe("requireToolFirst", () => {
  const policy = { requireToolFirst: true };

  it("requires a tool call until one was made, then leaves the choice to the model (C-24, S3-05)", async () => {
    const { model } = await runWith([{ calls: [{ name: "look" }] }, { text: "Seen." }], { policy });
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(["required", "auto"]);
  });

  it("calls the model again once when it answers without a tool call (C-24, S3-05)", async () => {
    const { model, facts, result } = await runWith(
      [{ text: "I know." }, { calls: [{ name: "look" }] }, { text: "Seen." }],
      { policy },
    );
    expect(model.requests[1]?.instructions).toBe(
      "Base.\n\nNote: call a tool first. Do not answer from general knowledge.",
    );
    expect(result).toMatchObject({ status: "done", text: "Seen.", turns: 3, grounded: true });
    expect(facts.some((fact) => fact.type === "warning")).toBe(false);
  });

  it("flags the answer of a model that ignores it (C-24)", async () => {
    const { facts, result } = await runWith([{ text: "I know." }, { text: "I do know." }], { policy });
    expect(result).toMatchObject({ status: "done", text: "I do know.", turns: 2, grounded: false });
    expect(facts.find((fact) => fact.type === "warning")).toMatchObject({ code: "tool_first_ignored" });
  });

  it("has no effect on an agent without tools (S4-59)", async () => {
    const { model, result } = await runWith([{ text: "Hello." }], { policy, tools: [] });
    expect(model.requests).toMatchObject([{ toolChoice: "none" }]);
    expect(result).toMatchObject({ status: "done", grounded: true });
  });

  it("is off by default: a greeting takes one turn (D-21, C-24)", async () => {
    const { model } = await runWith([{ text: "Hello." }]);
    expect(model.requests).toMatchObject([{ toolChoice: "auto" }]);
  });
});
