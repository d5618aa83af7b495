import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import type { Fact } from "../kernel/event.ts";
import { defineTool, type Tool } from "../kernel/tool.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { type ScriptedStep, scriptedModel } from "../testing/scripted-model.ts";
import { resume, run } from "./run.ts";

const tool = (name: string, execute: () => unknown = () => `${name} ran`): Tool =>
  defineTool({ name, description: name, input: { type: "object" }, reads: [], execute });

const createCallStep = (...names: string[]): ScriptedStep => ({ calls: names.map((name) => ({ name })) });
const done: ScriptedStep = { text: "Done." };

const listWarnings = (facts: readonly Fact[]) =>
  facts.flatMap((fact) => (fact.type === "warning" ? `${fact.code}: ${fact.message}` : []));

describe("dynamic tools", () => {
  it("are resolved once when a turn starts, and the whole turn uses the same (C-12)", async () => {
    let asked = 0;
    let tools = [tool("one", () => void tools.splice(0, 1, tool("two")))];
    const model = scriptedModel([createCallStep("one", "two"), createCallStep("one", "two"), done]);
    const source = () => {
      asked += 1;
      return tools;
    };
    const agent = defineAgent({ name: "a", model, tools: source });
    const result = await run(agent, "Go.");
    tools = [];
    expect(asked).toBe(3);
    expect(model.requests.map((request) => request.tools.map(({ name }) => name))).toEqual([
      ...[["one"], ["two"], ["two"]],
    ]);
    expect(result.toolCalls.map(({ name, status }) => `${name} ${status}`)).toEqual([
      ...["one ok", "two error", "one error", "two ok"],
    ]);
    expect(result.toolCalls[2]?.result).toMatch(/^Unknown tool: no tool is named "one"/);
    expect(agent.tools.size).toBe(0);
  });

  it("do not change for one run when another run of the agent starts a turn", async () => {
    const halfway = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    let tools = [
      tool("slow", () => {
        halfway.resolve();
        return go.promise;
      }),
      tool("after"),
    ];
    const first = scriptedModel([
      { calls: [{ name: "slow" }, { id: "c2", name: "after" }] },
      { text: "First." },
    ]);
    const model = scriptedModel(() => ({ text: "Second." }));
    const agent = defineAgent({
      name: "a",
      model: first,
      tools: () => tools,
      policy: { toolExecution: "sequential" },
    });
    const started = run(agent, "Go.");
    await halfway.promise;
    tools = [];
    expect(
      (await run({ ...agent, models: { main: [model], afterTools: [model], summary: [model] } }, "Go.")).text,
    ).toBe("Second.");
    go.resolve();
    const result = await started;
    expect(result.toolCalls.map(({ name, status }) => `${name} ${status}`)).toEqual(["slow ok", "after ok"]);
    expect(model.requests[0]?.tools).toEqual([]);
  });

  it.each<[string, () => readonly Tool[], string]>([
    [
      "a throw",
      () => {
        throw new Error("the server is gone");
      },
      "the server is gone",
    ],
    [
      "two of one name",
      () => [tool("one"), tool("one")],
      'The agent "a" has two tools named "one": rename one.',
    ],
    [
      "no list",
      () => Promise.reject(new Error("late")) as never,
      'The tools of the agent "a" must be an array.',
    ],
    [
      "no tools",
      () => [{ name: "x" } as Tool],
      'The agent "a" has an invalid tool: create it with `defineTool`.',
    ],
  ])("that cannot be had (%s) leave those of the turn before, and one warning", async (_, broken, reason) => {
    let turn = 0;
    const source = () => (++turn === 1 ? [tool("one")] : turn < 4 ? broken() : [tool("two")]);
    const model = scriptedModel([
      createCallStep("one"),
      createCallStep("one"),
      createCallStep("one"),
      createCallStep("two"),
      done,
    ]);
    const agent = defineAgent({ name: "a", model, tools: source, policy: { repetition: { stopAt: 9 } } });
    const { facts, result } = await collect(run(agent, "Go."));
    expect(result.status).toBe("done");
    expect(result.toolCalls.map(({ name, status }) => `${name} ${status}`)).toEqual([
      ...["one ok", "one ok", "one ok", "two ok"],
    ]);
    expect(listWarnings(facts)).toEqual([
      `tools_unavailable: The tools of "a" could not be resolved; the earlier ones stay: ${reason}`,
    ]);
  });

  it("are resolved again when a run is resumed in the middle of a turn, before messages are delivered", async () => {
    const store = memory();
    const client = defineTool({ name: "page", description: "The client's", input: { type: "object" } });
    const steps = [{ calls: [{ id: "c1", name: "page" }] }, done];
    const agentOf = (tools: () => readonly Tool[]) =>
      defineAgent({
        name: "a",
        model: scriptedModel(({ history }) => steps[history.length > 1 ? 1 : 0] ?? done),
        tools,
      });
    await run(
      agentOf(() => [client]),
      "Go.",
      { store, session: "s", runId: "r" },
    );
    let asked = 0;
    const agent = agentOf(() => {
      asked += 1;
      return [client];
    });
    const resumed = resume(agent, { store, runId: "r" });
    expect((await resumed).pending).toMatchObject([{ callId: "c1", needs: "answer" }]);
    expect(asked).toBe(1);
    expect((await resumed.answer("c1", "seen")).toolCalls).toMatchObject([{ status: "ok", result: "seen" }]);
    expect(asked).toBe(2);
  });

  it("are those of the turn when an approved call runs, even with secrets to mask", async () => {
    const sent: string[] = [];
    const send = { ...tool("send", () => void sent.push("old")), needsApproval: () => true };
    let tools: Tool[] = [send];
    const model = scriptedModel([{ calls: [{ id: "c1", name: "send" }] }, done]);
    const agent = defineAgent({ name: "a", model, tools: () => tools });
    const started = run(agent, "Go.", { secrets: ["canary-1234567"] });
    await started;
    tools = [tool("send", () => void sent.push("new")), tool("more")];
    expect((await started.approve("c1")).status).toBe("done");
    expect(sent).toEqual(["old"]);
    expect(model.requests[1]?.tools).toHaveLength(2);
  });

  it("determine the request of a turn: a tool is required first only if there is one", async () => {
    const model = scriptedModel([done]);
    const policy = { requireToolFirst: true };
    const agent = defineAgent({ name: "a", model, tools: () => [], policy });
    expect(await run(agent, "Go.")).toMatchObject({ status: "done", text: "Done." });
    const other = scriptedModel([createCallStep("one"), done]);
    await run(defineAgent({ name: "a", model: other, tools: () => [tool("one")], policy }), "Go.");
    expect(other.requests[0]?.toolChoice).toBe("required");
  });

  it("keep their cached specs while the list is the same", async () => {
    const one = tool("one");
    const model = scriptedModel([createCallStep("one"), done]);
    await run(defineAgent({ name: "a", model, tools: () => [one] }), "Go.");
    expect(model.requests[1]?.tools).toBe(model.requests[0]?.tools);
  });
});
