import { describe, expect, it } from "vitest";
import { z } from "zod";
import { AgentError } from "../base/errors.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { type Agent, type AgentDefinition, defineAgent, indexAgents } from "./agent.ts";
import type { Model } from "./model.ts";
import { defineTool } from "./tool.ts";

const prototypeNames = ["__proto__", "constructor", "toString", "hasOwnProperty"];

function echo(name: string) {
  return defineTool({
    name,
    description: `Echoes as ${name}`,
    input: z.object({ text: z.string() }),
    execute: ({ text }) => `${name}: ${text}`,
  });
}

describe("defineAgent", () => {
  it("shows each tool as name, description and JSON Schema, in the order given (S0-26, S4-01, S4-35)", () => {
    const { specs } = defineAgent({
      name: "helper",
      model: scriptedModel([]),
      tools: [echo("b"), echo("a")],
    });
    expect(specs).toMatchObject([
      { name: "b", description: "Echoes as b", input: { type: "object", required: ["text"] } },
      { name: "a", description: "Echoes as a", input: { type: "object", required: ["text"] } },
    ]);
  });

  it("takes one model, or a fallback chain in order", () => {
    const [first, second] = [scriptedModel([]), scriptedModel([])];
    expect(defineAgent({ name: "helper", model: first }).models.main).toEqual([first]);
    expect(defineAgent({ name: "helper", model: [first, second] }).models.main).toEqual([first, second]);
  });

  it("requires only a name and a model", () => {
    const agent = defineAgent({ name: "helper", model: scriptedModel([]) });
    expect(agent).toMatchObject({ instructions: "", specs: [], policy: {} });
    expect(agent.tools.size).toBe(0);
  });

  it.each([
    ["no name", { name: "" }, "An agent needs a name."],
    ["no model", { model: undefined }, 'The agent "helper" needs a model'],
    ["an empty list of models", { model: [] }, 'The agent "helper" needs a model'],
    ["a model that cannot stream", { model: { id: "x" } }, 'The agent "helper" needs a model'],
    [
      "two tools of one name",
      { tools: [echo("a"), echo("a")] },
      'The agent "helper" has two tools named "a"',
    ],
    ["a tool that is a bare object", { tools: [{ name: "a" }] }, "create it with `defineTool`"],
    [
      "a misspelt policy",
      { policy: { maxTurn: 3 } },
      'Unknown field policy.maxTurn. Did you mean "maxTurns"',
    ],
    ["an invalid policy", { policy: 5 }, 'policy of the agent "helper" cannot be 5: use an object.'],
    [
      "a setting of the policy beside it",
      { maxTurns: 3 },
      'maxTurns of the agent "helper" belongs in its policy: write `policy: { maxTurns: … }`.',
    ],
    [
      "a misspelled field",
      { instruction: "a" },
      'Unknown field "instruction" of the agent "helper". Did you',
    ],
    [
      "instructions that are a list",
      { instructions: ["a"] },
      'instructions of the agent "helper" cannot be ["a"]: use a string or a function that returns one.',
    ],
    [
      "a misspelt kind of models",
      { models: { afterTool: "a/b" } },
      'Unknown field "afterTool" of the models of the agent "helper". Did you mean "afterTools"?',
    ],
    ["models that are a list", { models: ["a/b"] }, 'models of the agent "helper" cannot be ["a/b"]: use'],
    [
      "a fallback tool that is none",
      { fallbackTool: { name: "a" } },
      'fallbackTool of the agent "helper" cannot be {"name":"a"}: use a tool made with `defineTool`.',
    ],
    [
      "an output that is not a schema",
      { output: "text" },
      'output of the agent "helper" cannot be "text": use',
    ],
    [
      "an output that no model can write",
      { output: z.object({ trip: z.object({ day: z.date() }) }) },
      '"trip.day" in the schema of the agent "helper" cannot be expressed as JSON Schema',
    ],
  ])("rejects %s", (_what, fault, message) => {
    const definition = { name: "helper", model: scriptedModel([]), ...fault };
    expect(() => defineAgent(definition as AgentDefinition)).toThrow(
      expect.objectContaining({ code: "invalid_definition", message: expect.stringContaining(message) }),
    );
  });

  it("is found by its name, even a name on Object.prototype (A117)", () => {
    const agents = prototypeNames.map((name) => defineAgent({ name, model: scriptedModel([]) }));
    const byName = indexAgents(agents);
    for (const agent of agents) expect(byName.get(agent.name)).toBe(agent);
    expect(indexAgents([]).get("constructor")).toBeUndefined();
  });
});

