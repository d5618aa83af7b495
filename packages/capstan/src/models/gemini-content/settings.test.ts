import { describe, expect, it } from "vitest";
import type { ModelRequest } from "../../kernel/model.ts";
import type { ModelSettings } from "../../kernel/settings/settings.ts";
import { findSettingProblems } from "../../kernel/settings/support.ts";
import { geminiContent } from "../gemini-content.ts";

const look = { name: "look", description: "Looks", input: { type: "object", properties: {} } };

function build(model: string, settings: ModelSettings, request: Partial<ModelRequest> = {}) {
  const { toolChoice = "auto", ...wireSettings } = settings;
  const full: ModelRequest = {
    ...{
      instructions: "",
      history: [{ type: "user", content: "?" }],
      tools: [],
      toolChoice,
      thinking: false,
    },
    ...request,
  };
  return JSON.parse(geminiContent.toRequest(full, { ...wireSettings, model, stream: true }));
}

const budget = (thinkingBudget: number) => ({ thinkingBudget, includeThoughts: true });
const level = (thinkingLevel: string) => ({ thinkingLevel, includeThoughts: true });

describe("the effort", () => {
  it.each([
    ["gemini-2.0-flash", "high", undefined],
    ["gemma-3-27b-it", "high", undefined],
    ["gemini-2.5-flash-image", "high", undefined],
    ["gemini-2.5-flash", "low", budget(1024)],
    ["gemini-2.5-flash", 100_000, budget(24_576)],
    ["gemini-2.5-pro", "high", budget(24_576)],
    ["gemini-2.5-pro", 50, budget(128)],
    ["gemini-2.5-pro", 30_000, budget(30_000)],
    ["gemini-3-pro-preview", "medium", level("HIGH")],
    ["gemini-3.1-pro", "medium", level("MEDIUM")],
    ["gemini-3-flash-preview", 2000, level("LOW")],
    ["gemini-3.8-flash", 100_000, level("HIGH")],
    ["gemini-flash-latest", "low", level("LOW")],
  ] as const)("of %s: %j turns thinking on, with summaries", (model, effort, thinkingConfig) => {
    expect(build(model, { effort }).generationConfig?.thinkingConfig).toEqual(thinkingConfig);
  });

  it.each([
    ["gemini-2.0-flash", undefined],
    ["gemini-2.5-flash", { thinkingBudget: 0 }],
    ["gemini-2.5-pro", { thinkingBudget: 128 }],
    ["gemini-3.5-flash", { thinkingLevel: "MINIMAL" }],
    ["gemini-3.1-pro", { thinkingLevel: "LOW" }],
    ["gemini-3.7-flash", { thinkingLevel: "LOW" }],
  ])("of %s: none turns thinking off as far as the model allows", (model, thinkingConfig) => {
    expect(build(model, { effort: "none" }).generationConfig?.thinkingConfig).toEqual(thinkingConfig);
  });

  it("is left to the model if a turn only wishes for thinking", () => {
    const wish = { thinking: true };
    expect(build("gemini-3.5-flash", {}, wish).generationConfig).toEqual({
      thinkingConfig: { includeThoughts: true },
    });
    expect(build("gemini-2.0-flash", {}, wish).generationConfig).toBeUndefined();
    expect(build("gemini-3.5-flash", {}).generationConfig).toBeUndefined();
  });

  it("yields to `extra`, field by field", () => {
    const extra = { generationConfig: { thinkingConfig: { thinkingLevel: "HIGH" } } };
    expect(build("gemini-3.5-flash", { effort: "low", extra }).generationConfig).toEqual({
      thinkingConfig: { thinkingLevel: "HIGH", includeThoughts: true },
    });
  });
});

