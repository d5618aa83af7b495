import { afterEach, describe, expect, it } from "vitest";
import { type LocalEngine, local } from "../engines/local.ts";
import { type AgentToolOptions, agentTool } from "../features/nested/agent-tool.ts";
import { type Agent, type AgentDefinition, defineAgent } from "../kernel/agent.ts";
import { type Event, type Fact, isFact } from "../kernel/event.ts";
import { defineTool, type Tool } from "../kernel/tool.ts";
import { memory } from "../stores/memory.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { type ScriptedStep, scriptedModel } from "../testing/scripted-model.ts";
import { resume, run } from "./run.ts";

const engines: LocalEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

/** Chooses its next step by the history, so that any process can resume it. */
function createReplayModel(steps: readonly ScriptedStep[]): ReturnType<typeof scriptedModel> {
  return scriptedModel(({ history }) => {
    const said = history.filter((entry) => entry.type === "assistant").length;
    return steps[said] ?? { text: "over" };
  });
}

const ask = (prompt = "Do it.", name = "helper") => ({ name, input: { prompt } });

type Helper = Partial<AgentDefinition> & { readonly steps: readonly ScriptedStep[] };

/** The main agent calls its helper once, then repeats the helper's answer. */
function createCallerAgent(
  { steps, ...helper }: Helper,
  { tool = {}, ...main }: Partial<AgentDefinition> & { tool?: AgentToolOptions } = {},
): Agent {
  const agent = defineAgent({ name: "helper", model: createReplayModel(steps), ...helper });
  const model = scriptedModel(({ history }) => {
    const result = history.findLast((entry) => entry.type === "result");
    return result ? { text: `It says: ${result.content}` } : { calls: [ask()] };
  });
  return defineAgent({ name: "main", model, tools: [agentTool(agent, tool)], ...main });
}

function createRemoveTool(removed: string[] = [], more: Partial<Tool> = {}): Tool {
  const tool = defineTool({
    name: "remove",
    description: "Removes.",
    input: { type: "object", properties: {} },
    effects: "state",
    needsApproval: true,
    execute(_, { runId, callId }) {
      removed.push(`${runId} ${callId}`);
      return "Removed.";
    },
  });
  return { ...(tool as Tool), ...more };
}

const removes: readonly ScriptedStep[] = [{ calls: [{ name: "remove", input: {} }] }, { text: "Gone." }];
const nestedId = "call_1_0.call_1_0";
const listEnds = (facts: readonly Fact[]) =>
  facts.flatMap((fact) => (fact.type === "done" ? `${fact.agent} ${fact.status}` : []));