describe("a new tool", () => {
  it("is offered and can be called at once, without other changes to the agent (S0-39, S0-40)", async () => {
    const script = [{ calls: [{ name: "shout", input: { text: "hi" } }] }, { text: "Done." }];
    const before = scriptedModel(script);
    const after = scriptedModel(script);
    await run(defineAgent({ name: "helper", model: before, tools: [echo("say")] }), "Go");
    const { toolCalls } = await run(
      defineAgent({ name: "helper", model: after, tools: [echo("say"), echo("shout")] }),
      "Go",
    );
    expect(before.requests[0]?.tools.map(({ name }) => name)).toEqual(["say"]);
    expect(before.requests[1]?.history.at(-1)).toMatchObject({
      status: "error",
      error: { code: "unknown_tool" },
    });
    expect(after.requests[0]?.tools.map(({ name }) => name)).toEqual(["say", "shout"]);
    expect(toolCalls).toMatchObject([{ name: "shout", status: "ok", result: "shout: hi" }]);
  });
});

describe("names on Object.prototype", () => {
  it.each(prototypeNames)("%s is a tool like any other when it is defined (A117)", async (name) => {
    const model = scriptedModel([{ calls: [{ name, input: { text: "hi" } }] }, { text: "Done." }]);
    const result = await run(defineAgent({ name: "helper", model, tools: [echo(name)] }), "Go");
    expect(result).toMatchObject({ status: "done", text: "Done." });
    expect(result.toolCalls).toMatchObject([{ name, status: "ok", result: `${name}: hi` }]);
  });

  it.each(prototypeNames)("%s is an unknown tool when it is not defined (A117, F30)", async (name) => {
    const model = scriptedModel([{ calls: [{ name, input: {} }] }, { text: "Sorry." }]);
    const result = await run(defineAgent({ name: "helper", model, tools: [echo("say")] }), "Go");
    expect(result).toMatchObject({ status: "done", text: "Sorry." });
    expect(model.requests[1]?.history.at(-1)).toMatchObject({
      type: "result",
      name,
      status: "error",
      error: { code: "unknown_tool" },
    });
  });

  it.each(
    prototypeNames,
  )("%s is a call id like any other, beside calls that are refused (A117)", async (id) => {
    const calls = [
      { id, name: "say", input: { text: "hi" } },
      { id: "other", name: "say", input: {} },
    ];
    const model = scriptedModel([{ calls }, { text: "Done." }]);
    const agent = defineAgent({ name: "helper", model, tools: [echo("say")] });
    const { facts, result } = await collect(run(agent, "Go"));
    expect(result).toMatchObject({ status: "done", text: "Done." });
    const results = facts.filter((fact) => fact.type === "tool_call_result");
    expect(new Map(results.map((fact) => [fact.id, fact.status]))).toEqual(
      new Map([
        [id, "ok"],
        ["other", "error"],
      ]),
    );
    expect(Object.prototype).not.toHaveProperty("error");
  });

  it.each(prototypeNames)("%s as a call id keeps the check of its own call (A117)", async (id) => {
    const model = scriptedModel([{ calls: [{ id, name: "say", input: { text: 5 } }] }, { text: "Done." }]);
    const agent = defineAgent({ name: "helper", model, tools: [echo("say")] });
    const { facts } = await collect(run(agent, "Go"));
    const message = facts.find((fact) => fact.type === "message");
    expect(Object.entries(message?.checks ?? {})).toMatchObject([[id, { error: { code: "bad_arguments" } }]]);
    expect(facts.find((fact) => fact.type === "tool_call_result")).toMatchObject({ id, status: "error" });
  });

  it.each(prototypeNames)("%s is a session and a run like any other (A117)", async (name) => {
    const store = memory();
    const agent = defineAgent({ name, model: scriptedModel([{ text: "One." }, { text: "Two." }]) });
    await run(agent, "First", { session: name, runId: name, store });
    const result = await run(agent, "Second", { session: name, runId: `${name}2`, store });
    expect(result.history.map((entry) => entry.type)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(await store.findSession(name)).toBe(name);
  });
});

describe("a model for the turns after tools", () => {
  it("processes tool results, and the main model takes the other turns (S2-36)", async () => {
    const look = defineTool({
      name: "look",
      description: "Looks.",
      input: { type: "object" },
      execute: () => "Seen.",
    });
    const large = scriptedModel([{ calls: [{ name: "look" }] }, { text: "Large again." }], { id: "large" });
    const small = scriptedModel([{ calls: [{ name: "look", input: { more: true } }] }, { text: "Small." }], {
      id: "small",
    });
    const agent = defineAgent({ name: "helper", model: large, models: { afterTools: small }, tools: [look] });
    const { facts } = await collect(run(agent, "Go.", { session: "after-tools" }));
    expect(facts.flatMap((fact) => (fact.type === "message" ? [fact.model] : []))).toEqual([
      "large",
      "small",
      "small",
    ]);
    const next = await collect(run(agent, "And?", { session: "after-tools" }));
    expect(next.facts.flatMap((fact) => (fact.type === "message" ? [fact.model] : []))).toEqual(["large"]);
  });

  it("falls back along its own chain", async () => {
    const look = defineTool({
      name: "look",
      description: "Looks.",
      input: { type: "object" },
      execute: () => "Seen.",
    });
    const large = scriptedModel([{ calls: [{ name: "look" }] }], { id: "large" });
    const broken = scriptedModel([{ error: "model_auth" }], { id: "broken" });
    const small = scriptedModel([{ text: "Small." }], { id: "small" });
    const agent = defineAgent({
      name: "helper",
      model: large,
      models: { afterTools: [broken, small] },
      tools: [look],
    });
    expect(await run(agent, "Go.")).toMatchObject({ status: "done", text: "Small." });
  });
});

describe("a fallback chain of two models", () => {
  const retryFast = { session: "ses", runId: "r", clock: fakeClock({ skipUpToMs: 30_000 }) };

  it("calls the second when the first is down: one answer, and no tool of the failed attempts ran (F38)", async () => {
    let ran = 0;
    const pay = defineTool({
      name: "pay",
      description: "Pays",
      input: { type: "object" },
      execute: () => {
        ran += 1;
      },
    });
    const down = scriptedModel(() => ({ text: "Paying", calls: [{ name: "pay" }], error: "model_failed" }), {
      id: "down",
    });
    const clock = fakeClock({ skipUpToMs: 30_000 });
    const slow = scriptedModel([{ text: "From the second.", delayMs: 20_000 }], {
      id: "slow",
      wait: (ms) => new Promise((resolve) => void clock.after(ms, resolve)),
    });
    const { facts, result } = await collect(
      run(defineAgent({ name: "helper", model: [down, slow], tools: [pay] }), "Go", {
        ...retryFast,
        clock,
        store: memory(),
      }),
    );
    expect(result).toMatchObject({ status: "done", text: "From the second.", turns: 1 });
    expect(down.requests).toHaveLength(3);
    expect(slow.requests).toHaveLength(1);
    expect(ran).toBe(0);
    expect(facts.filter((fact) => fact.type === "model_failed")).toMatchObject([
      { model: "down", candidate: 0, attempts: 3, error: { code: "model_failed" } },
    ]);
    expect(facts.filter((fact) => fact.type === "message")).toMatchObject([{ model: "slow", ms: 20_000 }]);
  });

  it("does not retry a permanent failure, and calls the next model at once (F38)", async () => {
    const refused = new AgentError("model_failed", "401: no such key", { retryable: false });
    const first = scriptedModel([{ error: refused }]);
    const second = scriptedModel([{ text: "Here." }]);
    const result = await run(defineAgent({ name: "helper", model: [first, second] }), "Go");
    expect(result.text).toBe("Here.");
    expect(first.requests).toHaveLength(1);
    expect(second.requests[0]?.history).toEqual([{ type: "user", content: "Go" }]);
  });

  it("gives the second model the full time of a call, and ends with a text when that times out too (F38)", async () => {
    const clock = fakeClock({ skipUpToMs: 30_000 });
    const down = scriptedModel(() => ({ error: "model_failed" }));
    const hanging: Model = scriptedModel(() => ({ text: "I am", hang: true }), { id: "hanging" });
    const going = run(defineAgent({ name: "helper", model: [down, hanging] }), "Go", {
      ...retryFast,
      clock,
      store: memory(),
    });
    const events: string[] = [];
    for await (const event of going) {
      events.push(event.type);
      if (event.type === "content_delta") await clock.advance(600_000);
    }
    const result = await going;
    expect(result).toMatchObject({ status: "failed", error: { code: "model_timeout" } });
    expect(result.text).toContain("The model could not answer");
    expect(events.filter((type) => type === "message")).toEqual([]);
    expect(events.filter((type) => type === "model_failed")).toHaveLength(2);
  });

  it("starts with the first model again in the next turn", async () => {
    const first = scriptedModel([
      { error: new AgentError("model_failed", "no", { retryable: false }) },
      { text: "Back." },
    ]);
    const second = scriptedModel([{ calls: [{ name: "say", input: { text: "x" } }] }]);
    const agent = defineAgent({ name: "helper", model: [first, second], tools: [echo("say")] });
    expect((await run(agent, "Go")).text).toBe("Back.");
  });
});

describe("handoffs", () => {
  const model = scriptedModel([]);
  const agent = (name: string, handoffs?: AgentDefinition["handoffs"]) =>
    defineAgent({ name, model, ...(handoffs && { handoffs }) });

  it("are indexed with all reachable agents, even in a cycle (S3-27)", () => {
    const first: Agent = agent("first", () => [second]);
    const second: Agent = agent("second", () => [third, first]);
    const third: Agent = agent("third");
    expect([...indexAgents(first).keys()]).toEqual(["first", "second", "third"]);
    expect([...indexAgents([third, first]).keys()]).toEqual(["third", "first", "second"]);
  });

  it("to two agents with the same name are rejected (S3-27)", () => {
    const first = agent("first", [agent("same"), agent("second", [agent("same")])]);
    expect(() => indexAgents(first)).toThrow(/Two agents are named "same"/);
    expect(() => run(first, "Go.")).toThrow(/Two agents are named "same"/);
  });

  it.each<[string, unknown]>([
    ["names", ["research"]],
    ["one agent", agent("research")],
    ["undefined, as when an agent is referenced before it is defined", [undefined]],
  ])("that are %s are rejected (S3-27)", (_what, handoffs) => {
    expect(() => agent("main", handoffs as Agent[])).toThrow(
      /an array of agents, or a function that returns one/,
    );
  });

  it("are rejected together with a tool of that name (S3-28)", () => {
    const tool = defineTool({ name: "handoff", description: "Mine.", input: { type: "object" } });
    const define = () => defineAgent({ name: "main", model, tools: [tool], handoffs: [agent("other")] });
    expect(define).toThrow(/a tool named "handoff": rename the tool/);
    expect(() => defineAgent({ name: "main", model, tools: [tool], handoffs: [] })).not.toThrow();
  });
});
