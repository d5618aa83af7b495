import { describe, expect, it } from "vitest";
import type { Chunk, ModelRequest } from "../../kernel/model.ts";
import type { ModelSettings } from "../../kernel/settings/settings.ts";
import { openAiResponses } from "../openai-responses.ts";

const tools = [{ name: "pay", description: "Pays", input: { type: "object", properties: {} } }];
const encrypted = { include: ["reasoning.encrypted_content"] };

function buildFields(
  model: string,
  settings: ModelSettings,
  request: Partial<ModelRequest> = {},
): Record<string, unknown> {
  const { toolChoice = "auto", ...rest } = settings;
  const asked: ModelRequest = {
    ...{ instructions: "", history: [], tools, toolChoice, thinking: false, ...request },
  };
  const body = JSON.parse(openAiResponses.toRequest(asked, { model, stream: true, ...rest }));
  const { model: _model, stream: _stream, store: _store, tools: _tools, input: _input, ...fields } = body;
  return fields;
}

function reason(effort: string): object {
  return { ...encrypted, reasoning: { effort, summary: "auto" } };
}

/** Without a summary. */
function reasonQuietly(effort: string): object {
  return { ...encrypted, reasoning: { effort } };
}

describe("settings on the responses API", () => {
  it.each<[string, ModelSettings, object]>([
    ["gpt-5-mini", { effort: "low" }, reason("low")],
    ["gpt-5-mini", { effort: "high" }, reason("high")],
    ["gpt-5-mini", { effort: "none" }, reasonQuietly("minimal")],
    ["gpt-5-mini", { effort: 500 }, reason("low")],
    ["gpt-5-mini", { effort: 8_000 }, reason("medium")],
    ["gpt-5-mini", { effort: 60_000 }, reason("high")],
    ["gpt-5.2", { effort: "none" }, { reasoning: { effort: "none" } }],
    ["gpt-5.2-pro", { effort: "low" }, reason("medium")],
    ["gpt-5-pro", { effort: "low" }, reason("high")],
    ["gpt-5.1-codex", { effort: "none" }, reasonQuietly("low")],
    ["gpt-6-sol", { effort: "none" }, { reasoning: { effort: "none" } }],
    ["gpt-6-astra", { effort: "none" }, reasonQuietly("low")],
    ["o3", { effort: "none" }, reasonQuietly("low")],
    ["team/prod-o4-mini", { effort: "high" }, reason("high")],
    ["gpt-4o", { effort: "high" }, {}],
    ["ft:gpt-4.1-mini:acme::1", { effort: "none" }, {}],
    ["gpt-5.2-chat-latest", { effort: "high" }, {}],
    ["my-deployment", { effort: "high" }, reason("high")],
    ["gpt-4o", { temperature: 0, topP: 0.5 }, { temperature: 0, top_p: 0.5 }],
    ["my-deployment", { temperature: 0.7 }, { temperature: 0.7 }],
    ["gpt-5.2", { temperature: 0.7, effort: "none" }, { temperature: 0.7, reasoning: { effort: "none" } }],
    ["gpt-5.2", { temperature: 0.7, effort: "low" }, reason("low")],
    ["gpt-5.2", { temperature: 0.7, topP: 0.5 }, {}],
    ["gpt-6-sol", { temperature: 0.7, effort: "none" }, { reasoning: { effort: "none" } }],
    ["gpt-5-mini", { maxOutputTokens: 99 }, { max_output_tokens: 99 }],
    ["gpt-5-mini", { seed: 1, stop: "END" }, {}],
    ["gpt-5-mini", { toolChoice: { tool: "pay" } }, { tool_choice: { type: "function", name: "pay" } }],
    ["gpt-5-mini", { toolChoice: "required" }, { tool_choice: "required" }],
    ["gpt-5-mini", { parallelToolCalls: false }, { parallel_tool_calls: false }],
    ["gpt-5-mini", { parallelToolCalls: true }, { parallel_tool_calls: true }],
    ["gpt-5-mini", { serviceTier: "flex" }, { service_tier: "flex" }],
    ["gpt-5", { cache: "long" }, { prompt_cache_retention: "24h" }],
    ["gpt-5", { cache: "short" }, { prompt_cache_retention: "in_memory" }],
    ["gpt-5", { cache: "off" }, { prompt_cache_retention: "in_memory" }],
    ["gpt-5-mini", { cache: "long" }, {}],
    ["gpt-5.5", { cache: "long" }, { prompt_cache_retention: "24h" }],
    ["gpt-5.5", { cache: "short" }, {}],
    ["gpt-5.6-sol", { cache: "off" }, { prompt_cache_options: { mode: "explicit" } }],
    ["gpt-5.6-sol", { cache: "short" }, { prompt_cache_options: { ttl: "30m" } }],
    ["gpt-6-astra", { cache: "long" }, { prompt_cache_options: { ttl: "12h" } }],
    ["gpt-4o", { logprobs: true }, { include: ["message.output_text.logprobs"] }],
    ["gpt-4o", { logprobs: 3 }, { include: ["message.output_text.logprobs"], top_logprobs: 3 }],
    ["gpt-4o", { logprobs: false }, {}],
    ["gpt-5-mini", { logprobs: true }, {}],
    [
      "gpt-5-mini",
      { effort: "low", extra: { reasoning: { effort: "xhigh" } } },
      { ...reason("low"), reasoning: { effort: "xhigh" } },
    ],
  ])("%s sends %j as the fields that the model accepts", (model, settings, fields) => {
    expect(buildFields(model, settings)).toEqual(fields);
  });

  it("a wish to think asks a model that is known to reason for its medium level, without summaries", () => {
    const buildWish = (model: string, settings: ModelSettings = {}) =>
      buildFields(model, settings, { thinking: true });
    expect(buildWish("gpt-5.2")).toEqual(reasonQuietly("medium"));
    expect(buildWish("gpt-5-pro")).toEqual(reasonQuietly("high"));
    expect(buildWish("gpt-4o")).toEqual({});
    expect(buildWish("my-deployment")).toEqual({});
    expect(buildWish("gpt-5.2", { effort: "none" })).toEqual({ reasoning: { effort: "none" } });
  });

  it("sends fields about tools only with tools", () => {
    expect(buildFields("gpt-5-mini", { parallelToolCalls: false }, { tools: [] })).toEqual({});
  });
});

