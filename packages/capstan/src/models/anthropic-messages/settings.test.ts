import { describe, expect, it } from "vitest";
import type { Json } from "../../base/json.ts";
import type { Entry } from "../../kernel/history.ts";
import type { ModelRequest } from "../../kernel/model.ts";
import type { ModelSettings } from "../../kernel/settings/settings.ts";
import { findSettingProblems } from "../../kernel/settings/support.ts";
import { anthropicMessages } from "../anthropic-messages.ts";
import { tagData } from "../wire.ts";

const look = { name: "look", description: "Looks", input: { type: "object", properties: {} } };
const question: Entry = { type: "user", content: "?" };
const call = { type: "call", id: "a", name: "look", input: {} } as const;
const result: Entry = { type: "result", callId: "a", name: "look", status: "ok", content: "seen" };

function build(model: string, settings: ModelSettings, request: Partial<ModelRequest> = {}) {
  const { toolChoice = "auto", ...wireSettings } = settings;
  const full: ModelRequest = {
    ...{ instructions: "Be brief.", history: [question], tools: [look], toolChoice, thinking: false },
    ...request,
  };
  return JSON.parse(anthropicMessages.toRequest(full, { ...wireSettings, model, stream: true })) as {
    readonly [field: string]: Json;
  };
}

/** The fields of a body that the settings decide about. */
function pickSent(body: { readonly [field: string]: Json }) {
  const { system: _system, messages: _messages, tools: _tools, stream: _stream, ...sent } = body;
  const { model: _model, max_tokens: _maxTokens, tool_choice: _choice, ...rest } = sent;
  return rest;
}

const summarized = { type: "adaptive", display: "summarized" };
const enabled = (budget: number) => ({ type: "enabled", budget_tokens: budget });
const adaptive = (effort: string) => ({ thinking: summarized, output_config: { effort } });

