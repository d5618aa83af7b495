import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resolvePolicy } from "../kernel/policy.ts";
import { type AgentData, type AllowedNames, findAgentProblem, validateAgentData } from "./agent-data.ts";
import { resolvePolicyLimits } from "./policy-limits.ts";

const allowed: AllowedNames = {
  tools: ["search", "get_document"],
  sources: ["wiki", "mail"],
  models: ["openai/gpt-5-mini", "scripted"],
  coded: ["assistant"],
  agents: ["assistant", "people"],
  limits: resolvePolicyLimits({ maxTurns: 20 }),
  settingsLimits: { effort: "medium" },
};
const completeData: AgentData = {
  format: 1,
  name: "research",
  description: "Finds things out.",
  prompt: "Never guess.",
  model: ["openai/gpt-5-mini", "scripted"],
  tools: ["search", "get_document"],
  sources: ["wiki"],
  handoffs: ["people", "assistant"],
  policy: { maxTurns: 20, budget: { tokens: 1000 }, gate: "strict" },
  settings: { effort: "medium", temperature: 0.7, toolChoice: "required", seed: 1 },
};
const findProblem = (change: object) => findAgentProblem({ ...completeData, ...change }, allowed);

describe("agent data", () => {
  it("is valid with all fields, or with a name only (S3-54)", () => {
    expect(validateAgentData(completeData, allowed)).toBe(completeData);
    expect(findAgentProblem({ format: 1, name: "x" }, allowed)).toBeUndefined();
    expect(findProblem({ settings: { toolChoice: { tool: "search" } } })).toBeUndefined();
  });

  it.each<[object, string]>([
    [{ promt: "x" }, 'Unknown field "promt". Did you mean "prompt"?'],
    [{ source: "user" }, 'Unknown field "source". Did you mean "sources"?'],
    [{ execute: "rm -rf" }, 'Unknown field "execute".'],
    [JSON.parse('{"__proto__":{"name":"y"}}'), 'Unknown field "__proto__".'],
    [{ name: " " }, "name is missing."],
    [{ name: 7 }, "name is missing."],
    [
      { name: "x ".repeat(80) },
      "name has 160 characters; the limit is 128. name must not start or end with whitespace.",
    ],
    [{ name: "a\u202eb" }, 'name contains invisible characters: "a\\u{202e}b".'],
    [
      { name: "assistant", handoffs: [] },
      'name: "assistant" is the name of a coded agent; choose another name.',
    ],
    [{ prompt: ["x"] }, "prompt must be a string."],
    [{ settings: [] }, "settings must be an object."],
    [{ settings: { temperature: 3 } }, "settings.temperature cannot be 3: use a number from 0 to 2."],
    [{ settings: { effrt: "low" } }, 'settings.effrt is unknown. Did you mean "effort"?'],
    [{ settings: { effort: "high" } }, 'settings.effort cannot be "high": the maximum is "medium".'],
    [
      { settings: { extra: { tools: [] } } },
      "settings.extra is for agents in code: it can change any part of a request.",
    ],
    [{ settings: { toolChoice: { tool: "send" } } }, 'settings.toolChoice: the agent has no tool "send".'],
    [
      { settings: { stop: "END" } },
      'settings.stop: gpt-5-mini does not support stop "END": use `api: "chat"`, or search the answer yourself.',
    ],
    [{ description: null }, "description must be a string."],
    [
      { model: "openai/gpt-5-mimi" },
      'model: "openai/gpt-5-mimi" is not allowed for stored agents. Did you mean "openai/gpt-5-mini"? Allowed models: openai/gpt-5-mini, scripted.',
    ],
    [{ model: [] }, "model must be one name or a list of 1 to 100."],
    [{ model: [{}] }, "model must be a name or a list of names, not {}."],
    [{ tools: ["serch"] }, 'tools[0]: unknown tool "serch". Did you mean "search"?'],
    [{ tools: ["search", "toString"] }, 'tools[1]: unknown tool "toString".'],
    [{ tools: ["search", "search"] }, 'tools[1]: "search" is listed twice.'],
    [{ tools: "search" }, "tools must be a list of at most 100 names."],
    [{ tools: Array.from({ length: 101 }, String) }, "tools must be a list of at most 100 names."],
    [{ sources: ["wikis"] }, 'sources[0]: unknown source "wikis". Did you mean "wiki"?'],
    [{ handoffs: ["pepole"] }, 'handoffs[0]: unknown agent "pepole". Did you mean "people"?'],
    [{ name: "people", handoffs: ["people"] }, "handoffs: an agent cannot hand off to itself."],
    [{ policy: [] }, "policy must be an object."],
    [{ policy: { maxTurn: 1 } }, 'Unknown field policy.maxTurn. Did you mean "maxTurns"?'],
    [{ policy: { maxTurns: 0 } }, 'policy.maxTurns cannot be 0: use a whole number from 1 or "unlimited".'],
    [{ policy: { maxTurns: 21 } }, "policy.maxTurns cannot be 21: the loosest allowed value is 20."],
    [{ policy: { gate: "off" } }, 'policy.gate cannot be "off": the loosest allowed value is "default".'],
    [{ format: 2 }, "format must be 1, not 2: other formats are not supported."],
  ])("with %o is rejected, naming the field", (change, message) => {
    expect(findProblem(change)).toBe(message);
    expect(() => validateAgentData({ ...completeData, ...change }, allowed)).toThrow(
      /^The agent.* is not valid: /,
    );
  });

  it("must name a model when any model is allowed", () => {
    const free = { ...allowed, models: undefined };
    expect(findAgentProblem({ format: 1, name: "x" }, free)).toContain("model is missing");
    expect(findAgentProblem({ format: 1, name: "x", model: "gpt" }, free)).toContain("provider/model");
    expect(findAgentProblem({ format: 1, name: "x", model: "openai/gpt-5" }, free)).toBeUndefined();
  });

  it("reports only the first of many problems, at low cost", () => {
    const fields = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`f${index}`, 1]));
    const message = findProblem(fields) ?? "";
    expect(message).toMatch(/^Unknown field "f0"\..* There are more problems\.$/);
    expect(message.length).toBeLessThan(1000);
  });

  const anyField = fc.oneof(
    fc.constantFrom(...Object.keys(completeData)),
    fc.constantFrom("__proto__", "toString", "x"),
  );
  const nearly = fc
    .tuple(fc.dictionary(anyField, fc.jsonValue()), fc.subarray(Object.entries(completeData)), fc.boolean())
    .map(([odd, entries, first]) => ({
      ...(first && odd),
      ...Object.fromEntries(entries),
      ...(!first && odd),
    }));

  it("of any JSON is rejected with a named error or stays within its limits (A105)", () => {
    let accepted = 0;
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), nearly), (value) => {
        try {
          const { name, tools = [], policy } = validateAgentData(value, allowed);
          accepted += 1;
          expect(allowed.coded).not.toContain(name);
          expect(allowed.tools).toEqual(expect.arrayContaining([...tools]));
          expect(resolvePolicy(policy).gate).not.toBe("off");
        } catch (error) {
          expect(error).toMatchObject({ name: "AgentError", code: "invalid_input" });
        }
      }),
      { numRuns: 2000, examples: [[completeData]] },
    );
    expect(accepted).toBeGreaterThan(1);
  });
});
