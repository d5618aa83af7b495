import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { defineAgent, defineTool, run } from "../index.ts";
import type { Event } from "../kernel/event.ts";
import type { Model, Usage } from "../kernel/model.ts";
import { anthropic } from "./anthropic.ts";
import { compatible } from "./compatible.ts";
import { fromGenerate } from "./from-generate.ts";
import { gemini } from "./gemini.ts";
import { setModelTable } from "./model-table.ts";
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

describe("the price of caching", () => {
  const haiku = { provider: "anthropic", model: "claude-haiku-4-5" };
  const written = { inputTokens: 1_000_000, outputTokens: 0, cacheWriteTokens: 400_000 };

  it("writes to Anthropic's cache cost 1.25 times as much as input, for an hour twice as much, reads a tenth", async () => {
    expect(await costOf(written, haiku)).toBeCloseTo(0.6 + 0.4 * 1.25, 9);
    expect(await costOf({ ...written, longCacheWriteTokens: 300_000 }, haiku)).toBeCloseTo(
      0.6 + 0.1 * 1.25 + 0.3 * 2,
      9,
    );
    expect(await costOf({ ...written, cachedTokens: 500_000 }, haiku)).toBeCloseTo(
      0.1 + 0.4 * 1.25 + 0.5 * 0.1,
      9,
    );
  });

  it("writes cost as much as input at a provider that charges nothing extra", async () => {
    expect(await costOf({ ...used, cacheWriteTokens: 400_000 }, mini)).toBe(await costOf(used, mini));
  });

  it("custom prices of writes default to the price of input", async () => {
    const cost = (price: object) =>
      costOf(
        { ...written, longCacheWriteTokens: 100_000 },
        { ...haiku, prices: { "anthropic/claude-haiku-4-5": { input: 10, output: 0, ...price } } },
      );
    expect(await cost({})).toBeCloseTo(10, 9);
    expect(await cost({ cacheWrite: 20 })).toBeCloseTo(6 + 8, 9);
    expect(await cost({ cacheWrite: 20, longCacheWrite: 30 })).toBeCloseTo(6 + 6 + 3, 9);
  });

  it("figures that exceed the input are capped, so that a cost is never negative nor counted twice", async () => {
    const tokens = fc.nat(1_000_000);
    const prices = { "here/m": { input: 1, output: 0, cachedInput: 1, cacheWrite: 1, longCacheWrite: 1 } };
    await fc.assert(
      fc.asyncProperty(
        ...([tokens, tokens, tokens, tokens] as const),
        async (inputTokens, cachedTokens, cacheWriteTokens, longCacheWriteTokens) => {
          const usage = {
            ...{ inputTokens, outputTokens: 0 },
            ...{ cachedTokens, cacheWriteTokens, longCacheWriteTokens },
          };
          const cost = await costOf(usage, { provider: "here", model: "m", prices });
          expect(cost).toBeCloseTo(inputTokens / 1_000_000, 9);
          expect(await costOf(usage, haiku)).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });
});

const price = { input: 1, output: 2 };

describe("a model without a known price", () => {
  afterEach(() => setModelTable(undefined));
  const other = { provider: "openai", model: "no-such-model" };

  it("is reported as unknown, and a local server as free", async () => {
    expect(await createPricer(other)(used)).toEqual({ ...used, unpriced: true });
    expect(await createPricer({ provider: "ollama", model: "llama3" })(used)).toEqual(used);
    expect(await createPricer({ provider: "127.0.0.1", model: "m" })(used)).toEqual(used);
  });

  it("gets its price from the application's table, also after the first request", async () => {
    const pricer = createPricer(other);
    expect(await pricer(used)).toMatchObject({ unpriced: true });
    const models = {
      "openai/no-such-model": { price: { input: 1, output: 10 } },
      "openai/gpt-4o-mini": { contextWindow: 5 },
    };
    setModelTable({ date: "2030-01-01", models });
    expect(await pricer(used)).toEqual({ ...used, cost: 2 });
    expect(await costOf(used, mini)).toBeCloseTo(0.21, 9); // a row without a price does not hide the listed one
    setModelTable(undefined);
    expect(await pricer(used)).toMatchObject({ unpriced: true });
  });

  it("marks the sum of a run, and a run with a cost limit warns once that it has no effect", async () => {
    const model = openai({ model: "no-such", api: "chat", apiKey: "sk-test", fetch: chatServer(2) });
    const agent = defineAgent({ name: "unpriced", model, tools: [look] });
    const warnings: string[] = [];
    const onEvent = (event: Event) => event.type === "warning" && warnings.push(event.code);
    const limited = run(agent, "Look twice.", { policy: { budget: { cost: 1 } } });
    for await (const event of limited) onEvent(event);
    expect(await limited).toMatchObject({ turns: 3, usage: { unpriced: true } });
    expect(warnings).toEqual(["price_unknown"]);
    for await (const event of run(agent, "Look again.")) onEvent(event);
    expect(warnings).toHaveLength(1);
  });

  it.each([
    ["acme/large", 1, { inputTokens: 9, outputTokens: 1 }, ["price_unknown"]],
    ["acme/large", 1, undefined, ["usage_estimated", "price_unknown"]],
    ["acme/large", 1, { inputTokens: 9, outputTokens: 1, cost: 0 }, []],
    ["acme/large", "unlimited", { inputTokens: 9, outputTokens: 1 }, []],
    ["ollama/llama3", 1, { inputTokens: 9, outputTokens: 1 }, []],
    ["192.168.0.7/m", 1, { inputTokens: 9, outputTokens: 1 }, []],
    ["gateway.internal/m", 1, { inputTokens: 9, outputTokens: 1 }, []],
  ] as const)("of any client is no silent zero: %s, limit %s, usage %j", async (id, cost, usage, codes) => {
    const model = fromGenerate(() => ({ text: "Hi.", ...(usage && { usage }) }), id);
    const running = run(defineAgent({ name: "a", model }), "Hello", { policy: { budget: { cost } } });
    const warnings: { code: string; message: string }[] = [];
    for await (const event of running) if (event.type === "warning") warnings.push(event);
    expect(warnings.map(({ code }) => code)).toEqual(codes);
    const isUnknown = codes.some((code) => code === "price_unknown");
    expect((await running).usage.unpriced ?? false).toBe(isUnknown);
    if (isUnknown)
      expect(warnings.at(-1)?.message).toContain('`prices: { "acme/large": { input, output } }`');
  });

  it.each([
    [
      { "acme/m": price },
      {},
      'prices has "acme/m", but the model is "models.example/m", so it has no effect.',
    ],
    [{ m: price }, {}, 'prices has "m", but the model is "models.example/m", so it has no effect.'],
    [{ "models.example/m": price }, {}, undefined],
    [{ "acme/m": price }, { provider: "acme" }, undefined],
    [{ "acme/other": price }, {}, undefined],
  ] as const)("is explained if the price has another key: %j %j", async (prices, options, text) => {
    const warned: string[] = [];
    const onWarning = (warning: Error) => warned.push(warning.message);
    process.on("warning", onWarning);
    compatible({ model: "m", baseURL: "https://models.example/v1", prices, ...options });
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", onWarning);
    expect(warned).toEqual(text === undefined ? [] : [expect.stringContaining(text)]);
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
