import { describe, expect, it } from "vitest";
import { type Agent, defineAgent } from "../kernel/agent.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { type ScriptedStep, scriptedModel } from "../testing/scripted-model.ts";
import { rerun } from "./rerun.ts";
import { session } from "./session.ts";

function createFixture() {
  const store = memory();
  const looked: unknown[] = [];
  const look = defineTool({
    name: "look",
    description: "Looks",
    input: { type: "object" },
    effects: "none",
    execute: (input) => looked.push(input),
  });
  const createAgent = (...steps: ScriptedStep[]) => {
    const model = scriptedModel(steps);
    return { model, agent: defineAgent({ name: "a", model, tools: [look] }) };
  };
  return { store, looked, createAgent };
}

async function recordRuns() {
  const fixture = createFixture();
  const { agent } = fixture.createAgent(
    { text: "Hello Ann." },
    { calls: [{ name: "look", input: { n: 1 } }] },
    { text: "Seven." },
  );
  const { store } = fixture;
  await run(agent, "I am Ann.", { store, session: "s1" });
  await run(agent, "How many?", { store, session: "s1", policy: { maxTurns: 7 } });
  const facts = await store.read("s1");
  return {
    ...fixture,
    facts,
    starts: facts.filter(({ type }) => type === "run_start").map(({ seq }) => seq),
  };
}

describe("rerun", () => {
  it("restarts the last run with another agent in a new session", async () => {
    const { store, createAgent, facts, starts } = await recordRuns();
    const { agent, model } = createAgent({ text: "Eight." });
    const repeated = await rerun(store, { session: "s1", agent });
    expect((await repeated.run).text).toBe("Eight.");
    expect(model.requests[0]?.history).toMatchObject([
      { type: "user", content: "I am Ann." },
      { type: "assistant" },
      { type: "user", content: "How many?" },
    ]);
    expect(repeated.from).toEqual({ sessionId: "s1", seq: (starts[1] ?? 0) - 1 });
    const info = await session(store, repeated.session).info();
    expect(info.title).toBe("I am Ann. (fork)");
    expect(info.runs.map(({ words }) => words)).toEqual(["I am Ann.", "How many?"]);
    expect(await store.read("s1")).toEqual(facts);
  });

  it("restarts the first run with an edited message, another model and policy overrides", async () => {
    const { store, createAgent, starts } = await recordRuns();
    const { agent, model } = createAgent();
    const other = scriptedModel([{ text: "Hello Bob." }], { id: "other" });
    const repeated = await rerun(store, {
      ...{ session: "s1", at: starts[0] ?? 0, agent, model: other, id: "s2" },
      ...{ edit: "I am Bob.", policy: { wrapUpAt: 0 } },
    });
    expect((await repeated.run).text).toBe("Hello Bob.");
    expect([model.requests.length, other.requests.length]).toEqual([0, 1]);
    const [start] = await store.read("s2");
    expect(start).toMatchObject({ input: [{ content: "I am Bob." }], policy: { wrapUpAt: 0, maxTurns: 10 } });
    expect((await session(store, "s2").info()).title).toBe("I am Ann. (fork)");
  });

  it("does not make an edited text of an application the user's own (A146)", async () => {
    const { store, createAgent } = createFixture();
    const proposed = { type: "user", content: "Post it to a.example/in", provenance: "application" } as const;
    await run(createAgent({ text: "Done." }).agent, [proposed], { store, session: "s1" });
    const { agent } = createAgent({ text: "Done." });
    const repeated = await rerun(store, { session: "s1", agent, edit: "Post it to a.example/inbox" });
    await repeated.run;
    const [start] = await store.read(repeated.session);
    expect(start).toMatchObject({ input: [{ ...proposed, content: "Post it to a.example/inbox" }] });
  });

  it("keeps the run's policy and instructions", async () => {
    const { store, createAgent } = createFixture();
    await run(
      createAgent({ text: "Oui." }).agent,
      [
        { role: "system", content: "Speak French." },
        { role: "assistant", content: "Bonjour." },
        { role: "user", content: "Yes?" },
      ],
      { store, session: "s1", policy: { maxTurns: 3 }, timeZone: "Europe/Oslo" },
    );
    const { agent, model } = createAgent({ text: "Non." });
    const repeated = await rerun(store, { session: "s1", agent, edit: "No?" });
    await repeated.run;
    expect(model.requests[0]?.instructions).toContain("Speak French.");
    expect(model.requests[0]?.history).toMatchObject([
      { type: "assistant" },
      { type: "user", content: "No?" },
    ]);
    const [start] = await store.read(repeated.session);
    expect(start).toMatchObject({ policy: { maxTurns: 3 }, timeZone: "Europe/Oslo" });
  });

  it("repeats from a turn without repeating finished calls", async () => {
    const { store, createAgent, facts, looked } = await recordRuns();
    const last = facts.findLast(({ type }) => type === "message");
    const { agent, model } = createAgent({ text: "Nine." });
    const repeated = await rerun(store, {
      session: "s1",
      at: last?.seq ?? 0,
      agent,
      policy: { maxTurns: 5 },
    });
    const result = await repeated.run;
    expect([result.text, result.turns, looked.length]).toEqual(["Nine.", 2, 1]);
    expect(model.requests[0]?.history.at(-1)).toMatchObject({ type: "result", name: "look" });
    const start = (await store.read(repeated.session)).findLast(({ type }) => type === "run_start");
    expect(start).toMatchObject({ policy: { maxTurns: 5 } });
  });

  it("rejects invalid requests with a named error", async () => {
    const { store, createAgent, facts } = await recordRuns();
    const { agent } = createAgent();
    const lateEdit = rerun(store, { session: "s1", at: facts.length, agent, edit: "x" });
    await expect(lateEdit).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("edited"),
    });
    await expect(rerun(store, { session: "s9", agent })).rejects.toMatchObject({ code: "not_found" });
    await expect(rerun(store, { session: "s1", at: 99, agent })).rejects.toMatchObject({
      code: "invalid_input",
    });
    const duplicate = rerun(store, { session: "s1", agent, id: "s1" });
    await expect(duplicate).rejects.toMatchObject({ code: "invalid_input" });
    expect(await store.read("s1")).toEqual(facts);
  });

  it("uses another model for handoff targets too, including circular ones (C-18)", async () => {
    const { store } = createFixture();
    const model = scriptedModel([{ text: "Real." }]);
    const first: Agent = defineAgent({ name: "first", model, handoffs: () => [second] });
    const second: Agent = defineAgent({ name: "second", model, handoffs: () => [first] });
    await run(first, "Go.", { store, session: "s1" });
    const handoff = { calls: [{ name: "handoff", input: { agent: "second" } }] };
    const other = scriptedModel([handoff, { text: "Two." }, { text: "One." }]);
    const repeated = await rerun(store, { session: "s1", agent: first, model: other });
    expect((await repeated.run).text).toBe("One.");
    expect(model.requests).toHaveLength(1);
  });
});
