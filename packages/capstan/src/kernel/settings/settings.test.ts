import { describe, expect, it, vi } from "vitest";
import { anthropic } from "../../models/anthropic.ts";
import { openai } from "../../models/openai.ts";
import { run } from "../../runtime/run.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { defineAgent } from "../agent.ts";
import { defineTool } from "../tool.ts";
import { type ModelSettings, mergeSettings, type SettingsInput } from "./settings.ts";

const look = defineTool({
  name: "look",
  description: "Looks",
  input: { type: "object", properties: {} },
  effects: "none",
  execute: () => "seen",
});

const callLook = { calls: [{ name: "look", input: {} }] };

describe("the settings of a run", () => {
  it("reach the model, the run's before the agent's, and are stored with the answer", async () => {
    const model = scriptedModel([{ text: "Hi" }]);
    const agent = defineAgent({
      name: "a",
      model,
      settings: { temperature: 0.7, seed: 1, extra: { a: 1, b: 1 } },
    });
    const events = [];
    const settings = { temperature: 0.2, extra: { b: 2 } };
    for await (const event of run(agent, "Hello", { settings })) events.push(event);
    const merged = { temperature: 0.2, seed: 1, extra: { a: 1, b: 2 } };
    expect(model.requests[0]?.settings).toEqual(merged);
    expect(events.find(({ type }) => type === "run_start")).toMatchObject({ settings });
    expect(events.find(({ type }) => type === "message")).toMatchObject({ settings: merged });
  });

  it("are absent from a request, and from facts, that need none", async () => {
    const model = scriptedModel([{ text: "Hi" }]);
    const events = [];
    for await (const event of run(defineAgent({ name: "a", model }), "Hello")) events.push(event);
    expect(model.requests[0]).not.toHaveProperty("settings");
    for (const event of events) expect(event).not.toHaveProperty("settings");
  });

  it("can differ per turn through a function of the turn", async () => {
    const inputs: SettingsInput[] = [];
    const model = scriptedModel([callLook, { text: "Done" }]);
    const settings = (input: SettingsInput): ModelSettings => {
      inputs.push({ ...input, calls: [...input.calls] });
      return input.turn === 1 ? { effort: "high", toolChoice: { tool: "look" } } : { effort: "none" };
    };
    await run(defineAgent({ name: "a", model, tools: [look], settings }), "Go");
    expect(model.requests.map(({ settings: sent, toolChoice }) => [sent, toolChoice])).toEqual([
      [{ effort: "high" }, { tool: "look" }],
      [{ effort: "none" }, "auto"],
    ]);
    expect(inputs[1]).toMatchObject({ turn: 2, maxTurns: 10, calls: [{ name: "look", status: "ok" }] });
    expect(inputs[1]?.usage.inputTokens).toBe(10);
  });

  it("a function that throws fails the run with a named error", async () => {
    const settings = () => {
      throw new Error("no such tier");
    };
    const agent = defineAgent({ name: "a", model: scriptedModel([{ text: "Hi" }]), settings });
    const { status, error } = await run(agent, "Hello");
    expect([status, error]).toEqual([
      "failed",
      expect.objectContaining({ code: "settings_failed", message: expect.stringContaining("no such tier") }),
    ]);
  });

  it("a function that returns invalid settings fails the run and names the field", async () => {
    const settings = () => ({ temperature: 9 });
    const agent = defineAgent({ name: "a", model: scriptedModel([{ text: "Hi" }]), settings });
    expect((await run(agent, "Hello")).error?.message).toContain("temperature");
  });

  it.each([
    ["required", ["required", "auto", "auto"]],
    [{ tool: "look" }, [{ tool: "look" }, "auto", "auto"]],
  ] as const)("a fixed tool choice %j ends with the call that it asks for", async (toolChoice, sent) => {
    const model = scriptedModel([callLook, callLook, { text: "Done" }]);
    await run(defineAgent({ name: "a", model, tools: [look], settings: { toolChoice } }), "Go");
    expect(model.requests.map((request) => request.toolChoice)).toEqual(sent);
  });

  it.each([
    ["on", { effort: "medium" }],
    ["off", { effort: "none" }],
    ["auto", undefined],
  ] as const)("policy.thinking %s decides about the effort if no setting does", async (thinking, settings) => {
    const model = scriptedModel([{ text: "Hi" }, { text: "Hi" }]);
    const agent = defineAgent({ name: "a", model, policy: { thinking } });
    await run(agent, "Hello");
    await run(agent, "Hello", { settings: { effort: "low" } });
    expect(model.requests.map((request) => request.settings)).toEqual([settings, { effort: "low" }]);
  });
});

