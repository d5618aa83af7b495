import { expect, it } from "vitest";
import { findRuleProblems, rules } from "./api-rules.ts";
import type { CheckedApi } from "./apis.ts";
import { checkedApis } from "./apis.ts";

const user = { role: "user", content: [{ type: "text", text: "?" }] };
const assistant = { role: "assistant", content: [{ type: "text", text: "!" }] };
const use = { type: "tool_use", id: "a", name: "look", input: {} };
const enabled = { type: "enabled", budget_tokens: 2000 };
const thinkingConfig = { thinkingLevel: "LOW" };

const broken: readonly (readonly [api: string, model: string, body: object])[] = [
  ["anthropic", "claude-haiku-4-5", { thinking: enabled, max_tokens: 2000 }],
  ["anthropic", "claude-haiku-4-5", { thinking: enabled, max_tokens: 9000, temperature: 0 }],
  ["anthropic", "claude-haiku-4-5", { temperature: 2 }],
  ["anthropic", "claude-haiku-4-5", { temperature: 0, top_p: 1 }],
  ["anthropic", "claude-opus-4-8", { temperature: 0 }],
  ["anthropic", "claude-opus-4-8", { thinking: { type: "adaptive" }, tool_choice: { type: "any" } }],
  ["anthropic", "claude-opus-5-5", { tool_choice: { type: "tool" } }],
  ["anthropic", "claude-opus-5-5", { messages: [user, { ...assistant, content: [{ type: "thinking" }] }] }],
  ["anthropic", "claude-opus-5-5", { tools: [{ type: "computer_20251124", name: "computer" }] }],
  ["anthropic", "claude-opus-5-5", { messages: [user, user] }],
  ["anthropic", "claude-opus-5-5", { messages: [{ role: "user", content: [] }] }],
  ["anthropic", "claude-opus-5-5", { messages: [user, { ...assistant, content: [use] }] }],
  [
    "gemini",
    "gemini-3.5-flash",
    { generationConfig: { thinkingConfig: { ...thinkingConfig, thinkingBudget: 1 } } },
  ],
  ["gemini", "gemini-2.5-pro", { generationConfig: { thinkingConfig } }],
  ["gemini", "gemini-3.8-flash", { contents: [{ role: "model" }] }],
  ["gemini", "gemini-3.8-flash", { generationConfig: { stopSequences: Array(6).fill("x") } }],
  ["openai-responses", "gpt-4o", { reasoning: { effort: "low" } }],
  ["openai-responses", "gpt-5.1", { reasoning: { effort: "low" }, temperature: 0 }],
  ["openai-responses", "gpt-5", { reasoning: { effort: "none" } }],
  ["openai-responses", "o3", { reasoning: { effort: "minimal" } }],
  ["openai-responses", "gpt-5.6", { prompt_cache_retention: "24h" }],
  ["openai-responses", "gpt-5", { tool_choice: "required" }],
  ["openai-responses", "gpt-4o", { top_logprobs: 1 }],
  ["openai-chat", "gpt-4.1-mini", { reasoning_effort: "low" }],
  ["openai-chat", "gpt-5", { top_p: 1 }],
  ["openai-chat", "o3", { reasoning_effort: "none" }],
  ["openai-chat", "gpt-5.1", { reasoning_effort: "minimal" }],
  ["openai-chat", "o3", { prompt_cache_options: { ttl: "30m" } }],
  ["openai-chat", "gpt-5", { parallel_tool_calls: false }],
  ["openai-chat", "gpt-4o", { top_logprobs: 1 }],
  ["openai-chat", "gpt-5-mini", { stop: "x" }],
  ["openai-chat", "o3", { parallel_tool_calls: false, tools: [{}] }],
];

it("every rule of an API is found broken by the request that breaks it, and by no other", () => {
  const found = broken.map(([name, model, body]) => {
    const api = checkedApis.find((checked) => checked.name === name) as CheckedApi;
    return findRuleProblems([{ api, model, body: { ...body }, url: "", headers: {} }]);
  });
  const reasons = found.map((problems) =>
    problems.map((text) => text.slice(text.indexOf(": ") + 2).split("\n")[0]),
  );
  expect(reasons).toEqual(rules.map(({ reason }) => [reason]));
});
