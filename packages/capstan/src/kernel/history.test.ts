import { describe, expect, it } from "vitest";
import { AgentError } from "../base/errors.ts";
import { run } from "../runtime/run.ts";
import { collect } from "../testing/collect.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { defineAgent } from "./agent.ts";
import { type AssistantEntry, getCalls, getText } from "./history.ts";
import type { Chunk, Model } from "./model.ts";
import { defineTool } from "./tool.ts";

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  execute: () => "Seen.",
});

/** Splits a response into reasoning, calls, intermediate text, and the final text. */
function splitItems(entry: AssistantEntry) {
  const calls = getCalls(entry).map(({ name, input }) => ({ name, input }));
  const text = getText(entry);
  return {
    reasoning: entry.parts.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])),
    calls,
    notes: calls.length > 0 && text ? [text] : [],
    finalOutput: calls.length > 0 ? null : text,
  };
}

async function collectMessages(model: Model): Promise<AssistantEntry[]> {
  const { facts } = await collect(run(defineAgent({ name: "a", model, tools: [look] }), "Go."));
  return facts.flatMap((fact) => (fact.type === "message" ? [fact.entry] : []));
}

describe("a message of the model", () => {
  it("is split into reasoning, calls, intermediate text and the final output (S4-25, S4-26)", async () => {
    const model = scriptedModel([
      { reasoning: "Hm.", text: "I will look.", calls: [{ name: "look", input: { at: "sea" } }] },
      { reasoning: "Clear.", text: "The sea is calm." },
    ]);
    expect((await collectMessages(model)).map(splitItems)).toEqual([
      {
        reasoning: ["Hm."],
        calls: [{ name: "look", input: { at: "sea" } }],
        notes: ["I will look."],
        finalOutput: null,
      },
      { reasoning: ["Clear."], calls: [], notes: [], finalOutput: "The sea is calm." },
    ]);
  });

  it("may contain items of an unknown type: they keep their position and are sent back unchanged (S4-27, F22)", async () => {
    const citation = { kind: "citation", of: 3 };
    const asked: unknown[] = [];
    const model: Model = {
      id: "new",
      async *stream({ history }): AsyncGenerator<Chunk[]> {
        asked.push(history.find((entry) => entry.type === "assistant"));
        const isFirst = asked.length === 1;
        yield [
          { type: "text", text: isFirst ? "Look:" : "Done." },
          { type: "opaque", data: citation },
        ];
        if (isFirst) yield [{ type: "call_start", index: 0, name: "look" }];
        yield [{ type: "finish", reason: "stop" }];
      },
    };
    const [first] = await collectMessages(model);
    expect(first?.parts.map((part) => part.type)).toEqual(["text", "opaque", "call"]);
    expect(first?.parts[1]).toEqual({ type: "opaque", data: citation });
    expect(asked[1]).toEqual(first);
  });
});

describe("the named errors of a run", () => {
  const failing = (thrown: unknown) =>
    defineTool({
      name: "fetch",
      description: "Fetches.",
      input: { type: "object" },
      effects: "none",
      execute() {
        throw thrown;
      },
    });
  const calling = (tool: ReturnType<typeof failing>) =>
    defineAgent({
      name: "a",
      model: scriptedModel([{ calls: [{ name: "fetch" }] }, { text: "Sorry." }]),
      tools: [tool],
    });
  const clock = fakeClock({ skipUpToMs: 60_000 });

  it("report a refusal for safety, which is not retried (S4-48)", async () => {
    const result = await run(calling(failing(new AgentError("security", "Only https is fetched."))), "Go.", {
      clock,
    });
    expect(result.toolCalls).toMatchObject([
      { status: "error", attempts: 1, result: "Only https is fetched." },
    ]);
    expect(result.history.find((entry) => entry.type === "result")).toMatchObject({
      error: { code: "security" },
    });
  });

  it("report which tool failed, why, and at which attempt (S4-49)", async () => {
    const { facts } = await collect(run(calling(failing(new Error("socket closed"))), "Go.", { clock }));
    expect(facts.find((fact) => fact.type === "tool_call_result")).toMatchObject({
      name: "fetch",
      attempts: 2,
      error: { code: "tool_failed", message: "socket closed" },
      result: "Tool execution failed: socket closed",
    });
  });

  it.each([
    ["returned nothing", { text: "" }, "empty_response"],
    ["returned only reasoning", { reasoning: "Hm." }, "empty_response"],
    ["stopped mid-stream", { text: "Wel", finish: "none" as const }, "stream_truncated"],
  ])("report that the model %s (S4-50)", async (_how, step, code) => {
    const model = scriptedModel([step, step, step]);
    const result = await run(defineAgent({ name: "a", model }), "Go.", { clock });
    expect(result).toMatchObject({ status: "failed", error: { code } });
  });

  it("report invalid arguments to the model, which tries again (S4-50)", async () => {
    const model = scriptedModel([{ calls: [{ name: "look", arguments: '{"a": ' }] }, { text: "Done." }]);
    const result = await run(defineAgent({ name: "a", model, tools: [look] }), "Go.");
    expect(result.toolCalls).toMatchObject([{ status: "error" }]);
    expect(String(result.toolCalls[0]?.result)).toMatch(/^Bad arguments for "look": they are not valid JSON/);
  });
});

describe("the cost of a run", () => {
  it("is reported per turn and in total, and can be limited (S2-59)", async () => {
    const usage = { inputTokens: 100, outputTokens: 20, cachedTokens: 80, cost: 0.25 };
    const script = [
      { calls: [{ name: "look" }], usage },
      { text: "Done.", usage },
    ];
    const agent = defineAgent({ name: "a", model: scriptedModel(script), tools: [look] });
    const { facts, result } = await collect(run(agent, "Go."));
    const perTurn = facts.flatMap((fact) => (fact.type === "turn_end" ? [fact.usage] : []));
    expect(perTurn).toEqual([usage, usage]);
    expect(result).toMatchObject({
      cost: 0.5,
      usage: { inputTokens: 200, outputTokens: 40, cachedTokens: 160 },
    });
    const limited = defineAgent({
      name: "a",
      model: scriptedModel(script),
      tools: [look],
      policy: { budget: { cost: 0.2 } },
    });
    expect(await run(limited, "Go.")).toMatchObject({
      status: "limit",
      cost: 0.25,
      error: { code: "budget_cost" },
    });
  });
});

describe("a tool that does several steps at once", () => {
  it("saves the turns of the individual steps (S2-33)", async () => {
    const nodes = ["Whiskers", "Mittens"];
    const styled: string[] = [];
    const findAndStyle = defineTool({
      name: "findAndStyle",
      description: "Finds nodes and colours them.",
      input: { type: "object", properties: { color: { type: "string" } }, required: ["color"] },
      effects: "ui",
      execute({ color }) {
        styled.push(...nodes.map((name) => `${name} ${color}`));
        return { message: "Styled.", data: { nodes }, affected: { nodes: nodes.length } };
      },
    });
    const model = scriptedModel([
      { calls: [{ name: "findAndStyle", input: { color: "blue" } }] },
      { text: "Both are blue." },
    ]);
    const result = await run(defineAgent({ name: "a", model, tools: [findAndStyle] }), "Make the cats blue.");
    expect(styled).toEqual(["Whiskers blue", "Mittens blue"]);
    expect(result).toMatchObject({ turns: 2, text: "Both are blue.", affected: [{ nodes: 2 }] });
  });
});
