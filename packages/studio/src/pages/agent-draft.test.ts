import type { AgentData } from "capstan/agents";
import { describe, expect, it } from "vitest";
import { emptyDraft, parseFieldProblems, toAgentData, toDraft } from "./agent-draft.ts";
import { emptySettings, toSettings } from "./settings-draft.ts";
import { findChangedFields } from "./tool-change.tsx";

const data: AgentData = {
  format: 1,
  name: "researcher",
  prompt: "Look twice.",
  model: ["a/b", "c/d"],
  tools: ["search"],
  policy: { maxTurns: 5, budget: { cost: 0.5, tokens: 1000 }, thinking: "on" },
  settings: {
    ...{ effort: 8000, temperature: 0, topP: 0.5, stop: ["END", " "], seed: 7, maxOutputTokens: 100 },
    ...{ toolChoice: { tool: "search" }, parallelToolCalls: false, serviceTier: "flex" },
    ...{ cache: "long", logprobs: 2 },
  },
};

describe("the form of an agent", () => {
  it("keeps fields that it does not show", () => {
    expect(toAgentData(toDraft(data), data)).toEqual(data);
    const cheaper = toAgentData({ ...toDraft(data), cost: "", maxTurns: "unlimited" }, data);
    expect(cheaper.policy).toEqual({ maxTurns: "unlimited", budget: { tokens: 1000 }, thinking: "on" });
  });

  it("omits empty fields", () => {
    expect(toAgentData({ ...emptyDraft, name: " note " })).toEqual({ format: 1, name: "note" });
  });

  it("keeps each level of effort and each tool choice, and passes invalid numbers on to the server", () => {
    for (const settings of [{ effort: "none" }, { effort: "high", toolChoice: "required" }] as const)
      expect(toAgentData(toDraft({ ...data, settings })).settings).toEqual(settings);
    const draft = { ...emptySettings, temperature: "warm", effort: "tokens" } as const;
    expect(toSettings(draft)).toEqual({ temperature: "warm", effort: 0 });
  });
});

it("validation problems are shown at their field", () => {
  const message =
    'The agent "note" is not valid: model: "x/y" is not allowed for stored agents. Allowed models: a/b. tools[0]: unknown tool "serch". Did you mean "search"? policy.maxTurns cannot be 99: the loosest allowed value is 10. settings.temperature cannot be 3: use a number from 0 to 2. settings.stop: b does not support stop "x": use another model.';
  expect(parseFieldProblems(message)).toEqual({
    model: '"x/y" is not allowed for stored agents. Allowed models: a/b.',
    tools: 'unknown tool "serch". Did you mean "search"?',
    "policy.maxTurns": "maxTurns cannot be 99: the loosest allowed value is 10.",
    "settings.temperature": "temperature cannot be 3: use a number from 0 to 2.",
    "settings.stop": 'b does not support stop "x": use another model.',
  });
  expect(parseFieldProblems("The server is gone.")).toEqual({ "": "The server is gone." });
});

it("changes are listed by field", () => {
  expect(findChangedFields({ a: "x", b: ["y"], c: 1 }, { a: "x", b: ["y", "z"], d: {} })).toEqual([
    { field: "b", was: "y", is: "y, z" },
    { field: "c", was: "1", is: "" },
    { field: "d", was: "", is: "{}" },
  ]);
});
