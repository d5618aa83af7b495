import { afterEach, describe, expect, it } from "vitest";
import { anthropic } from "./anthropic.ts";
import { findModelInfo } from "./find-model-info.ts";
import { modelTableDate, setModelTable } from "./model-table.ts";
import { createPricer } from "./pricing.ts";

afterEach(() => setModelTable(undefined));

describe("the table of models", () => {
  it("knows prices, windows and limits, with the date of the data (S2-59)", async () => {
    expect(await findModelInfo("anthropic/claude-haiku-4-5")).toEqual({
      price: { input: 1, output: 5, cachedInput: 0.1, cacheWrite: 1.25, longCacheWrite: 2 },
      contextWindow: 200_000,
      maxOutputTokens: 64_000,
      date: modelTableDate,
    });
    expect(await findModelInfo("openai/gpt-5-mini")).toMatchObject({
      price: { input: 0.25, output: 2, cachedInput: 0.025 },
      contextWindow: 400_000,
    });
  });

  it.each([
    "openai/no-such-model",
    "nowhere/gpt-5",
    "gpt-5-mini",
    "",
    "ollama/llama3",
  ])("%j is unknown", async (id) => expect(await findModelInfo(id)).toBeUndefined());

  it("agrees with the costs that are computed, also for prices that depend on the length", async () => {
    for (const id of ["openai/gpt-5-mini", "gemini/gemini-2.5-pro", "anthropic/claude-sonnet-4-5"]) {
      const [provider = "", model = ""] = id.split("/");
      const { cost } = await createPricer({ provider, model })({ inputTokens: 1000, outputTokens: 100 });
      const price = (await findModelInfo(id))?.price;
      expect(cost).toBeCloseTo(((price?.input ?? 0) * 1000 + (price?.output ?? 0) * 100) / 1e6, 12);
    }
  });

  it("is replaced field by field by the application's, with its date", async () => {
    const id = "anthropic/claude-haiku-4-5";
    setModelTable({ date: "2030-01-02", models: { [id]: { contextWindow: 7, maxOutputTokens: 500 } } });
    expect(await findModelInfo(id)).toMatchObject({
      ...{ contextWindow: 7, maxOutputTokens: 500, date: "2030-01-02" },
      price: { input: 1 },
    });
    expect(await findModelInfo("openai/gpt-5-mini")).toMatchObject({ date: modelTableDate });
  });

  it("limits the requests of the client", async () => {
    const sent: { max_tokens: number }[] = [];
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      sent.push(JSON.parse(String(init?.body)));
      return new Response("{}", { status: 400 });
    };
    const model = anthropic({ model: "claude-haiku-4-5", apiKey: "k", fetch });
    const request = {
      instructions: "",
      history: [],
      tools: [],
      toolChoice: "auto",
      thinking: false,
    } as const;
    const send = async () => {
      const stream = model.stream(request, { signal: AbortSignal.timeout(10_000) });
      await expect(Array.fromAsync(stream)).rejects.toMatchObject({ code: "model_rejected" });
      return sent.at(-1)?.max_tokens;
    };
    expect(await send()).toBe(64_000);
    const models = { "anthropic/claude-haiku-4-5": { maxOutputTokens: 500 } };
    setModelTable({ date: "2030-01-02", models });
    expect(await send()).toBe(500);
  });
});
