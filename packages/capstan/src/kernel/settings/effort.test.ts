import { describe, expect, it } from "vitest";
import { anthropic } from "../../models/anthropic.ts";
import { compatible } from "../../models/compatible.ts";
import { gemini } from "../../models/gemini.ts";
import { openai } from "../../models/openai.ts";
import type { Model } from "../model.ts";
import { measureEffort } from "./effort.ts";
import { effortLevels } from "./settings.ts";

type Client = { readonly apiKey: string; readonly fetch: typeof fetch; readonly model: string };
type Body = { readonly [field: string]: { readonly [field: string]: unknown } | undefined };

const providers: Readonly<Record<string, (client: Client) => Model>> = {
  responses: (client) => openai({ ...client, api: "responses" }),
  chat: (client) => openai({ ...client, api: "chat" }),
  anthropic,
  gemini,
  server: (client) => compatible({ ...client, baseURL: "https://models.example/v1" }),
  openrouter: (client) =>
    compatible({ ...client, baseURL: "https://openrouter.ai/api/v1", quirks: { thinking: "reasoning" } }),
};

/** Returns the effort that a provider receives. */
async function send(provider: string, model: string, effort: "xhigh" | "max") {
  let body: Body = {};
  const fetch: typeof globalThis.fetch = async (_, init) => {
    body = JSON.parse(String(init?.body));
    return new Response("{}", { status: 400 });
  };
  const client = providers[provider]?.({ apiKey: "key", fetch, model });
  if (!client) throw new Error(`No provider ${provider}`);
  const history = [{ type: "user", content: "Why?" }] as const;
  const request = { instructions: "", history, tools: [], toolChoice: "none", thinking: false } as const;
  const stream = client.stream({ ...request, settings: { effort } }, { signal: AbortSignal.timeout(10_000) });
  await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow();
  const { reasoning, reasoning_effort: level, output_config: output, generationConfig: config } = body;
  const { thinkingLevel, thinkingBudget } = (config?.thinkingConfig ?? {}) as Record<string, unknown>;
  const sent = [
    reasoning?.effort,
    level,
    output?.effort,
    body.thinking?.budget_tokens,
    thinkingLevel,
    thinkingBudget,
  ];
  const isReported = (client.checkSettings?.({ effort }) ?? []).some(({ field }) => field === "effort");
  return [...sent.filter((value) => value !== undefined), ...(isReported ? ["reported"] : [])];
}

describe("the efforts above high", () => {
  it.each([
    ["responses", "gpt-5", ["high", "reported"], ["high", "reported"]],
    ["responses", "gpt-5.1", ["high", "reported"], ["high", "reported"]],
    ["responses", "gpt-5.1-codex-mini", ["high", "reported"], ["high", "reported"]],
    ["responses", "gpt-5.1-codex-max", ["xhigh"], ["xhigh", "reported"]],
    ["responses", "gpt-5.2", ["xhigh"], ["xhigh", "reported"]],
    ["chat", "gpt-5.2", ["xhigh"], ["xhigh", "reported"]],
    ["responses", "gpt-5.2-codex", ["xhigh"], ["xhigh", "reported"]],
    ["responses", "gpt-5.6-terra", ["xhigh"], ["max"]],
    ["responses", "gpt-6", ["xhigh"], ["max"]],
    ["responses", "gpt-4o", ["reported"], ["reported"]],
    ["responses", "o4-mini", ["high", "reported"], ["high", "reported"]],
    ["anthropic", "claude-opus-4-7", ["xhigh"], ["max"]],
    ["anthropic", "claude-opus-5", ["xhigh"], ["max"]],
    ["anthropic", "claude-sonnet-4-6", ["high", "reported"], ["max"]],
    ["anthropic", "claude-mythos-preview", ["high", "reported"], ["max"]],
    ["anthropic", "claude-sonnet-4-5", [24_576, "reported"], [24_576, "reported"]],
    ["gemini", "gemini-3-pro", ["HIGH", "reported"], ["HIGH", "reported"]],
    ["gemini", "gemini-2.5-flash", [24_576, "reported"], [24_576, "reported"]],
    ["server", "qwen-3", ["high", "reported"], ["high", "reported"]],
    ["openrouter", "qwen/qwen-3", ["xhigh"], ["xhigh", "reported"]],
  ] as const)("reach %s/%s as its nearest level, and what it cannot do is reported", async (provider, model, xhigh, max) => {
    expect(await send(provider, model, "xhigh")).toEqual(xhigh);
    expect(await send(provider, model, "max")).toEqual(max);
  });

  it("count more than every level below them, for an operator's limits", () => {
    const sizes = effortLevels.map(measureEffort);
    expect(sizes).toEqual(sizes.toSorted((left, right) => left - right));
    expect(new Set(sizes).size).toBe(effortLevels.length);
  });
});
