import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineAgent, defineTool, run } from "../index.ts";
import type { Model, Usage } from "../model.ts";
import { anthropic } from "./anthropic.ts";
import { compatible } from "./compatible.ts";
import { gemini } from "./gemini.ts";
import { openai } from "./openai.ts";
import { createPricer, type PricerOptions } from "./pricing.ts";

const used: Usage = { inputTokens: 1_000_000, outputTokens: 100_000 };
const { signal } = new AbortController();
const question = {
  instructions: "",
  history: [{ type: "user", content: "?" }],
  tools: [],
  toolChoice: "auto",
  thinking: false,
} as const;

async function usageTold(model: Model): Promise<Usage | undefined> {
  let told: Usage | undefined;
  for await (const batch of model.stream(question, { signal }))
    for (const chunk of batch) if (chunk.type === "usage") told = chunk.usage;
  return told;
}

async function costOf(usage: Usage, options: PricerOptions): Promise<number | undefined> {
  return (await createPricer(options)(usage)).cost;
}

const mini = { provider: "openai", model: "gpt-4o-mini" };

describe("priced", () => {
  it.each([
    // In dollars per million tokens, in and out: 0.15 and 0.6; 1 and 5; 0.3 and 2.5.
    [mini, 0.15 + 0.06],
    [{ provider: "openai", model: "gpt-4o-mini-2024-07-18" }, 0.15 + 0.06],
    [{ provider: "anthropic", model: "claude-haiku-4-5" }, 1 + 0.5],
    [{ provider: "gemini", model: "gemini-2.5-flash" }, 0.3 + 0.25],
    [{ provider: "vertex", model: "gemini-2.5-flash" }, 0.3 + 0.25],
    [{ provider: "groq", model: "llama-3.3-70b-versatile" }, 0.59 + 0.079],
    [{ provider: "api.groq.com", model: "llama-3.3-70b-versatile" }, 0.59 + 0.079],
  ])("knows the price of %j (S2-59)", async (options, cost) => {
    expect(await costOf(used, options)).toBeCloseTo(cost, 9);
  });

  it("counts cached input at its own, lower price (S2-59)", async () => {
    const cost = await costOf({ ...used, cachedTokens: 400_000 }, mini);
    expect(cost).toBeCloseTo(0.6 * 0.15 + 0.4 * 0.075 + 0.06, 9);
  });

  it("cached tokens are capped at the input tokens (S2-59)", async () => {
    const all = await costOf({ ...used, cachedTokens: 1_000_000 }, mini);
    expect(await costOf({ ...used, cachedTokens: 3_000_000 }, mini)).toBe(all);
  });

  it("a custom price overrides the listed one (S2-59)", async () => {
    const prices = { "openai/gpt-4o-mini": { input: 10, output: 20, cachedInput: 1 } };
    expect(await costOf(used, { ...mini, prices })).toBeCloseTo(10 + 2, 9);
    const cached = { ...used, cachedTokens: 500_000 };
    expect(await costOf(cached, { ...mini, prices })).toBeCloseTo(5 + 0.5 + 2, 9);
  });

  it("without a price for cached input, the user's price for input holds for it too (S2-59)", async () => {
    const prices = { "openai/gpt-4o-mini": { input: 10, output: 0 } };
    expect(await costOf({ ...used, cachedTokens: 900_000 }, { ...mini, prices })).toBeCloseTo(10, 9);
  });

  it("a custom price applies to an unknown model, and only to that one (S2-59)", async () => {
    const prices = { "here/mine": { input: 1, output: 1 } };
    expect(await costOf(used, { provider: "here", model: "mine", prices })).toBeCloseTo(1.1, 9);
    expect(await costOf(used, { provider: "here", model: "other", prices })).toBeUndefined();
  });

  it.each([
    { provider: "openai", model: "no-such-model" },
    { provider: "ollama", model: "llama3" },
    { provider: "127.0.0.1", model: "gpt-4o" },
    { provider: "localhost", model: "gpt-4o" },
    { provider: "my.own.host", model: "gpt-4o" },
    { provider: "openai", model: "constructor" },
  ])("$provider/$model has no cost (S2-59)", async (options) => {
    expect(await costOf(used, { ...options, prices: {} })).toBeUndefined();
  });

  it("a cost reported by the provider takes precedence, even if it is zero (S2-59)", async () => {
    const prices = { "openai/gpt-4o-mini": { input: 10, output: 20 } };
    expect(await costOf({ ...used, cost: 0.5 }, { ...mini, prices })).toBe(0.5);
    expect(await costOf({ ...used, cost: 0 }, mini)).toBe(0);
  });

  it("invalid figures have no cost and cause no error (S2-59)", async () => {
    expect(await costOf({ inputTokens: -5, outputTokens: Number.NaN }, mini)).toBeUndefined();
  });

  it("caching never makes an answer more expensive, and other usage is unchanged (S2-59)", async () => {
    const tokens = fc.nat(1_000_000);
    await fc.assert(
      fc.asyncProperty(tokens, tokens, tokens, async (inputTokens, outputTokens, cachedTokens) => {
        const plain = { inputTokens, outputTokens };
        const { cost, ...rest } = await createPricer(mini)({ ...plain, cachedTokens });
        expect(rest).toEqual({ ...plain, cachedTokens });
        expect(cost).toBeLessThanOrEqual(((await costOf(plain, mini)) ?? 0) + 1e-12);
      }),
    );
  });
});