describe("the effort", () => {
  it.each([
    // Models that do not reason, that have budgets, both forms, and levels only.
    ["claude-3-5-haiku-latest", "high", {}],
    ["claude-3-7-sonnet-20250219", "low", { thinking: enabled(1024) }],
    ["claude-sonnet-4-20250514", "medium", { thinking: enabled(8192) }],
    ["claude-haiku-4-5-20251001", "high", { thinking: enabled(24_576) }],
    ["claude-opus-4-5", 5000, { thinking: enabled(5000) }],
    ["claude-opus-4-5", 10, { thinking: enabled(1024) }],
    ["claude-sonnet-4-6", "high", adaptive("high")],
    ["us.anthropic.claude-opus-4-6-v1", 5000, { thinking: enabled(5000) }],
    ["claude-opus-4-8", "low", adaptive("low")],
    ["claude-opus-4-8", 2000, adaptive("low")],
    ["claude-sonnet-5", 9000, adaptive("medium")],
    ["claude-fable-5-1", 100_000, adaptive("high")],
    ["some-compatible-model", "medium", { thinking: enabled(8192) }],
  ] as const)("of %s: %j turns thinking on in the form that the model accepts", (model, effort, sent) => {
    expect(pickSent(build(model, { effort }))).toEqual(sent);
  });

  it.each([
    ["claude-3-5-haiku-latest", {}],
    ["claude-sonnet-4-5", {}],
    ["claude-opus-4-8", {}],
    ["claude-sonnet-5", { thinking: { type: "disabled" } }],
    ["claude-haiku-5-5", { thinking: { type: "disabled" } }],
    ["claude-sonnet-5-5", { thinking: { type: "between_tools" } }],
    ["claude-opus-5-5", { output_config: { effort: "low" } }],
    ["claude-mythos-preview", { output_config: { effort: "low" } }],
    ["some-compatible-model", { thinking: { type: "disabled" } }],
  ])("of %s: none turns thinking off as far as the model allows", (model, sent) => {
    expect(pickSent(build(model, { effort: "none" }))).toEqual(sent);
  });

  it("is left to the provider if nothing asks for it", () => {
    for (const model of ["claude-sonnet-4-5", "claude-opus-5-5", "claude-haiku-5-5"])
      expect(pickSent(build(model, {}))).toEqual({});
  });

  it.each([
    ["claude-3-5-haiku-latest", {}],
    ["claude-sonnet-4-5", { thinking: enabled(8192) }],
    ["claude-opus-5", { thinking: summarized }],
    ["some-compatible-model", {}],
  ])("of %s: a turn that wishes for thinking gets it from a model that is known to reason", (model, sent) => {
    expect(pickSent(build(model, {}, { thinking: true }))).toEqual(sent);
  });

  it("an order wins over the wish of a turn, and so does a temperature, which thinking would exclude", () => {
    expect(pickSent(build("claude-opus-5", { effort: "none" }, { thinking: true }))).toEqual({
      thinking: { type: "disabled" },
    });
    expect(pickSent(build("claude-sonnet-4-5", { temperature: 0.7 }, { thinking: true }))).toEqual({
      temperature: 0.7,
    });
  });

  it("is left out, or thinking is turned off, while a call is forced", () => {
    const settings: ModelSettings = { effort: "high", toolChoice: { tool: "look" } };
    expect(pickSent(build("claude-sonnet-4-5", settings))).toEqual({});
    expect(pickSent(build("claude-opus-5", settings))).toEqual({
      thinking: { type: "disabled" },
      output_config: { effort: "high" },
    });
    expect(build("claude-opus-5", {}, { toolChoice: "required" }).thinking).toEqual({ type: "disabled" });
  });

  it("adds no budget within a turn that another provider began (C-21)", () => {
    const foreign: Entry = { type: "assistant", parts: [call] };
    const reasoning = { type: "reasoning", text: "Hm", opaque: tagData("anthropic", { signature: "c2ln" }) };
    const own: Entry = { type: "assistant", parts: [reasoning as never, call] };
    const getThinking = (model: string, turn: Entry) =>
      build(model, { effort: "low" }, { history: [question, turn, result] }).thinking;
    expect(getThinking("claude-sonnet-4-5", foreign)).toBeUndefined();
    expect(getThinking("claude-sonnet-4-5", own)).toEqual(enabled(1024));
    expect(getThinking("claude-opus-4-8", foreign)).toEqual(summarized);
  });

  it.each([
    ["claude-opus-5-5", {}, { type: "adaptive" }],
    ["claude-fable-5-1", { effort: "none" }, { type: "adaptive" }],
    ["claude-haiku-5-5", { effort: "low" }, summarized],
  ] as const)("of %s, %j: thinking that does not fit the request any more is dropped (C-21)", (model, settings, thinking) => {
    const reasoning = { type: "reasoning", text: "", opaque: tagData("anthropic", { signature: "c2ln" }) };
    const history: Entry[] = [question, { type: "assistant", parts: [reasoning as never, call] }, result];
    const binding = { block_binding: { prefix_mismatch_behavior: "drop_block" } };
    expect(build(model, settings, { history }).thinking).toEqual({ ...thinking, ...binding });
    expect(anthropicMessages.buildHeaders?.({ history }, model, "{}")).toEqual({
      "anthropic-beta": "thinking-binding-controls-2026-08-01",
    });
    // Neither without thinking in the history, nor with models that do not bind it.
    expect(build(model, settings).thinking ?? {}).not.toHaveProperty("block_binding");
    expect(anthropicMessages.buildHeaders?.({ history: [question] }, model, "{}")).toEqual({});
    expect(anthropicMessages.buildHeaders?.({ history }, "claude-opus-5", "{}")).toEqual({});
    expect(build("claude-opus-5", {}, { history })).not.toHaveProperty("thinking");
  });

  it.each([
    ["claude-sonnet-4-5", "high", 1000, 24_576 + 1000, 24_576],
    ["claude-sonnet-4-5", "low", 5000, 5000, 1024],
    ["claude-opus-4-1", 40_000, 8000, 32_000, 30_976],
    ["some-compatible-model", "high", undefined, 24_576 + 8192, 24_576],
  ] as const)("of %s: budget %j and limit %j fit together and into the model", (model, effort, maxOutputTokens, limit, budget) => {
    const body = build(model, { effort, ...(maxOutputTokens && { maxOutputTokens }) });
    expect([body.max_tokens, body.thinking]).toEqual([limit, enabled(budget)]);
  });

  it("yields to `extra`, field by field", () => {
    const extra = { thinking: { type: "adaptive" }, output_config: { effort: "max" } };
    expect(pickSent(build("claude-opus-5", { effort: "low", extra }))).toEqual(extra);
  });
});