describe("log probabilities of an answer", () => {
  const first = {
    token: "Hel",
    logprob: -0.5,
    bytes: [72],
    top_logprobs: [{ token: "Hel", logprob: -0.5, bytes: [] }],
  };
  const second = { token: "lo", logprob: -1, top_logprobs: [] };
  const tokens = [
    { token: "Hel", logprob: -0.5, top: [{ token: "Hel", logprob: -0.5 }] },
    { token: "lo", logprob: -1 },
  ];
  const message = {
    ...{ type: "message", id: "m", role: "assistant", status: "completed" },
    content: [{ type: "output_text", text: "Hello", annotations: [], logprobs: [first, second] }],
  };
  const response = { status: "completed", output: [message] };
  const collect = (chunks: readonly Chunk[]) =>
    chunks.flatMap((chunk) => (chunk.type === "logprobs" ? chunk.tokens : []));

  function readStream(...deltas: object[]): readonly Chunk[] {
    const reader = openAiResponses.reader();
    const events = [
      ...deltas.map((delta) => ({ type: "response.output_text.delta", output_index: 0, ...delta })),
      { type: "response.output_item.done", output_index: 0, item: message },
      { type: "response.completed", response },
    ];
    return events.flatMap((event) => [...reader.read({ data: JSON.stringify(event) })]);
  }

  it("are read from the deltas, each token once", () => {
    const chunks = readStream({ delta: "Hel", logprobs: [first] }, { delta: "lo", logprobs: [second] });
    expect(collect(chunks)).toEqual(tokens);
    expect(chunks.findIndex(({ type }) => type === "logprobs")).toBe(1);
  });

  it("are read from the end of an item if the deltas have none, or only some", () => {
    expect(collect(readStream({ delta: "Hel" }, { delta: "lo", logprobs: [] }))).toEqual(tokens);
    expect(collect(readStream({ delta: "Hel", logprobs: [first] }))).toEqual(tokens);
  });

  it("are read from an answer that is not streamed, and are not sent back", () => {
    const chunks = openAiResponses.fromJson(response);
    expect(collect(chunks)).toEqual(tokens);
    expect(JSON.stringify(chunks.filter(({ type }) => type !== "logprobs"))).not.toContain("logprob");
  });

  it("of an unknown shape are ignored", () => {
    expect(collect(readStream({ delta: "Hello", logprobs: [{ token: 1 }, null, "x"] }))).toEqual([]);
    expect(collect(readStream({ delta: "Hello", logprobs: "none" }))).toEqual(tokens);
  });
});
