import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { describe, expect, it } from "vitest";
import type { Chunk, ModelRequest } from "../../kernel/model.ts";
import type { ModelSettings } from "../../kernel/settings/settings.ts";
import { type AiSdkModel, fromAiSdk } from "../from-ai-sdk.ts";

type Version = "v2" | "v3" | "v4";
type Fields = Record<string, unknown>;

/** A model that remembers its call options. */
function createSdkModel(version: Version, name: string, parts: readonly object[] = []) {
  const [provider = "", modelId = ""] = name.split("/", 2);
  const calls: Fields[] = [];
  const model: AiSdkModel = {
    ...{ specificationVersion: version, provider, modelId: name.slice(provider.length + 1) || modelId },
    async doStream(options) {
      calls.push(options as Fields);
      const stream = new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      });
      return { stream };
    },
  };
  return { model, calls };
}

const tools = [{ name: "pay", description: "Pays", input: { type: "object", properties: {} } }];

function createRequest(settings: ModelSettings, more: Partial<ModelRequest> = {}): ModelRequest {
  const { toolChoice = "auto", ...rest } = settings;
  return { instructions: "", history: [], tools, toolChoice, thinking: false, settings: rest, ...more };
}

async function collectChunks(model: AiSdkModel, request: ModelRequest): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  const { signal } = new AbortController();
  for await (const batch of fromAiSdk(model).stream(request, { signal })) chunks.push(...batch);
  return chunks;
}

async function buildFields(version: Version, name: string, request: ModelRequest): Promise<Fields> {
  const { model, calls } = createSdkModel(version, name);
  await collectChunks(model, request);
  const { prompt: _prompt, abortSignal: _signal, tools: _tools, ...fields } = calls[0] ?? {};
  return fields.toolChoice && JSON.stringify(fields.toolChoice) === '{"type":"auto"}'
    ? Object.fromEntries(Object.entries(fields).filter(([key]) => key !== "toolChoice"))
    : fields;
}

const own = (provider: string, options: object) => ({ providerOptions: { [provider]: options } });
const summary = { reasoningSummary: "auto" };