/** OpenAI's chat completions: a call each time, then an answer. */
function chatServer(calls: number): typeof fetch {
  let asked = 0;
  return async () => {
    const isCall = asked++ < calls;
    const fn = { name: "look", arguments: `{"n":${asked}}` };
    const delta = isCall
      ? { tool_calls: [{ index: 0, id: `call_${asked}`, function: fn }] }
      : { content: "seen" };
    const events = [
      { choices: [{ index: 0, delta }] },
      { choices: [{ index: 0, delta: {}, finish_reason: isCall ? "tool_calls" : "stop" }] },
      { choices: [], usage: { prompt_tokens: 100_000, completion_tokens: 10_000 } },
    ].map((event) => `data: ${JSON.stringify(event)}\n\n`);
    return new Response(`${events.join("")}data: [DONE]\n\n`);
  };
}

const look = defineTool({
  name: "look",
  description: "Looks",
  input: { type: "object", properties: { n: { type: "integer" } } },
  effects: "none",
  execute: () => "nothing",
});

describe("a run with a priced client", () => {
  const client = (calls: number) =>
    openai({ model: "gpt-4o-mini", api: "chat", apiKey: "sk-test", fetch: chatServer(calls) });

  it("has the sum of its turns as its cost (S2-59)", async () => {
    const agent = defineAgent({ name: "priced", model: client(2), tools: [look] });
    const result = await run(agent, "Look twice.");
    expect(result).toMatchObject({ status: "done", text: "seen", turns: 3 });
    expect(result.cost).toBeCloseTo(3 * (0.015 + 0.006), 9);
  });

  it("ends when its budget is used up (S2-59)", async () => {
    const policy = { budget: { cost: 0.05 } };
    const agent = defineAgent({ name: "priced", model: client(100), tools: [look], policy });
    const result = await run(agent, "Look for ever.");
    expect(result).toMatchObject({ error: { code: "budget_cost" } });
    expect(result.turns).toBeLessThanOrEqual(5);
  });
});

describe("the clients of the providers", () => {
  const price = { input: 1_000_000, output: 0 };
  const common = { model: "m", apiKey: "key-1234567890", stream: false };
  const answering = (body: unknown) => ({ fetch: async () => new Response(JSON.stringify(body)) });
  const chat = { choices: [{ message: { content: "yes" }, finish_reason: "stop" }] };

  it.each([
    openai({
      ...common,
      ...answering({ ...chat, usage: { prompt_tokens: 3, completion_tokens: 1 } }),
      api: "chat",
      prices: { "openai/m": price },
    }),
    openai({
      ...common,
      ...answering({ status: "completed", output: [], usage: { input_tokens: 3, output_tokens: 1 } }),
      prices: { "openai/m": price },
    }),
    anthropic({
      ...common,
      ...answering({ content: [], stop_reason: "end_turn", usage: { input_tokens: 3, output_tokens: 1 } }),
      prices: { "anthropic/m": price },
    }),
    gemini({
      ...common,
      ...answering({
        candidates: [{ content: { parts: [{ text: "yes" }] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
      }),
      prices: { "gemini/m": price },
    }),
    compatible({
      ...common,
      ...answering({ ...chat, usage: { prompt_tokens: 3, completion_tokens: 1 } }),
      baseURL: "http://here.test/v1",
      prices: { "here.test/m": price },
    }),
  ])("$id takes prices (S2-59)", async (model) => {
    expect((await usageTold(model))?.cost).toBe(3);
  });
});
