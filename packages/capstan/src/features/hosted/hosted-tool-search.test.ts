import { describe, expect, it } from "vitest";
import { defineAgent } from "../../kernel/agent.ts";
import type { Fact } from "../../kernel/event.ts";
import type { Model } from "../../kernel/model.ts";
import { anthropic } from "../../models/anthropic.ts";
import { openai } from "../../models/openai.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { createIdleTool } from "../../testing/deferred-tools.ts";
import { hostedTools } from "./hosted-tools.ts";

type Body = { readonly tools: readonly Record<string, unknown>[]; readonly [field: string]: unknown };

/** Answers the first request with a search and a call, and the second with a text. */
async function runAgainst(
  createModel: (fetch: typeof globalThis.fetch) => Model,
  answers: readonly object[],
) {
  const bodies: Body[] = [];
  const fetch: typeof globalThis.fetch = async (_, init) => {
    bodies.push(JSON.parse(String(init?.body)));
    return Response.json(answers[bodies.length - 1]);
  };
  const tools = [
    createIdleTool("get_time", "Tells the time"),
    createIdleTool("get_weather", "Tells the weather", { defer: true }),
    hostedTools.toolSearch(),
  ];
  const store = memory();
  const policy = { modelRetry: { attempts: 1, patienceMs: 0 } };
  const agent = defineAgent({ name: "guide", model: createModel(fetch), tools, policy });
  const result = await run(agent, "What is the weather?", { store, session: "s" });
  const results = (await store.read("s")).filter(
    (fact): fact is Extract<Fact, { type: "tool_call_result" }> => fact.type === "tool_call_result",
  );
  return { bodies, result, results };
}

const claudeAnswers = [
  {
    ...{
      type: "message",
      role: "assistant",
      stop_reason: "tool_use",
      usage: { input_tokens: 9, output_tokens: 9 },
    },
    content: [
      {
        type: "server_tool_use",
        id: "srvtoolu_1",
        name: "tool_search_tool_bm25",
        input: { query: "weather" },
      },
      {
        ...{ type: "tool_search_tool_result", tool_use_id: "srvtoolu_1" },
        content: {
          type: "tool_search_tool_search_result",
          tool_references: [{ type: "tool_reference", tool_name: "get_weather" }],
        },
      },
      { type: "tool_use", id: "toolu_1", name: "get_weather", input: {} },
    ],
  },
  {
    ...{
      type: "message",
      role: "assistant",
      stop_reason: "end_turn",
      usage: { input_tokens: 9, output_tokens: 9 },
    },
    content: [{ type: "text", text: "Sunny." }],
  },
];

const foundFunction = { type: "function", name: "get_weather", defer_loading: true, parameters: {} };
const response = { object: "response", status: "completed", usage: { input_tokens: 9, output_tokens: 9 } };
const responses = [
  {
    ...response,
    output: [
      {
        id: "tsc_1",
        type: "tool_search_call",
        status: "completed",
        arguments: { paths: ["get_weather"] },
        call_id: null,
        execution: "server",
      },
      {
        id: "tso_1",
        type: "tool_search_output",
        status: "completed",
        call_id: null,
        execution: "server",
        tools: [foundFunction],
      },
      {
        id: "fc_1",
        type: "function_call",
        status: "completed",
        arguments: "{}",
        call_id: "call_1",
        name: "get_weather",
        namespace: "get_weather",
      },
    ],
  },
  {
    ...response,
    output: [
      { id: "msg_1", type: "message", role: "assistant", content: [{ type: "output_text", text: "Sunny." }] },
    ],
  },
];

const checkRun = ({ result, results }: Awaited<ReturnType<typeof runAgainst>>) => {
  expect(result).toMatchObject({ status: "done", text: "Sunny." });
  expect(results).toMatchObject([
    { name: "tool_search", hosted: true, status: "ok", result: "get_weather" },
    { name: "get_weather", status: "ok", result: "get_weather done", discovered: [{ name: "get_weather" }] },
  ]);
};

describe("the tool search of a provider", () => {
  it("gets the deferred tools of an agent marked as such, and its result is sent back (Anthropic)", async () => {
    const ran = await runAgainst(
      (fetch) => anthropic({ model: "claude-sonnet-4-6", apiKey: "k", fetch, stream: false }),
      claudeAnswers,
    );
    checkRun(ran);
    const [first, second] = ran.bodies;
    expect(
      first?.tools.map(({ name, type, defer_loading: isDeferred }) => type ?? [name, isDeferred]),
    ).toEqual([
      ["get_time", undefined],
      ["read_result", undefined],
      ["get_weather", true],
      "tool_search_tool_bm25_20251119",
    ]);
    expect(first?.tools.map((tool) => "cache_control" in tool)).toEqual([false, true, false, false]);
    expect(second?.tools).toEqual(first?.tools);
    expect(JSON.stringify(second?.messages)).toContain(
      JSON.stringify(claudeAnswers[0]?.content[1]).slice(1, -1),
    );
  });

  it("gets the deferred tools of an agent marked as such, and its result is sent back (OpenAI)", async () => {
    const ran = await runAgainst(
      (fetch) => openai({ model: "gpt-5.4", apiKey: "k", fetch, stream: false }),
      responses,
    );
    checkRun(ran);
    const [first, second] = ran.bodies;
    expect(
      first?.tools.map(({ name, type, defer_loading: isDeferred }) => [name ?? type, isDeferred]),
    ).toEqual([
      ["get_time", undefined],
      ["read_result", undefined],
      ["get_weather", true],
      ["tool_search", undefined],
    ]);
    expect(second?.tools).toEqual(first?.tools);
    const input = second?.input as readonly Record<string, unknown>[];
    expect(input.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["tool_search_call", "tool_search_output", "function_call"]),
    );
    expect(input.find(({ type }) => type === "function_call")).toMatchObject({ namespace: "get_weather" });
  });

  it("is an error with a model that has none", () => {
    const tools = [hostedTools.toolSearch(), createIdleTool("a", "A", { defer: true })];
    for (const model of ["gemini/gemini-3-pro", "bedrock/anthropic.claude-sonnet-4-6"])
      expect(() => defineAgent({ name: "guide", model, tools })).toThrow(
        /"tool_search" is not available with/,
      );
  });
});