describe("a nested run that needs the user", () => {
  it("waits with its caller, and is answered there", async () => {
    const removed: string[] = [];
    const store = memory();
    const agent = createCallerAgent({ steps: removes, tools: [createRemoveTool(removed)] });
    const handle = run(agent, "Go.", { store, session: "s", runId: "r" });
    const result = await handle;
    expect(result).toMatchObject({
      status: "waiting",
      text: 'Waiting for your approval of "remove" ("remove" needs approval.).',
    });
    expect(result.pending).toMatchObject([
      { callId: nestedId, name: "remove", needs: "approval", runId: "r~call_1_0", agent: "helper" },
    ]);
    expect(removed).toEqual([]);
    expect(await store.listRuns("s")).toMatchObject([{ runId: "r", state: "waiting" }]);
    expect(await handle.approve(nestedId)).toMatchObject({ status: "done", text: "It says: Gone." });
    expect(removed).toEqual([`r~call_1_0 ${nestedId}`]);
    const facts = await store.read("s");
    const about = facts.filter((fact) =>
      ["woken", "approval_resolved", "waiting", "approval_required"].includes(fact.type),
    );
    expect(about.map((fact) => `${fact.runId} ${fact.type}`)).toEqual([
      "r~call_1_0 approval_required",
      "r~call_1_0 waiting",
      "r waiting",
      "r woken",
      "r~call_1_0 approval_resolved",
    ]);
    // The same decision again changes nothing, the opposite is rejected, even after the nested run has ended.
    expect(await handle.approve(nestedId)).toMatchObject({ status: "done" });
    expect(() => handle.deny(nestedId)).toThrow(expect.objectContaining({ code: "approval_conflict" }));
    expect(() => handle.approve("call_9_9")).toThrow(expect.objectContaining({ code: "unknown_call" }));
  });

  it("resumes in another process with a denial", async () => {
    const removed: string[] = [];
    const store = memory();
    const make = () => createCallerAgent({ steps: removes, tools: [createRemoveTool(removed)] });
    await run(make(), "Go.", { store, session: "s", runId: "r" });
    const again = resume(make(), { store, runId: "r" });
    expect((await again).pending).toHaveLength(1);
    expect(await again.deny(nestedId, "not today")).toMatchObject({ status: "done", text: "It says: Gone." });
    expect(removed).toEqual([]);
    const facts = await store.read("s");
    expect(facts.find((fact) => fact.type === "tool_call_result" && fact.id === nestedId)).toMatchObject({
      runId: "r~call_1_0",
      status: "denied",
      result: "The call was denied: not today",
    });
  });

  it("can be answered three levels deep, including client tools and questions during a call", async () => {
    const page = defineTool({
      name: "page",
      description: "by the client",
      input: { type: "object", properties: {} },
    });
    const curious = defineTool({
      name: "curious",
      description: "asks",
      effects: "none",
      input: { type: "object", properties: {} },
      execute: (_, { answers }) =>
        answers[0] ? { content: JSON.stringify(answers) } : { ask: { message: "Which?" } },
    });
    const deep = defineAgent({
      name: "deep",
      model: createReplayModel([{ calls: [{ name: "page" }, { name: "curious" }] }, { text: "Deep." }]),
      tools: [page, curious],
    });
    const store = memory();
    const agent = createCallerAgent({
      steps: [{ calls: [ask("Deeper.", "deep")] }, { text: "Back." }],
      tools: [agentTool(deep)],
    });
    const handle = run(agent, "Go.", { store, session: "s", runId: "r" });
    const { pending } = await handle;
    const base = "call_1_0.call_1_0";
    expect(pending.map(({ callId, needs, runId, agent }) => [callId, needs, runId, agent])).toEqual([
      [`${base}.call_1_0`, "answer", `r~${base}`, "deep"],
      [`${base}.call_1_1`, "approval", `r~${base}`, "deep"],
    ]);
    handle.answer(`${base}.call_1_0`, "seen");
    expect(await handle.approve(`${base}.call_1_1`, "that")).toMatchObject({
      status: "done",
      text: "It says: Back.",
    });
    const results = (await store.read("s")).filter((fact) => fact.type === "tool_call_result");
    expect(results.map((fact) => [fact.runId, fact.name, fact.result])).toEqual([
      [`r~${base}`, "page", "seen"],
      [`r~${base}`, "curious", '[{"approved":true,"value":"that"}]'],
      ["r~call_1_0", "deep", "Deep."],
      ["r", "helper", "Back."],
    ]);
  });

  it("is approved through the store of a local engine, and only the root run is taken over", async () => {
    const store = memory();
    const agent = createCallerAgent({ steps: removes, tools: [createRemoveTool()] });
    const engine = local({ store, agents: agent, leaseMs: 300 });
    engines.push(engine);
    await engine.run(agent, "Go.", { session: "s", runId: "r" });
    expect(await store.listOrphans()).toEqual([]);
    const opened = engine.open("r");
    expect(await opened.approve(nestedId)).toMatchObject({ status: "done", text: "It says: Gone." });
    expect(await store.listMessages("r")).toEqual([]);
    expect((await store.listRuns("s")).map((info) => `${info.runId} ${info.state}`)).toEqual(["r ended"]);
    const events: Event[] = [];
    for await (const event of opened) events.push(event);
    expect(events.filter(isFact)).toEqual(await store.read("s"));
  });

  it("is resumed when the process dies after the answer was stored", async () => {
    const store = memory();
    const agent = createCallerAgent({ steps: removes, tools: [createRemoveTool()] });
    const handle = run(agent, "Go.", { store, session: "s", runId: "r" });
    await handle;
    await handle.approve(nestedId);
    const facts = await store.read("s");
    const heard = facts.findIndex((fact) => fact.type === "approval_resolved") + 1;
    const after = memory();
    const lease = await after.lease("s", "dead", 0); // never released
    if (!lease) throw new Error("taken");
    await after.append(facts.slice(0, heard), { expected: 0, lease });
    expect((await after.listOrphans()).map((info) => info.runId)).toEqual(["r"]);
    const engine = local({ store: after, agents: agent, leaseMs: 300 });
    engines.push(engine);
    expect(await engine.open("r")).toMatchObject({ status: "done", text: "It says: Gone." });
    expect(
      (await after.read("s")).filter((fact) => fact.type === "recovered").map((fact) => fact.runId),
    ).toEqual(["r"]);
  });

  it("asks no one under the caller's `approvals: deny`, whatever its own policy is", async () => {
    const removed: string[] = [];
    const agent = createCallerAgent(
      { steps: removes, tools: [createRemoveTool(removed)], policy: { approvals: "allow", gate: "off" } },
      { policy: { approvals: "deny", gate: "strict" } },
    );
    const store = memory();
    expect(await run(agent, "Go.", { store, session: "s" })).toMatchObject({ status: "done" });
    expect(removed).toEqual([]);
    const starts = (await store.read("s")).flatMap((fact) => (fact.type === "run_start" ? fact.policy : []));
    expect(starts.map(({ approvals, gate }) => [approvals, gate])).toEqual([
      ["deny", "strict"],
      ["deny", "strict"],
    ]);
  });

  it("keeps its own stricter policy and inherits the rest from its caller", async () => {
    const store = memory();
    const strict = { approvals: "deny", gate: "strict" } as const;
    const policy = { approvals: "allow", gate: "off" } as const;
    const policies = async (agent: Agent) => {
      const { sessionId } = await run(agent, "Go.", { store });
      const nested = (await store.read(sessionId)).findLast((fact) => fact.type === "run_start");
      return nested?.type === "run_start" && [nested.policy.approvals, nested.policy.gate];
    };
    expect(await policies(createCallerAgent({ steps: [{ text: "a" }], policy: strict }, { policy }))).toEqual(
      ["deny", "strict"],
    );
    expect(await policies(createCallerAgent({ steps: [{ text: "a" }] }, { policy }))).toEqual([
      "allow",
      "off",
    ]);
  });
});