describe("the definition of settings", () => {
  const model = scriptedModel([]);

  it.each([
    [{ efort: "low" }, 'Unknown field "efort" of the agent "a". Did you mean "effort"?'],
    [{ effort: "ultra" }, "effort of the agent"],
    [{ effort: 0 }, "effort of the agent"],
    [{ temperature: 3 }, "a number from 0 to 2"],
    [{ topP: -1 }, "a number from 0 to 1"],
    [{ stop: [] }, "a text or a list of 1 to 16 texts"],
    [{ seed: 1.5 }, "a whole number"],
    [{ maxOutputTokens: 0 }, "a whole number from 1"],
    [{ toolChoice: "look" }, '{ tool: "name" }'],
    [{ toolChoice: { tool: "lok" } }, 'names an unknown tool: "lok". Did you mean "look"?'],
    [{ cache: true }, '"off", "short" or "long"'],
    [{ logprobs: 21 }, "from 0 to 20"],
    [{ extra: 1 }, "an object"],
  ])("rejects %j", (settings, message) => {
    const define = () =>
      defineAgent({ name: "a", model, tools: [look], settings: settings as ModelSettings });
    expect(define).toThrow(expect.objectContaining({ code: "invalid_definition" }));
    expect(define).toThrow(message);
  });

  it("rejects invalid settings of a run, and stores nothing", async () => {
    const agent = defineAgent({ name: "a", model });
    await expect(run(agent, "Hello", { settings: { topP: 7 } })).rejects.toMatchObject({
      code: "invalid_definition",
    });
  });

  it.each([
    "openai/gpt-5-mini",
    openai({ model: "gpt-5-mini", apiKey: "k" }),
  ])("refuses a setting whose loss would change the meaning, and warns of one that is ignored (%#)", (choice) => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    try {
      const define = (settings: ModelSettings) => defineAgent({ name: "a", model: choice, settings });
      expect(() => define({ stop: "END" })).toThrow("settings.stop");
      expect(warn).not.toHaveBeenCalled();
      define({ seed: 7 });
      expect(warn.mock.calls.map(([text]) => text)).toEqual([expect.stringContaining("seed 7")]);
    } finally {
      warn.mockRestore();
    }
  });
});

it("the options of a client are checked like settings", () => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  try {
    const client = { model: "gpt-5-mini", apiKey: "k" };
    expect(() => openai({ ...client, stop: "END" })).toThrow(
      'settings.stop of the client "openai/gpt-5-mini"',
    );
    openai({ ...client, maxOutputTokens: 9 });
    expect(warn).not.toHaveBeenCalled();
    openai({ ...client, temperature: 0 });
    expect(warn.mock.calls.map(([text]) => text)).toEqual([expect.stringContaining("temperature 0")]);
  } finally {
    warn.mockRestore();
  }
});

describe("a model that cannot follow a setting", () => {
  const checkSettings = (settings: ModelSettings) => [
    ...(settings.seed === undefined ? [] : [{ field: "seed", message: "No seed.", isError: false } as const]),
    ...(settings.stop === undefined ? [] : [{ field: "stop", message: "No stop.", isError: true } as const]),
  ];
  const createAgent = () =>
    defineAgent({
      name: "a",
      model: { ...scriptedModel([callLook, { text: "Hi" }]), checkSettings },
      tools: [look],
    });

  it("is warned of once per run if the setting is ignored", async () => {
    const warnings = [];
    for await (const event of run(createAgent(), "Hello", { settings: { seed: 1 } }))
      if (event.type === "warning") warnings.push([event.code, event.message]);
    expect(warnings).toEqual([["setting_ignored", "No seed."]]);
  });

  it("is not called if the meaning would change", async () => {
    const { error } = await run(createAgent(), "Hello", { settings: { stop: "END" } });
    expect(error).toMatchObject({ code: "settings_failed", message: "No stop." });
  });

  it("is not called either if it cannot be forced to call a tool", async () => {
    const model = anthropic({ model: "claude-opus-5-5", apiKey: "k", fetch: () => Promise.reject("called") });
    const agent = defineAgent({ name: "a", model, tools: [look] });
    const { error } = await run(agent, "Hello", { settings: { toolChoice: "required" } });
    expect(error).toMatchObject({ code: "settings_failed", message: expect.stringContaining("toolChoice") });
  });
});

describe("a tool named by the settings of a run", () => {
  const toolChoice = { tool: "look" };

  it("must be a tool of the agent", async () => {
    const agent = defineAgent({ name: "a", model: scriptedModel([{ text: "Hi" }]), tools: [look] });
    const start = async () => run(agent, "Hello", { settings: { toolChoice: { tool: "lok" } } });
    await expect(start()).rejects.toThrow('toolChoice of the run of "a" names an unknown tool: "lok".');
  });

  it("is asked for also if the policy requires some tool", async () => {
    const model = scriptedModel([callLook, { text: "Hi" }]);
    const agent = defineAgent({ name: "a", model, tools: [look], policy: { requireToolFirst: true } });
    await run(agent, "Hello", { settings: { toolChoice } });
    expect(model.requests.map((request) => request.toolChoice)).toEqual([toolChoice, "auto"]);
  });

  it("is not asked of an agent that takes over and does not have it", async () => {
    const model = scriptedModel([{ text: "Hi" }]);
    const other = defineAgent({ name: "b", model, tools: [{ ...look, name: "peek" }] });
    const handoff = scriptedModel([{ calls: [{ name: "handoff", input: { agent: "b" } }] }]);
    const agent = defineAgent({ name: "a", model: handoff, tools: [look], handoffs: () => [other] });
    const policy = { handoff: { mode: "transfer" } } as const;
    await run(agent, "Hello", { settings: { toolChoice }, policy });
    expect(model.requests.map((request) => request.toolChoice)).toEqual(["auto"]);
  });
});

it("merging settings keeps the first value of each field and ignores undefined", () => {
  const unset = { temperature: undefined } as unknown as ModelSettings;
  expect(mergeSettings(unset, { temperature: 1 }, undefined, { temperature: 2, seed: 3 })).toEqual({
    temperature: 1,
    seed: 3,
  });
});
