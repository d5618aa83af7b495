import { describe, expect, it } from "vitest";
import type { Chunk, ModelRequest } from "../../kernel/model.ts";
import type { ModelSettings } from "../../kernel/settings/settings.ts";
import { findNamedProblems } from "../../kernel/settings/support.ts";
import { findCompatibleServer } from "../compatible-servers.ts";
import { createChatWire, openAiChat } from "../openai-chat.ts";
import type { Wire } from "../wire.ts";

const toTool = (name: string) => ({ name, description: name, input: { type: "object", properties: {} } });
const tools = [toTool("pay"), toTool("look")];

function buildFields(
  wire: Wire,
  { model = "m", toolChoice = "auto", ...settings }: ModelSettings & { readonly model?: string },
  request: Partial<ModelRequest> = {},
): Record<string, unknown> {
  const asked = { instructions: "", history: [], tools, toolChoice, thinking: false, ...request };
  const body = JSON.parse(wire.toRequest(asked, { model, stream: false, ...settings }));
  const { model: _model, stream: _stream, messages: _messages, tools: _tools, ...fields } = body;
  return fields;
}

describe("settings on OpenAI's chat completions", () => {
  it.each<[string, ModelSettings, object]>([
    ["gpt-5-mini", { effort: "low" }, { reasoning_effort: "low" }],
    ["gpt-5-mini", { effort: "none" }, { reasoning_effort: "minimal" }],
    ["gpt-5.2", { effort: "none" }, { reasoning_effort: "none" }],
    ["gpt-5.2", { effort: 100_000 }, { reasoning_effort: "high" }],
    ["o3", { effort: "none" }, { reasoning_effort: "low" }],
    ["gpt-4o", { effort: "high" }, {}],
    ["gpt-4o", { temperature: 0, topP: 1 }, { temperature: 0, top_p: 1 }],
    ["gpt-5-mini", { temperature: 0, topP: 1 }, {}],
    ["gpt-5.2", { temperature: 0, effort: "none" }, { temperature: 0, reasoning_effort: "none" }],
    ["gpt-4o", { stop: ["A", "B"], seed: 7 }, { stop: ["A", "B"], seed: 7 }],
    ["gpt-5-mini", { stop: "A", seed: 7 }, { seed: 7 }],
    ["gpt-5-mini", { maxOutputTokens: 9 }, { max_completion_tokens: 9 }],
    [
      "gpt-5-mini",
      { toolChoice: { tool: "pay" } },
      { tool_choice: { type: "function", function: { name: "pay" } } },
    ],
    ["gpt-5-mini", { parallelToolCalls: false }, { parallel_tool_calls: false }],
    ["o3", { parallelToolCalls: false }, {}],
    ["gpt-5-mini", { serviceTier: "priority" }, { service_tier: "priority" }],
    ["gpt-5", { cache: "long" }, { prompt_cache_retention: "24h" }],
    ["gpt-6-sol", { cache: "off" }, { prompt_cache_options: { mode: "explicit" } }],
    ["gpt-6-sol", { cache: "long" }, {}],
    ["gpt-4o", { logprobs: true }, { logprobs: true }],
    ["gpt-4o", { logprobs: 5 }, { logprobs: true, top_logprobs: 5 }],
    ["gpt-4o", { logprobs: false }, {}],
    ["gpt-5-mini", { logprobs: 5 }, {}],
    ["gpt-4o", { seed: 7, extra: { seed: 8, verbosity: "low" } }, { seed: 8, verbosity: "low" }],
  ])("%s sends %j as the fields that the model accepts", (model, settings, fields) => {
    expect(buildFields(openAiChat, { model, ...settings })).toEqual(fields);
  });

  it("a wish to think asks only a model that is known to reason", () => {
    const wish = { thinking: true };
    expect(buildFields(openAiChat, { model: "gpt-5.2" }, wish)).toEqual({ reasoning_effort: "medium" });
    expect(buildFields(openAiChat, { model: "gpt-4o" }, wish)).toEqual({});
    expect(buildFields(openAiChat, { model: "my-deployment" }, wish)).toEqual({});
  });

  it("sends parallelToolCalls only with tools, which the API requires", () => {
    expect(buildFields(openAiChat, { parallelToolCalls: true }, { tools: [] })).toEqual({});
  });
});

/** The fields for a model named `provider/model`, as its client sends them. */
function buildNamedFields(name: string, settings: ModelSettings, request?: Partial<ModelRequest>): object {
  const slash = name.indexOf("/");
  const quirks = findCompatibleServer(name.slice(0, slash))?.quirks ?? {};
  return buildFields(createChatWire(quirks), { model: name.slice(slash + 1), ...settings }, request);
}