describe("the end of a nested run", () => {
  const hanging = (begun: () => void): Tool =>
    createRemoveTool([], {
      needsApproval: () => false,
      execute: () => {
        begun();
        return new Promise(() => undefined);
      },
    });

  it("comes with the cancellation of its caller while it is running", async () => {
    const store = memory();
    const begun = Promise.withResolvers<void>();
    const agent = createCallerAgent({ steps: removes, tools: [hanging(begun.resolve)] });
    const handle = run(agent, "Go.", { store, session: "s" });
    await begun.promise;
    expect(await handle.cancel("enough")).toMatchObject({
      status: "cancelled",
      error: { message: "enough" },
    });
    const facts = await store.read("s");
    expect(listEnds(facts)).toEqual(["helper cancelled", "main cancelled"]);
    expect(facts.filter((fact) => fact.type === "tool_call_result").map((fact) => fact.status)).toEqual([
      "interrupted",
      "interrupted",
    ]);
  });

  it("comes with the cancellation of its caller while it waits, three levels deep", async () => {
    const store = memory();
    const deep = defineAgent({
      name: "deep",
      model: createReplayModel(removes),
      tools: [createRemoveTool()],
    });
    const agent = createCallerAgent({
      steps: [{ calls: [ask("Deeper.", "deep")] }],
      tools: [agentTool(deep)],
    });
    const handle = run(agent, "Go.", { store, session: "s" });
    expect((await handle).status).toBe("waiting");
    expect(await handle.cancel("enough")).toMatchObject({ status: "cancelled", pending: [] });
    const facts = await store.read("s");
    expect(listEnds(facts)).toEqual(["deep cancelled", "helper cancelled", "main cancelled"]);
    const calls = facts.filter((fact) => fact.type === "tool_call_result");
    expect(calls.map((fact) => `${fact.name} ${fact.status}`)).toEqual([
      "remove skipped",
      "deep interrupted",
      "helper interrupted",
    ]);
  });

  it("comes at its timeout, as a named failure of the call", async () => {
    const store = memory();
    const clock = fakeClock();
    const begun = Promise.withResolvers<void>();
    const tool = { timeoutMs: 1000 };
    const agent = createCallerAgent({ steps: removes, tools: [hanging(begun.resolve)] }, { tool });
    const handle = run(agent, "Go.", { store, session: "s", clock });
    await begun.promise;
    await clock.advance(1001);
    expect(await handle).toMatchObject({
      status: "done",
      text: 'It says: "helper" gave no result within 1000 ms.',
      toolCalls: [{ name: "helper", status: "error" }],
    });
    expect(listEnds(await store.read("s"))).toEqual(["helper cancelled", "main done"]);
  });

  it("at its own limit returns its partial answer with the named reason", async () => {
    const search = createRemoveTool([], { name: "search", needsApproval: () => false });
    const policy = { finalTurn: "keep-tools" } as const;
    const steps = Array.from({ length: 9 }, () => ({ text: "Searching.", calls: [{ name: "search" }] }));
    const agent = createCallerAgent({ steps, tools: [search], policy }, { tool: { maxTurns: 2 } });
    const { text, turns, toolCalls } = await run(agent, "Go.");
    expect(text).toContain('[The agent "helper" did not finish:');
    expect(text).toContain("(max_turns)]");
    expect([turns, toolCalls[0]?.status]).toEqual([2, "ok"]);
  });

  it("after a failure is an error of the call that is not retried", async () => {
    const store = memory();
    const agent = createCallerAgent({ steps: [{ error: "model_auth" }] });
    const result = await run(agent, "Go.", { store, session: "s" });
    expect(result.toolCalls).toMatchObject([{ name: "helper", status: "error", attempts: 1 }]);
    expect(result.text).toContain('The agent "helper" failed:');
    expect(listEnds(await store.read("s"))).toEqual(["helper failed", "main done"]);
  });

  it("comes as a refusal when agents are their own tools endlessly", async () => {
    const self: Agent = defineAgent({
      name: "self",
      model: createReplayModel([{ calls: [ask("Again.", "self")] }, { text: "Enough." }]),
      tools: () => [agentTool(self)],
    });
    const store = memory();
    expect(await run(self, "Go.", { store, session: "s" })).toMatchObject({
      status: "done",
      text: "Enough.",
    });
    const facts = await store.read("s");
    expect(listEnds(facts)).toHaveLength(8);
    expect(facts.find((fact) => fact.type === "tool_call_result")).toMatchObject({
      status: "error",
      result: expect.stringContaining("8 deep"),
    });
  });
});