describe("settings of an AI SDK model", () => {
  it.each(["v2", "v3", "v4"] as const)("are the fields that %s has for them", async (version) => {
    const settings: ModelSettings = {
      ...{ temperature: 0.5, topP: 0.9, stop: "END", seed: 7, maxOutputTokens: 99 },
      toolChoice: { tool: "pay" },
    };
    expect(await buildFields(version, "acme.chat/one", createRequest(settings))).toEqual({
      ...{ temperature: 0.5, topP: 0.9, stopSequences: ["END"], seed: 7, maxOutputTokens: 99 },
      toolChoice: { type: "tool", toolName: "pay" },
    });
  });

  it.each<[Version, string, ModelSettings, object]>([
    ["v4", "acme.chat/one", { effort: "low" }, { reasoning: "low" }],
    ["v4", "acme.chat/one", { effort: 30_000 }, { reasoning: "high" }],
    ["v4", "acme.chat/one", { effort: "none" }, { reasoning: "none" }],
    ["v4", "openai.responses/gpt-5", { effort: "none" }, { reasoning: "minimal" }],
    ["v4", "openai.responses/gpt-5", { effort: "high" }, { reasoning: "high", ...own("openai", summary) }],
    ["v4", "openai.responses/gpt-4o", { effort: "high" }, {}],
    ["v3", "acme.chat/one", { effort: "low" }, own("acme", { reasoningEffort: "low" })],
    ["v2", "openai.chat/o3", { effort: "none" }, own("openai", { reasoningEffort: "low" })],
    [
      "v3",
      "openai.responses/gpt-5.2",
      { effort: "low" },
      own("openai", { reasoningEffort: "low", ...summary }),
    ],
    [
      "v3",
      "gateway/openai/gpt-5.2",
      { effort: "low" },
      own("openai", { reasoningEffort: "low", ...summary }),
    ],
    [
      "v3",
      "anthropic.messages/claude-sonnet-4-5",
      { effort: "low" },
      own("anthropic", { thinking: { type: "enabled", budgetTokens: 1024 } }),
    ],
    [
      "v3",
      "anthropic.messages/claude-opus-4-7",
      { effort: "high" },
      own("anthropic", { thinking: { type: "adaptive" }, effort: "high" }),
    ],
    ["v3", "anthropic.messages/claude-sonnet-4-5", { effort: "none" }, {}],
    [
      "v2",
      "google.generative-ai/gemini-2.5-pro",
      { effort: 500 },
      own("google", { thinkingConfig: { thinkingBudget: 500, includeThoughts: true } }),
    ],
    [
      "v2",
      "google.generative-ai/gemini-2.5-flash",
      { effort: "none" },
      own("google", { thinkingConfig: { thinkingBudget: 0 } }),
    ],
    [
      "v4",
      "openai.chat/gpt-4o",
      { logprobs: 3, serviceTier: "flex", parallelToolCalls: false },
      own("openai", { logprobs: 3, serviceTier: "flex", parallelToolCalls: false }),
    ],
    [
      "v4",
      "anthropic.messages/claude-sonnet-5",
      { parallelToolCalls: false },
      own("anthropic", { disableParallelToolUse: true }),
    ],
    [
      "v4",
      "acme.chat/one",
      { logprobs: true, serviceTier: "x", parallelToolCalls: false, cache: "long" },
      {},
    ],
    ["v4", "acme.chat/one", { extra: { topK: 3 } }, own("acme", { topK: 3 })],
    [
      "v3",
      "openai.chat/gpt-5",
      { effort: "low", extra: { reasoningEffort: "xhigh" } },
      own("openai", { reasoningEffort: "xhigh", ...summary }),
    ],
  ])("%s of %s sends %j", async (version, name, settings, fields) => {
    expect(await buildFields(version, name, createRequest(settings))).toEqual(fields);
  });

  it("a wish to think asks only a model that is known to reason", async () => {
    const wish = { thinking: true };
    expect(await buildFields("v4", "openai.responses/gpt-5.2", createRequest({}, wish))).toEqual({
      reasoning: "medium",
    });
    expect(await buildFields("v4", "acme.chat/one", createRequest({}, wish))).toEqual({});
    expect(await buildFields("v4", "openai.chat/gpt-4o", createRequest({}, wish))).toEqual({});
  });

  it("a request after a truncated answer has the higher limit", async () => {
    const request = createRequest({ maxOutputTokens: 10 }, { maxOutputTokens: 32_000 });
    expect(await buildFields("v3", "acme.chat/one", request)).toEqual({ maxOutputTokens: 32_000 });
  });

  it.each<[Version, string, ModelSettings, readonly string[]]>([
    [
      "v4",
      "acme.chat/one",
      { temperature: 1, topP: 1, stop: "x", seed: 1, effort: "low", cache: "short" },
      [],
    ],
    ["v3", "acme.chat/one", { effort: "low" }, ["ignored effort"]],
    ["v4", "acme.chat/one", { effort: 9 }, ["ignored effort"]],
    ["v3", "anthropic.messages/claude-sonnet-4-5", { effort: 9000 }, []],
    ["v4", "openai.chat/gpt-4o", { effort: "low" }, ["ignored effort"]],
    ["v4", "openai.chat/gpt-4o", { logprobs: true, serviceTier: "flex", parallelToolCalls: false }, []],
    [
      "v4",
      "acme.chat/one",
      { parallelToolCalls: false, serviceTier: "x", logprobs: 2, cache: "off" },
      ["ignored parallelToolCalls", "ignored serviceTier", "refused logprobs", "ignored cache"],
    ],
  ])("%s of %s reports of %j what it cannot follow: %j", (version, name, settings, problems) => {
    const found = fromAiSdk(createSdkModel(version, name).model).checkSettings?.(settings) ?? [];
    expect(found.map(({ isError, field }) => `${isError ? "refused" : "ignored"} ${field}`)).toEqual(
      problems,
    );
  });

  it("reads log probabilities from the end of the stream", async () => {
    const finishWith = (logprobs: unknown) => ({
      ...{ type: "finish", finishReason: "stop", usage: { inputTokens: 1, outputTokens: 1 } },
      providerMetadata: { openai: { responseId: "r", logprobs } },
    });
    const token = { token: "Hi", logprob: -1, top_logprobs: [] };
    for (const logprobs of [[token], [[token]]]) {
      const { model } = createSdkModel("v2", "openai.chat/gpt-4o", [finishWith(logprobs)]);
      const chunks = await collectChunks(model, createRequest({}));
      expect(chunks[0]).toEqual({ type: "logprobs", tokens: [{ token: "Hi", logprob: -1 }] });
    }
  });

  it("arrive in the request of a real provider package", async () => {
    const bodies: Fields[] = [];
    const fetch = async (_url: unknown, init?: RequestInit) => {
      bodies.push(JSON.parse(String(init?.body)));
      const events = [{ choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }] }];
      const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
      return new Response(`${text}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
    };
    const sdk = createOpenAICompatible({ name: "acme", baseURL: "https://acme.test/v1", fetch });
    const settings: ModelSettings = {
      ...{ effort: "high", temperature: 0.5, topP: 0.9, stop: ["A", "B"], seed: 7, maxOutputTokens: 99 },
      ...{ toolChoice: { tool: "pay" }, extra: { verbosity: "low", user: "u" } },
    };
    await collectChunks(sdk("one") as unknown as AiSdkModel, createRequest(settings));
    expect(bodies[0]).toMatchObject({
      ...{
        reasoning_effort: "high",
        temperature: 0.5,
        top_p: 0.9,
        stop: ["A", "B"],
        seed: 7,
        max_tokens: 99,
      },
      ...{ tool_choice: { type: "function", function: { name: "pay" } }, user: "u", verbosity: "low" },
    });
  });
});