const template = (fields: object, level?: string) => ({
  chat_template_kwargs: fields,
  ...(level && { reasoning_effort: level }),
});

describe("settings on a compatible server", () => {
  it.each<[string, ModelSettings, object]>([
    ["fireworks/any", { effort: "high" }, { reasoning_effort: "high" }],
    ["fireworks/any", { effort: "none" }, { reasoning_effort: "none" }],
    ["litellm/gpt-4o", { effort: "high" }, {}],
    ["ollama/qwen3", { effort: "none" }, { reasoning_effort: "none" }],
    ["openrouter/any/model", { effort: "low" }, { reasoning: { effort: "low" } }],
    ["openrouter/any/model", { effort: "none" }, { reasoning: { effort: "none" } }],
    // OpenRouter caches Claude's prompts only on request.
    ["openrouter/anthropic/claude-haiku-4.5", {}, { cache_control: { type: "ephemeral" } }],
    [
      "openrouter/anthropic/claude-haiku-4.5",
      { cache: "long" },
      { cache_control: { type: "ephemeral", ttl: "1h" } },
    ],
    ["openrouter/anthropic/claude-haiku-4.5", { cache: "off" }, {}],
    ["gateway/any/model", { effort: 2000 }, { reasoning: { max_tokens: 2000 } }],
    ["deepseek/deepseek-v4-pro", { effort: "none" }, { thinking: { type: "disabled" } }],
    [
      "deepseek/deepseek-v4-pro",
      { effort: "high" },
      { thinking: { type: "enabled" }, reasoning_effort: "high" },
    ],
    ["together/zai/glm-5", { effort: "none" }, { reasoning: { enabled: false } }],
    ["together/zai/glm-5", { effort: "low" }, { reasoning: { enabled: true }, reasoning_effort: "low" }],
    ["llamacpp/qwen3", { effort: "none" }, template({ enable_thinking: false })],
    ["vllm/qwen3", { effort: "high" }, template({ enable_thinking: true, reasoning_effort: "high" }, "high")],
    ["groq/openai/gpt-oss-120b", { effort: "none" }, { reasoning_effort: "low" }],
    ["groq/qwen/qwen3-32b", {}, { reasoning_format: "parsed" }],
    ["groq/qwen/qwen3-32b", { effort: "high" }, { reasoning_format: "parsed", reasoning_effort: "default" }],
    ["groq/qwen/qwen3-32b", { effort: "none" }, { reasoning_format: "parsed", reasoning_effort: "none" }],
    ["groq/llama-3.3-70b-versatile", { effort: "none" }, {}],
    ["cerebras/zai-glm-4.7", { effort: "none" }, { reasoning_effort: "none" }],
    ["cerebras/zai-glm-4.7", { effort: "high" }, {}],
    ["mistral/mistral-small-latest", { effort: "low" }, { reasoning_effort: "high" }],
    ["mistral/mistral-large-latest", { effort: "low" }, {}],
    ["xai/grok-4.3", { effort: "none" }, { reasoning_effort: "none" }],
    ["xai/grok-4.20-reasoning", { effort: "high" }, {}],
    ["xai/grok-3-mini", { effort: "medium" }, { reasoning_effort: "low" }],
    ["mistral/any", { seed: 7, maxOutputTokens: 9 }, { random_seed: 7, max_tokens: 9 }],
    ["groq/any", { logprobs: 2 }, {}],
    ["vllm/any", { logprobs: 2 }, { logprobs: true, top_logprobs: 2 }],
    [
      "vllm/any",
      { temperature: 0.1, topP: 0.2, stop: "X", seed: 3 },
      { temperature: 0.1, top_p: 0.2, stop: "X", seed: 3 },
    ],
    ["vllm/any", { cache: "long", serviceTier: "flex" }, { service_tier: "flex" }],
    [
      "vllm/any",
      { toolChoice: { tool: "pay" } },
      { tool_choice: { type: "function", function: { name: "pay" } } },
    ],
    [
      "mistral/any",
      { toolChoice: "required", parallelToolCalls: false },
      { tool_choice: "any", parallel_tool_calls: false },
    ],
  ])("%s sends %j in the server's fields", (name, settings, fields) => {
    expect(buildNamedFields(name, settings)).toEqual(fields);
  });

  it.each([
    ["openrouter/any/model", { reasoning: { effort: "medium" } }],
    ["vllm/any", template({ enable_thinking: true, reasoning_effort: "medium" }, "medium")],
    ["groq/openai/gpt-oss-20b", { reasoning_effort: "medium" }],
    ["groq/llama-3.3-70b-versatile", {}],
    ["litellm/claude-sonnet-4-5", { reasoning_effort: "medium" }],
    ["litellm/my-model", {}],
    ["ollama/llama3.2", {}],
    // A conversation that began without reasoning would be rejected.
    ["deepseek/deepseek-v4-pro", {}],
  ])("%s gets a wish to think only if the model cannot reject it", (name, fields) => {
    expect(buildNamedFields(name, {}, { thinking: true })).toEqual(fields);
  });

  it("gets the server's own fields that turn thinking on and off", () => {
    const wire = createChatWire({ thinking: { on: { think: true }, off: { think: false } } });
    const choose = (settings: ModelSettings, thinking: boolean) => buildFields(wire, settings, { thinking });
    expect(choose({ effort: "low" }, false)).toEqual({ think: true });
    expect(choose({ effort: "none" }, true)).toEqual({ think: false });
    const qwen = createChatWire({ thinking: "enable_thinking" });
    expect(buildFields(qwen, { effort: 900 })).toEqual({ enable_thinking: true, thinking_budget: 900 });
    expect(buildFields(qwen, { effort: "none" })).toEqual({ enable_thinking: false });
  });

  it("a server that accepts no tool by name gets that tool alone and has to call it", () => {
    const quirks = findCompatibleServer("llamacpp")?.quirks ?? {};
    const request = { instructions: "", history: [], tools, toolChoice: { tool: "look" }, thinking: false };
    const body = JSON.parse(createChatWire(quirks).toRequest(request, { model: "m", stream: false }));
    expect(body.tool_choice).toBe("required");
    expect(body.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual(["look"]);
  });

  it.each<[string, ModelSettings, readonly string[]]>([
    ["groq/any", { logprobs: true }, ["refused logprobs"]],
    ["vllm/any", { logprobs: true, effort: "high", cache: "short" }, []],
    ["vllm/any", { effort: 4000, cache: "off" }, ["ignored effort", "ignored cache"]],
    ["openrouter/any", { effort: 4000 }, []],
    ["openrouter/anthropic/claude-haiku-4.5", { cache: "long" }, []],
    ["openrouter/any", { cache: "long" }, ["ignored cache"]],
    ["xai/grok-4.20-reasoning", { effort: "low" }, ["ignored effort"]],
    ["groq/llama-3.3", { effort: "none" }, []],
    ["mistral/mistral-small-latest", { effort: "low" }, ["ignored effort"]],
    ["unknown/any", { temperature: 1, stop: "x", seed: 1 }, []],
  ])("%s reports of %j what it cannot follow: %j", (name, settings, problems) => {
    const found = findNamedProblems(name, settings);
    expect(found.map(({ isError, field }) => `${isError ? "refused" : "ignored"} ${field}`)).toEqual(
      problems,
    );
  });
});

describe("log probabilities in chat completions", () => {
  const first = { token: "Hel", logprob: -0.5, top_logprobs: [{ token: "Hel", logprob: -0.5, bytes: [1] }] };
  const second = { token: "lo", logprob: -1, bytes: null, top_logprobs: [] };
  const tokens = [
    { token: "Hel", logprob: -0.5, top: [{ token: "Hel", logprob: -0.5 }] },
    { token: "lo", logprob: -1 },
  ];
  const collect = (chunks: readonly Chunk[]) =>
    chunks.flatMap((chunk) => (chunk.type === "logprobs" ? chunk.tokens : []));

  it("are read from a stream, after the text that they belong to", () => {
    const reader = openAiChat.reader();
    const toEvent = (content: string, logprob: unknown) => ({
      data: JSON.stringify({
        choices: [{ index: 0, delta: { content }, logprobs: { content: [logprob], refusal: null } }],
      }),
    });
    const chunks = [toEvent("Hel", first), toEvent("lo", second)].flatMap((event) => [...reader.read(event)]);
    expect(collect(chunks)).toEqual(tokens);
    expect(chunks.map(({ type }) => type)).toEqual(["text", "logprobs", "text", "logprobs"]);
  });

  it("are read from an answer that is not streamed, also those of a refusal", () => {
    const toAnswer = (logprobs: object) => ({
      choices: [{ index: 0, message: { content: "Hello" }, logprobs, finish_reason: "stop" }],
    });
    expect(collect(openAiChat.fromJson(toAnswer({ content: [first, second] })))).toEqual(tokens);
    expect(collect(openAiChat.fromJson(toAnswer({ content: null, refusal: [second] })))).toEqual([tokens[1]]);
    expect(collect(openAiChat.fromJson(toAnswer({ tokens: ["x"], token_logprobs: [-1] })))).toEqual([]);
  });
});
