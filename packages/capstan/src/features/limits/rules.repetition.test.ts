import { describe, expect, it } from "vitest";
import { defineAgent } from "../../kernel/agent.ts";
import type { PolicyOverrides } from "../../kernel/policy.ts";
import { defineTool, type Tool } from "../../kernel/tool.ts";
import type { Result } from "../../runtime/result.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { type Script, type ScriptedModel, scriptedModel } from "../../testing/scripted-model.ts";

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  execute: () => "Nothing.",
});

async function runWith(
  script: Script,
  { policy = {}, tools = [look] }: { policy?: PolicyOverrides; tools?: Tool[] } = {},
): Promise<{ model: ScriptedModel; result: Result; nudged: number[] }> {
  const model = scriptedModel(script);
  const agent = defineAgent({ name: "helper", model, tools, policy });
  const result = await run(agent, "Go.", { store: memory(), session: "s", runId: "r" });
  const nudged = model.requests.flatMap(({ instructions }, index) =>
    instructions.includes("Do not repeat it") ? [index + 1] : [],
  );
  return { model, result, nudged };
}

describe("the same call with the same result", () => {
  it("triggers a note after the second and a stop after the third (S2-61, F34)", async () => {
    const { model, result, nudged } = await runWith(() => ({
      calls: [{ name: "look", input: { at: "x" } }],
    }));
    expect(nudged).toEqual([3]);
    expect(model.requests[2]?.instructions).toBe(
      'Note: you have called "look" 2 times with the same arguments and got the same result. ' +
        "Do not repeat it: change the arguments, use another tool, or answer with what you have.",
    );
    expect(model.requests).toHaveLength(3);
    expect(result).toMatchObject({
      status: "limit",
      turns: 3,
      error: {
        code: "stuck_loop",
        message: '"look" was called 3 times with the same arguments and the same result.',
      },
    });
    expect(result.text).toContain("- Used look: Nothing.");
  });

  it("is detected regardless of key order (S2-61)", async () => {
    const { result } = await runWith((_request, n) => ({
      calls: [{ name: "look", arguments: n % 2 === 0 ? '{"a":1,"b":2}' : '{ "b": 2, "a": 1 }' }],
    }));
    expect(result).toMatchObject({ turns: 3, error: { code: "stuck_loop" } });
  });

  it("counts even with other calls in between (S2-61)", async () => {
    const { result } = await runWith((_request, n) => ({
      calls: [{ name: "look", input: n % 2 === 0 ? {} : { n } }],
    }));
    expect(result).toMatchObject({ turns: 5, error: { code: "stuck_loop" } });
  });

  it.each<[number, number, number[], number]>([
    [1, 2, [2], 2],
    [2, 4, [3, 4], 4],
    [4, 6, [5, 6], 6],
  ])("adds the note at %i and stops at %i as the policy says (S2-61)", async (nudgeAt, stopAt, turns, asked) => {
    const { model, nudged } = await runWith(() => ({ calls: [{ name: "look" }] }), {
      policy: { repetition: { nudgeAt, stopAt }, wrapUpAt: 0 },
    });
    expect(nudged).toEqual(turns);
    expect(model.requests).toHaveLength(asked);
  });

  it("lets the model change course after the note (S2-61)", async () => {
    const same = { calls: [{ name: "look" }] };
    const { result, nudged } = await runWith([
      same,
      same,
      { calls: [{ name: "look", input: { n: 1 } }] },
      { text: "No." },
    ]);
    expect(nudged).toEqual([3]);
    expect(result).toMatchObject({ status: "done", text: "No." });
  });

  it("does not end a run before the model has seen the note (S2-61)", async () => {
    const same = { name: "look", input: {} };
    const { result, nudged } = await runWith([{ calls: [same, same, same] }, { text: "Nothing there." }]);
    expect(nudged).toEqual([2]);
    expect(result).toMatchObject({ status: "done", text: "Nothing there." });
  });
});

describe("calls that are not repetitions", () => {
  it("include the same call with another result each time (S2-61)", async () => {
    let polls = 0;
    const poll = defineTool({
      name: "look",
      description: "Tells how far it is.",
      input: { type: "object" },
      execute: () => `${++polls} of 9 ready.`,
    });
    const { result, nudged } = await runWith(
      (_request, n) => (n === 8 ? { text: "Ready." } : { calls: [{ name: "look" }] }),
      { tools: [poll] },
    );
    expect(nudged).toEqual([]);
    expect(result).toMatchObject({ status: "done", turns: 9 });
  });

  it("include another call with the same result (S2-61)", async () => {
    const { result, nudged } = await runWith((_request, n) =>
      n === 8 ? { text: "Nothing." } : { calls: [{ name: "look", input: { n } }] },
    );
    expect(nudged).toEqual([]);
    expect(result).toMatchObject({ status: "done", turns: 9 });
  });

  it("include calls of an earlier run of the session", async () => {
    const model = scriptedModel((_request, n) =>
      n % 3 === 2 ? { text: "No." } : { calls: [{ name: "look" }] },
    );
    const agent = defineAgent({ name: "helper", model, tools: [look] });
    const options = { store: memory(), session: "s" };
    await run(agent, "One?", options);
    expect(await run(agent, "Two?", options)).toMatchObject({ status: "done" });
  });
});

describe("a model that cannot get a call right", () => {
  it("is stopped after three identical failures (F34)", async () => {
    const broken = defineTool({
      name: "look",
      description: "Fails.",
      input: { type: "object", required: ["at"], properties: { at: { type: "string" } } },
      execute: () => "Never.",
    });
    const { model, result } = await runWith(() => ({ calls: [{ name: "look", input: {} }] }), {
      tools: [broken],
      policy: { maxTurns: "unlimited" },
    });
    expect(model.requests).toHaveLength(3);
    expect(result.toolCalls.map(({ status }) => status)).toEqual(["error", "error", "error"]);
    expect(result).toMatchObject({ status: "limit", error: { code: "stuck_loop" } });
  });

  it("is stopped after the same invalid JSON three times (F34)", async () => {
    const { model, result } = await runWith(() => ({ calls: [{ name: "look", arguments: '{"a":' }] }));
    expect(model.requests).toHaveLength(3);
    expect(result).toMatchObject({ error: { code: "stuck_loop" } });
  });

  it("is stopped after three calls in a row to tools that do not exist (F34)", async () => {
    const { model, result } = await runWith((_request, n) => ({ calls: [{ name: `invented_${n}` }] }));
    expect(model.requests).toHaveLength(3);
    expect(result).toMatchObject({
      status: "limit",
      error: { code: "stuck_loop", message: "3 calls in a row were to tools that do not exist." },
    });
  });

  it("continues when it calls an existing tool in between", async () => {
    const names = ["nope", "nada", "look", "nix", "nil", "look"];
    const { result } = await runWith((_request, n) => {
      const name = names[n];
      return name === undefined ? { text: "There." } : { calls: [{ name, input: { n } }] };
    });
    expect(result).toMatchObject({ status: "done", turns: 7 });
  });
});