describe("the other settings", () => {
  it.each([
    ["gemini-2.5-flash", { temperature: 0.5, topP: 0.9 }, { temperature: 0.5, topP: 0.9 }],
    ["gemini-3.8-flash", { temperature: 0.5, topP: 0.9 }, undefined],
    ["gemini-3.5-flash", { temperature: 0.5 }, { temperature: 0.5 }],
    ["gemini-3.5-flash-lite", { temperature: 0.5 }, undefined],
    ["gemini-3.8-flash", { stop: "END", seed: 7 }, { stopSequences: ["END"], seed: 7 }],
    [
      "gemini-3.8-flash",
      { stop: ["a", "b"], maxOutputTokens: 9 },
      { stopSequences: ["a", "b"], maxOutputTokens: 9 },
    ],
    ["gemini-2.5-flash", { logprobs: true }, { responseLogprobs: true }],
    ["gemini-2.5-flash", { logprobs: 3 }, { responseLogprobs: true, logprobs: 3 }],
    ["gemini-2.5-flash", { logprobs: false }, undefined],
  ] as const)("of %s: %j", (model, settings, generationConfig) => {
    expect(build(model, settings).generationConfig).toEqual(generationConfig);
  });

  it.each([
    ["flex", "flex"],
    ["default", "standard"],
    ["auto", undefined],
  ])("service tier %s", (serviceTier, sent) => {
    expect(build("gemini-3.8-flash", { serviceTier }).serviceTier).toBe(sent);
  });

  it.each([
    ["required", { mode: "ANY" }],
    ["none", { mode: "NONE" }],
    [{ tool: "look" }, { mode: "ANY", allowedFunctionNames: ["look"] }],
  ] as const)("tool choice %j", (toolChoice, functionCallingConfig) => {
    const body = build("gemini-3.8-flash", { toolChoice }, { tools: [look] });
    expect(body.toolConfig).toEqual({ functionCallingConfig });
  });

  it("a conversation ends with the user where the model rejects another end", () => {
    const history = [
      { type: "user", content: "?" },
      { type: "assistant", parts: [{ type: "text", text: "Hi" }] },
    ] as const;
    const getRoles = (model: string) =>
      build(model, {}, { history }).contents.map(({ role }: { role: string }) => role);
    expect(getRoles("gemini-3.8-flash")).toEqual(["user", "model", "user"]);
    expect(getRoles("gemini-2.5-flash")).toEqual(["user", "model"]);
  });

  it("log probabilities are read with their alternatives", () => {
    const candidate = (token: string, logProbability: number) => ({ token, logProbability, tokenId: 1 });
    const chunks = geminiContent.fromJson({
      candidates: [
        {
          content: { role: "model", parts: [{ text: "Hi!" }] },
          logprobsResult: {
            chosenCandidates: [candidate("Hi", -0.1), candidate("!", -0.5)],
            topCandidates: [{ candidates: [candidate("Hi", -0.1), candidate("Yo", -2)] }],
          },
          finishReason: "STOP",
        },
      ],
    });
    expect(chunks).toContainEqual({
      type: "logprobs",
      tokens: [
        {
          token: "Hi",
          logprob: -0.1,
          top: [
            { token: "Hi", logprob: -0.1 },
            { token: "Yo", logprob: -2 },
          ],
        },
        { token: "!", logprob: -0.5 },
      ],
    });
  });
});

describe("settings that a model cannot follow", () => {
  it.each<[string, ModelSettings, readonly string[]]>([
    ["gemini-3.8-flash", { temperature: 0.5, topP: 0.5 }, ["temperature", "topP"]],
    ["gemini-2.5-flash", { temperature: 0.5, topP: 0.5, effort: "none", logprobs: 5 }, []],
    ["gemini-2.0-flash", { effort: "low" }, ["effort"]],
    ["gemini-2.0-flash", { effort: "none" }, []],
    ["gemini-2.5-pro", { effort: "none" }, ["effort"]],
    ["gemini-2.5-flash", { effort: 30_000 }, ["effort"]],
    ["gemini-2.5-pro", { effort: 30_000 }, []],
    ["gemini-3.8-flash", { effort: "none" }, ["effort"]],
    ["gemini-3.8-flash", { effort: 3000 }, ["effort"]],
    ["gemini-3-pro-preview", { effort: "medium" }, ["effort"]],
    ["gemini-3.8-flash", { logprobs: true }, ["logprobs refused"]],
    ["gemini-3.8-flash", { stop: ["a", "b", "c", "d", "e", "f"] }, ["stop refused"]],
    ["gemini-3.8-flash", { seed: 2 ** 32 }, ["seed refused"]],
    ["gemini-3.8-flash", { parallelToolCalls: false, cache: "long" }, ["cache", "parallelToolCalls"]],
    ["gemini-3.8-flash", { parallelToolCalls: true, cache: "short", serviceTier: "flex" }, []],
  ])("of %s: %j are reported", (model, settings, fields) => {
    const problems = findSettingProblems("gemini", model, settings);
    expect(problems.map(({ field, isError }) => (isError ? `${field} refused` : field)).toSorted()).toEqual(
      fields.toSorted(),
    );
  });
});