describe("the budget of a run", () => {
  const spends = (tokens: number): ScriptedStep => ({
    text: "More.",
    calls: [{ name: "look" }],
    usage: { inputTokens: tokens, outputTokens: 0, cost: 0.01 },
  });
  const look = createRemoveTool([], { name: "look", effects: "none", needsApproval: () => false });

  it("for tokens is also spent by its nested runs, and ends them with a named reason", async () => {
    const agent = createCallerAgent(
      { steps: [spends(400), spends(400), spends(400)], tools: [look] },
      { policy: { budget: { tokens: 700 } } },
    );
    const store = memory();
    const result = await run(agent, "Go.", { store, session: "s" });
    expect(result).toMatchObject({
      status: "limit",
      error: { code: "budget_tokens" },
      usage: { inputTokens: 810, cost: 0.02 },
    });
    const [nested] = (await store.read("s")).filter((fact) => fact.type === "done");
    expect(nested).toMatchObject({ agent: "helper", status: "limit", error: { code: "budget_tokens" } });
  });

  it("for tool calls is shared by concurrent nested runs", async () => {
    const steps = Array.from({ length: 4 }, () => ({ calls: [{ name: "look" }] }));
    const helper = defineAgent({ name: "helper", model: createReplayModel(steps), tools: [look] });
    const model = createReplayModel([{ calls: [ask("a"), ask("b")] }, { text: "Done." }]);
    const agent = defineAgent({
      name: "main",
      model,
      tools: [agentTool(helper)],
      policy: { budget: { toolCalls: 5 } },
    });
    const store = memory();
    await run(agent, "Go.", { store, session: "s" });
    const begun = (await store.read("s")).filter(
      (fact) => fact.type === "tool_call_start" && fact.name === "look",
    );
    // Three calls remain for both; each may decide once before it knows about the other.
    expect([3, 4]).toContain(begun.length);
  });

  it("for time applies to nested runs and excludes waiting for the user", async () => {
    const clock = fakeClock();
    const agent = createCallerAgent(
      { steps: removes, tools: [createRemoveTool()] },
      { policy: { budget: { seconds: 10 } } },
    );
    const handle = run(agent, "Go.", { clock });
    expect((await handle).status).toBe("waiting");
    await clock.advance(100_000);
    expect(await handle.approve(nestedId)).toMatchObject({ status: "done", text: "It says: Gone." });
  });
});

describe("a nested run beside other features", () => {
  it("resumes from facts alone, without a store", async () => {
    const store = memory();
    const make = () => createCallerAgent({ steps: removes, tools: [createRemoveTool()] });
    await run(make(), "Go.", { store, session: "s", runId: "r" });
    const again = resume(make(), await store.read("s"));
    expect(await again.approve(nestedId)).toMatchObject({
      runId: "r",
      status: "done",
      text: "It says: Gone.",
    });
  });

  it("hands off within itself only", async () => {
    const store = memory();
    const clerk = defineAgent({ name: "clerk", model: scriptedModel([{ text: "By the clerk." }]) });
    const steps = [{ calls: [{ name: "handoff", input: { agent: "clerk" } }] }, { text: "Handed over." }];
    const agent = createCallerAgent({ steps, handoffs: [clerk] });
    const result = await run(agent, "Go.", { store, session: "s" });
    expect(result).toMatchObject({ status: "done", text: "It says: Handed over.", turns: 2 });
    const facts = await store.read("s");
    expect(
      facts.filter((fact) => fact.agent === "clerk").every((fact) => fact.parentCallId === "call_1_0"),
    ).toBe(true);
    expect(listEnds(facts)).toEqual(["helper done", "main done"]);
  });
});
