import { describe, expect, it } from "vitest";
import { AgentError } from "../base/errors.ts";
import { reduceAll } from "../client/reduce.ts";
import { emptyView } from "../client/session-view.ts";
import * as capstan from "../index.ts";
import { defineAgent } from "../kernel/agent.ts";
import { defineTool } from "../kernel/tool.ts";
import { summarizeRun } from "../sessions/summary.ts";
import { collect } from "../testing/collect.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { type ScriptedStep, scriptedModel } from "../testing/scripted-model.ts";
import { run } from "./run.ts";

const look = defineTool({
  name: "look",
  description: "Looks",
  input: { type: "object", properties: { n: { type: "number" } } },
  execute: ({ n }) => `value ${n}`,
});
const createSearchingModel = () =>
  scriptedModel((_request, index) => ({ calls: [{ name: "look", input: { n: index } }] }));

describe("orThrow", () => {
  it("returns the result of a run that is done", async () => {
    const result = await run(defineAgent({ name: "a", model: scriptedModel([{ text: "Hello." }]) }), "Hi");
    expect(result.orThrow()).toBe(result);
  });

  it("throws the error of a limit", async () => {
    const agent = defineAgent({
      name: "a",
      model: createSearchingModel(),
      tools: [look],
      policy: { maxTurns: 2 },
    });
    const result = await run(agent, "Go");
    expect(() => result.orThrow()).toThrow(
      expect.objectContaining({
        code: "max_turns",
        message: "The limit of 2 turns was reached.",
        retryable: false,
      }),
    );
  });

  it("throws the error of a failure", async () => {
    const model = scriptedModel([{ error: "content_filter" }]);
    const result = await run(defineAgent({ name: "a", model }), "Hi");
    expect(result.status).toBe("failed");
    expect(() => result.orThrow()).toThrow(expect.objectContaining({ code: "content_filter" }));
  });

  it("throws a failure with an unknown code as `model_failed`, with the original as its cause", async () => {
    const failure = Object.assign(new Error("quota"), { code: "insufficient_quota", retryable: false });
    const result = await run(defineAgent({ name: "a", model: scriptedModel([{ error: failure }]) }), "Hi");
    expect(() => result.orThrow()).toThrow(
      expect.objectContaining({
        code: "model_failed",
        message: "quota",
        cause: expect.objectContaining({ code: "insufficient_quota" }),
      }),
    );
  });

  it("throws for a cancelled run, with its reason", async () => {
    const result = await run(defineAgent({ name: "a", model: createSearchingModel() }), "Hi").cancel(
      "Enough.",
    );
    expect(() => result.orThrow()).toThrow(
      expect.objectContaining({ code: "cancelled", message: "Enough." }),
    );
  });

  it("throws for a waiting run and names what it waits for", async () => {
    const ask = defineTool({ ...{ name: "ask", description: "Asks" }, input: { type: "object" } });
    const model = scriptedModel([{ calls: [{ name: "ask" }] }]);
    const result = await run(defineAgent({ name: "a", model, tools: [ask] }), "Hi");
    expect(() => result.orThrow()).toThrow('The run is not done (waiting): Waiting for the result of "ask".');
  });
});

