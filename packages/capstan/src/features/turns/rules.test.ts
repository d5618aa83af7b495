import { describe, expect, it } from "vitest";
import { type AgentDefinition, defineAgent, indexAgents } from "../../kernel/agent.ts";
import type { Fact, ToolOffer } from "../../kernel/event.ts";
import { defaultPolicy, type PolicyOverrides, resolvePolicy } from "../../kernel/policy.ts";
import { defineTool } from "../../kernel/tool.ts";
import { decide } from "../../runtime/decide.ts";
import { fold } from "../../runtime/facts.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";

const look = defineTool({
  name: "look",
  description: "Looks around.",
  input: { type: "object", properties: { at: { type: "string" } } },
  execute: () => "Seen.",
});

/** Returns the first decision of a run. */
function decideFirst(policy: PolicyOverrides, definition: Partial<AgentDefinition> = {}) {
  const agent = defineAgent({ name: "helper", model: scriptedModel([]), tools: [look], ...definition });
  const start: Fact = {
    type: "run_start",
    input: [{ type: "user", content: "Go." }],
    policy: resolvePolicy(policy),
    timeZone: "UTC",
    ...{ seq: 1, at: 0, id: "x", runId: "r", sessionId: "s", agent: "helper", turn: 0 },
  };
  return decide(indexAgents(agent), fold("s", [start]));
}

describe("the next turn", () => {
  it("calls the first model, with tools offered and without notes", () => {
    expect(decideFirst({})).toEqual({
      type: "effects",
      effects: [
        {
          type: "model",
          id: "turn.1.0",
          agent: "helper",
          turn: 1,
          candidate: 0,
          hasMoreRoom: false,
          continueAfter: ["length", "pause"],
          maxTurns: 10,
          messageCount: 1,
          tools: "offered",
          chain: "main",
          notes: [],
          thinking: false,
          timeoutMs: 600_000,
          deadlineMs: Number.MAX_SAFE_INTEGER,
          retry: {
            ...defaultPolicy.modelRetry,
            failingMs: 0,
            suspensions: 0,
            hasAlternative: false,
          },
        },
      ],
    });
  });

  it.each<[PolicyOverrides, ToolOffer]>([
    [{}, "offered"],
    [{ maxTurns: 1 }, "withdrawn"],
    [{ maxTurns: 1, finalTurn: "keep-tools" }, "offered"],
    [{ maxTurns: "unlimited" }, "offered"],
    [{ budget: { toolCalls: 0 } }, "withdrawn"],
    [{ requireToolFirst: true }, "required"],
    [{ requireToolFirst: true, maxTurns: 1 }, "withdrawn"],
  ])("under %j has its tools %s (C-02, C-24)", (policy, tools) => {
    expect(decideFirst(policy)).toMatchObject({ effects: [{ tools }] });
  });

  it.each([
    [true, "required"],
    ["auto", "offered"],
    [false, "offered"],
  ] as const)("of arithmetic, under requireToolFirst %j, has its tools %s (C-24)", async (requireToolFirst, offer) => {
    const model = scriptedModel([{ calls: [{ name: "look" }] }, { text: "4" }]);
    const agent = defineAgent({ name: "a", model, tools: [look], policy: { requireToolFirst } });
    await run(agent, "What's 2+2?", { store: memory() });
    expect(model.requests[0]?.toolChoice).toBe(offer === "required" ? "required" : "auto");
  });

  it("never requires tools from an agent without tools", () => {
    expect(decideFirst({ requireToolFirst: true }, { tools: [] })).toMatchObject({
      effects: [{ tools: "offered" }],
    });
  });

  it("does not exceed the time budget", () => {
    expect(decideFirst({ budget: { seconds: 30 } })).toMatchObject({ effects: [{ deadlineMs: 30_000 }] });
  });

  it("sends the instructions, the whole history and every tool with its description and schema (S4-14, S0-02)", async () => {
    const model = scriptedModel([{ calls: [{ id: "c1", name: "look" }] }, { text: "There." }]);
    await run(defineAgent({ name: "helper", model, instructions: "Base.", tools: [look] }), "Go.", {
      store: memory(),
    });
    const tools = [
      {
        name: "look",
        description: "Looks around.",
        input: { type: "object", properties: { at: { type: "string" } } },
      },
    ];
    expect(model.requests).toMatchObject([
      { instructions: "Base.", tools, history: [{ type: "user", content: "Go." }] },
      {
        instructions: "Base.",
        tools,
        history: [
          { type: "user" },
          { type: "assistant" },
          { type: "result", callId: "c1", content: "Seen." },
        ],
      },
    ]);
  });

  it("counts in its start fact the entries the model receives (S2-20)", async () => {
    const model = scriptedModel([{ calls: [{ name: "look" }] }, { text: "There." }]);
    const started: number[] = [];
    const agent = defineAgent({ name: "helper", model, tools: [look] });
    for await (const event of run(agent, "Go.", { store: memory() }))
      if (event.type === "turn_start") started.push(event.messageCount);
    expect(started).toEqual([1, 3]);
    expect(model.requests.map(({ history }) => history.length)).toEqual(started);
  });

  it("collects all notes in a fixed order", async () => {
    const model = scriptedModel(() => ({ calls: [{ name: "look" }] }));
    const policy = { maxTurns: 4, budget: { tokens: 35 } };
    await run(defineAgent({ name: "helper", model, tools: [look], policy }), "Go.", { store: memory() });
    expect(model.requests[2]?.instructions.split("\n\n")).toEqual([
      expect.stringMatching(/^Note: you have 1 turn left/),
      expect.stringMatching(/^Note: you have called "look" 2 times/),
      expect.stringMatching(/^Note: the budget of tokens is nearly used up/),
    ]);
  });
});