describe("the other settings", () => {
  it.each([
    ["claude-3-7-sonnet-20250219", { temperature: 0.5, topP: 0.9 }, { temperature: 0.5, top_p: 0.9 }],
    ["claude-sonnet-4-5", { temperature: 0.5, topP: 0.9 }, { temperature: 0.5 }],
    ["claude-sonnet-4-6", { topP: 0.9 }, { top_p: 0.9 }],
    ["claude-sonnet-4-5", { temperature: 1.5 }, { temperature: 1 }],
    ["claude-sonnet-4-5", { temperature: 0.5, effort: "low" }, { thinking: enabled(1024) }],
    ["claude-opus-4-7", { temperature: 0.5, topP: 0.9 }, {}],
    ["claude-sonnet-4-5", { stop: "END", seed: 7 }, { stop_sequences: ["END"] }],
    ["claude-opus-5-5", { stop: ["a", "b"] }, { stop_sequences: ["a", "b"] }],
    ["claude-opus-5-5", { serviceTier: "default" }, { service_tier: "standard_only" }],
    ["claude-opus-5-5", { serviceTier: "priority" }, { service_tier: "auto" }],
    ["claude-opus-5-5", { serviceTier: "flex" }, {}],
  ] as const)("of %s: %j", (model, settings, sent) => {
    expect(pickSent(build(model, settings))).toEqual(sent);
  });

  it.each([
    ["claude-sonnet-4-5", "required", undefined, { type: "any" }],
    ["claude-sonnet-4-5", { tool: "look" }, undefined, { type: "tool", name: "look" }],
    ["claude-sonnet-4-5", "auto", false, { type: "auto", disable_parallel_tool_use: true }],
    [
      "claude-sonnet-4-5",
      { tool: "look" },
      false,
      { type: "tool", name: "look", disable_parallel_tool_use: true },
    ],
    ["claude-sonnet-4-5", "none", false, { type: "none" }],
    ["claude-sonnet-4-5", "auto", true, { type: "auto" }],
    ["claude-haiku-5-5", "required", undefined, { type: "any" }],
    ["claude-opus-5-5", "required", undefined, { type: "auto" }],
    ["claude-fable-5-1", { tool: "look" }, undefined, { type: "auto" }],
  ] as const)("of %s: tool choice %j, parallel calls %j", (model, toolChoice, parallelToolCalls, sent) => {
    const settings = { toolChoice, ...(parallelToolCalls !== undefined && { parallelToolCalls }) };
    expect(build(model, settings).tool_choice).toEqual(sent);
  });

  it("cache points are left out, or kept for an hour", () => {
    const getPoints = (settings: ModelSettings) =>
      JSON.stringify(build("claude-opus-5", settings)).match(/"cache_control":\{.*?\}/g);
    expect(getPoints({})).toEqual(Array(3).fill('"cache_control":{"type":"ephemeral"}'));
    expect(getPoints({ cache: "short" })).toEqual(getPoints({}));
    expect(getPoints({ cache: "long" })).toEqual(
      Array(3).fill('"cache_control":{"type":"ephemeral","ttl":"1h"}'),
    );
    expect(getPoints({ cache: "off" })).toBeNull();
    expect(getPoints({ cache: "off", extra: { cache_control: { type: "ephemeral" } } })).toHaveLength(1);
  });

  it("a stop text ends the answer as its own end does", () => {
    const [finish] = anthropicMessages
      .fromJson({
        content: [{ type: "text", text: "Hi" }],
        ...{ stop_reason: "stop_sequence", stop_sequence: "END", usage: {} },
      })
      .slice(-1);
    expect(finish).toEqual({ type: "finish", reason: "end" });
  });
});

describe("settings that a model cannot follow", () => {
  it.each<[string, ModelSettings, readonly string[]]>([
    ["claude-opus-5-5", { temperature: 0.5, topP: 0.5 }, ["temperature", "topP"]],
    ["claude-sonnet-4-5", { temperature: 0.5, topP: 0.5 }, ["topP"]],
    ["claude-sonnet-4-5", { temperature: 2 }, ["temperature"]],
    ["claude-sonnet-4-5", { temperature: 0.5, effort: "low" }, ["temperature"]],
    ["claude-sonnet-4-5", { temperature: 0.5, effort: "none" }, []],
    ["claude-3-5-haiku-latest", { effort: "low" }, ["effort"]],
    ["claude-opus-5-5", { effort: "none" }, ["effort"]],
    ["claude-sonnet-5", { effort: "none" }, []],
    ["claude-sonnet-5", { effort: 5000 }, ["effort"]],
    ["claude-sonnet-4-6", { effort: 5000 }, []],
    ["claude-sonnet-4-6", { effort: 500 }, ["effort"]],
    ["claude-sonnet-5", { seed: 1, serviceTier: "flex" }, ["seed", "serviceTier"]],
    ["claude-sonnet-5", { logprobs: true }, ["logprobs refused"]],
    ["claude-sonnet-5", { logprobs: false, stop: "END", cache: "long" }, []],
    ["claude-sonnet-5", { stop: ["a", "\n"] }, ["stop refused"]],
    ["claude-sonnet-5", { toolChoice: "required" }, []],
    ["claude-sonnet-5-5", { toolChoice: "required" }, ["toolChoice refused"]],
    ["claude-sonnet-5-5", { toolChoice: "none" }, []],
    ["some-compatible-model", { temperature: 0.5, topP: 0.5, effort: 5, toolChoice: "required" }, []],
  ])("of %s: %j are reported", (model, settings, fields) => {
    const problems = findSettingProblems("anthropic", model, settings);
    expect(problems.map(({ field, isError }) => (isError ? `${field} refused` : field)).toSorted()).toEqual(
      fields.toSorted(),
    );
  });
});