describe("a result", () => {
  it("always has a text, whatever the status", async () => {
    const clock = fakeClock({ skipUpToMs: 30_000 });
    const runs = [
      run(defineAgent({ name: "a", model: scriptedModel([{ text: "Hello." }]) }), "Hi"),
      run(
        defineAgent({ name: "a", model: createSearchingModel(), tools: [look], policy: { maxTurns: 2 } }),
        "Hi",
      ),
      run(defineAgent({ name: "a", model: scriptedModel(() => ({})) }), "Hi", { clock }),
      run(defineAgent({ name: "a", model: createSearchingModel() }), "Hi").cancel(),
    ];
    const results = await Promise.all(runs);
    expect(results.map((result) => result.status)).toEqual(["done", "limit", "failed", "cancelled"]);
    for (const result of results) expect(result.text.trim()).not.toBe("");
  });

  it("is a snapshot: a run that continues does not change it", async () => {
    const ask = defineTool({ ...{ name: "ask", description: "Asks" }, input: { type: "object" } });
    const model = scriptedModel([{ calls: [{ id: "c1", name: "ask" }] }, { text: "Done." }]);
    const started = run(defineAgent({ name: "a", model, tools: [ask] }), "Hi");
    const waiting = await started;
    const before = structuredClone({ ...waiting, orThrow: null });
    await started.answer("c1", "yes");
    expect({ ...waiting, orThrow: null }).toEqual(before);
    expect(waiting).toMatchObject({
      status: "waiting",
      turns: 1,
      toolCalls: [],
      history: [{ type: "user" }],
    });
  });

  it("counts attempts whose answers could not be used: they are billed too", async () => {
    const usage = { inputTokens: 100, outputTokens: 10, cost: 0.01 };
    const cut = { text: "Once upon", finish: "other", usage } as const;
    const options = { clock: fakeClock({ skipUpToMs: 59_000 }) };
    const answer = async (steps: readonly ScriptedStep[]) => {
      const agent = defineAgent({ name: "a", model: scriptedModel(steps), tools: [look] });
      const { facts, result } = await collect(run(agent, "Go", options));
      const view = reduceAll(emptyView, facts);
      const unfinished = summarizeRun(facts.filter(({ type }) => type !== "done"));
      for (const sum of [view.usage, unfinished.usage]) expect(sum).toEqual(result.usage);
      return { facts, result };
    };
    const better = await answer([cut, cut, { text: "Once upon a time.", usage }]);
    expect(better.result).toMatchObject({ status: "done", cost: 0.03, usage: { inputTokens: 300 } });
    expect(better.facts.find(({ type }) => type === "message")).toMatchObject({
      usage,
      retryUsage: { inputTokens: 200, cost: 0.02 },
    });
    const worse = await answer([cut, cut, cut]);
    expect(worse.result).toMatchObject({ status: "failed", cost: 0.03, usage: { outputTokens: 30 } });
    const call = { calls: [{ name: "look", arguments: '{"n' }], finish: "length", usage } as const;
    expect((await answer([call, call])).result).toMatchObject({ cost: 0.02 });
  });

  it("adds up the costs reported by the providers", async () => {
    const usage = {
      ...{ inputTokens: 100, outputTokens: 10, cachedTokens: 40, cost: 0.002 },
      ...{ cacheWriteTokens: 50, longCacheWriteTokens: 20 },
    };
    const model = scriptedModel([
      { calls: [{ name: "look", input: { n: 1 } }], usage },
      { text: "Done.", usage },
    ]);
    const result = await run(defineAgent({ name: "a", model, tools: [look] }), "Go");
    expect(result.usage).toEqual({
      ...{ inputTokens: 200, outputTokens: 20, cachedTokens: 80, cost: 0.004 },
      ...{ cacheWriteTokens: 100, longCacheWriteTokens: 40 },
    });
    expect(result.cost).toBe(0.004);
  });

  it("is not grounded when every tool call failed", async () => {
    const broken = defineTool({
      ...{ name: "look", description: "Fails" },
      input: { type: "object" },
      execute: () => ({ error: "no" }),
    });
    const model = () => scriptedModel([{ calls: [{ name: "look" }] }, { text: "I think so." }]);
    const grounded = async (tool: typeof look | typeof broken) =>
      (await run(defineAgent({ name: "a", model: model(), tools: [tool] }), "Go")).grounded;
    expect([await grounded(broken), await grounded(look)]).toEqual([false, true]);
  });
});

describe("a result", () => {
  it("counts turns, model calls and tool calls, and adds up their cost (S0-47)", async () => {
    let executions = 0;
    const counted = { ...look, execute: () => `${++executions}` };
    const model = scriptedModel((_request, index) => ({
      ...(index < 2
        ? {
            calls: [
              { name: "look", input: { n: index } },
              { name: "look", input: { n: index + 10 } },
            ],
          }
        : { text: "Done." }),
      usage: { inputTokens: 100 * (index + 1), outputTokens: 10 },
    }));
    const { events, result } = await collect(run(defineAgent({ name: "a", model, tools: [counted] }), "Go"));
    expect(result.turns).toBe(3);
    expect(model.requests).toHaveLength(result.turns);
    expect(events.filter(({ type }) => type === "message")).toHaveLength(result.turns);
    expect(result.toolCalls).toHaveLength(4);
    expect(executions).toBe(4);
    expect(result.usage).toEqual({ inputTokens: 600, outputTokens: 30 });
  });

  it("of a run that reached a limit says so without throwing (S4-21)", async () => {
    const agent = defineAgent({
      name: "a",
      model: createSearchingModel(),
      tools: [look],
      policy: { maxTurns: 2 },
    });
    const result = await run(agent, "Go");
    expect(result).toMatchObject({ status: "limit", turns: 2, error: { code: "max_turns" } });
    expect(result.text).not.toBe("");
    const isErrorClass = (value: unknown) => typeof value === "function" && value.prototype instanceof Error;
    expect(Object.values(capstan).filter(isErrorClass)).toEqual([AgentError]);
    expect(() => result.orThrow()).toThrow(AgentError);
  });
});
