import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { identifyFact } from "../kernel/ids.ts";
import { defineTool } from "../kernel/tool.ts";
import { fold } from "../runtime/facts.ts";
import { resume, run } from "../runtime/run.ts";
import type { Store } from "../runtime/store.ts";
import { memory } from "../stores/memory.ts";
import { type ScriptedStep, scriptedModel } from "../testing/scripted-model.ts";
import { session } from "./session.ts";
import { sessions } from "./sessions.ts";

function createFixture() {
  const executions: string[] = [];
  const tool = (name: string, settings: object) =>
    defineTool({
      ...{ name, description: name, input: { type: "object" }, ...settings },
      execute() {
        executions.push(name);
        return "x".repeat(200);
      },
    });
  const tools = [
    tool("look", { effects: "none", maxResultSize: 90 }),
    tool("pay", { effects: "send", needsApproval: true }),
  ];
  const createAgent = (...steps: ScriptedStep[]) =>
    defineAgent({ name: "a", model: scriptedModel(steps), tools });
  return { executions, createAgent };
}

/** Records two runs, the first with a call whose result is in a blob. */
async function recordTwoRuns(store: Store) {
  const { createAgent, executions } = createFixture();
  const agent = createAgent({ calls: [{ name: "look" }] }, { text: "Much." }, { text: "Indeed." });
  await run(agent, "How much is it?", { store, session: "s1", runId: "r1" });
  await run(agent, "Really?", { store, session: "s1", runId: "r2" });
  return { createAgent, executions, facts: await store.read("s1") };
}

describe("a fork", () => {
  it("at any fact has the history up to there and continues from it, with every entry once (S4-60, S4-22)", async () => {
    const store = memory();
    const { createAgent, facts, executions } = await recordTwoRuns(store);
    for (const { seq } of facts) {
      const copy = await session(store, "s1").fork(seq);
      const forked = await copy.facts();
      expect(fold("s1", forked).history).toEqual(fold("s1", facts.slice(0, seq)).history);
      expect(forked.slice(0, seq).map(({ type, at }) => ({ type, at }))).toEqual(
        facts.slice(0, seq).map(({ type, at }) => ({ type, at })),
      );
      expect(await store.listOrphans()).toEqual([]);
      const last = (await copy.info()).runs.at(-1);
      const model = scriptedModel(() => ({ text: "On we go." }));
      const agent = { ...createAgent(), models: defineAgent({ name: "a", model }).models };
      const result =
        last?.status === "waiting"
          ? await resume(agent, { store, runId: last.runId })
          : await run(agent, "Go on.", { store, session: copy.id });
      expect(result.status).toBe("done");
      for (const { history } of model.requests)
        expect(new Set(history.map((entry) => JSON.stringify(entry))).size).toBe(history.length);
      const ids = (await copy.facts()).map(identifyFact);
      expect(new Set(ids).size).toBe(ids.length);
    }
    expect(executions.length).toBeGreaterThan(1);
    expect(await store.read("s1")).toEqual(facts);
  });

  it("has run ids derived from its session id, its own blobs, and a fork title", async () => {
    const store = memory();
    const { facts } = await recordTwoRuns(store);
    const copy = await session(store, "s1").fork(facts.length, { id: "s2" });
    const forked = await copy.facts();
    expect([...new Set(forked.map(({ runId }) => runId))]).toEqual(["s2.run1", "s2.run2"]);
    const again = JSON.stringify(forked).replaceAll("s2.run1", "r1").replaceAll("s2.run2", "r2");
    expect(JSON.parse(again.replaceAll('"s2"', '"s1"'))).toEqual(facts);
    expect(await store.getBlob("s2", "blob_1")).toEqual(await store.getBlob("s1", "blob_1"));
    expect((await copy.info()).title).toBe("How much is it? (fork)");
    expect((await (await copy.fork(1)).info()).title).toBe("How much is it? (fork)");
    await session(store, "s1").remove();
    expect(await copy.facts()).toEqual(forked);
  });

  it("can read results that a compaction has shortened, and so can an imported copy", async () => {
    const store = memory();
    const read = defineTool({
      ...{ name: "read", description: "Reads.", input: { type: "object" }, effects: "none" },
      ...{ maxResultSize: "unlimited", execute: () => "b".repeat(9000) },
    });
    const createReader = (...steps: ScriptedStep[]) => {
      const model = scriptedModel(steps.map((step) => ({ usage: null, ...step })));
      return defineAgent({ name: "a", model, tools: [read], policy: { contextBudget: 900 } });
    };
    await run(createReader({ calls: [{ name: "read" }] }, { text: "Read." }), "Go.", {
      store,
      session: "s1",
    });
    const facts = await store.read("s1");
    expect(facts.some((fact) => fact.type === "compacted" && fact.results)).toBe(true);
    const forked = await session(store, "s1").fork(facts.length);
    const elsewhere = memory();
    const imported = await sessions(elsewhere).import(await session(store, "s1").export("json"));
    for (const [copy, copyStore] of [
      [forked, store],
      [imported, elsewhere],
    ] as const) {
      const calls = [{ name: "read_result", input: { handle: "blob_1", length: 10 } }];
      const about = { store: copyStore, session: copy.id };
      const { toolCalls } = await run(createReader({ calls }, { text: "Read." }), "Go on.", about);
      expect(String(toolCalls[0]?.result)).toContain("of 9000");
    }
  });

  it("does not copy approvals: the call is refused and must be requested again", async () => {
    const store = memory();
    const { createAgent, executions } = createFixture();
    const original = run(createAgent({ calls: [{ id: "c1", name: "pay" }] }, { text: "Paid." }), "Pay.", {
      ...{ store, session: "s1", runId: "r1" },
    });
    await original;
    await original.approve("c1");
    expect(executions).toEqual(["pay"]);
    const facts = await store.read("s1");
    const approved = facts.find((fact) => fact.type === "approval_resolved")?.seq ?? 0;
    for (const at of [approved - 1, approved]) {
      const copy = await session(store, "s1").fork(at);
      const [forked] = (await copy.info()).runs;
      const again = createAgent({ calls: [{ id: "c2", name: "pay" }] }, { text: "Paid again." });
      const resumed = resume(again, { store, runId: forked?.runId ?? "" });
      expect((await resumed).pending.map(({ callId }) => callId)).toEqual(["c2"]);
    }
    expect(executions).toEqual(["pay"]);
  });

  it("rejects invalid positions and existing ids", async () => {
    const store = memory();
    const { facts } = await recordTwoRuns(store);
    for (const at of [0, facts.length + 1, 1.5])
      await expect(session(store, "s1").fork(at)).rejects.toMatchObject({
        code: "invalid_input",
        message: expect.stringContaining(`has no fact at ${at}`),
      });
    await expect(session(store, "s1").fork(1, { id: "s1" })).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining('Session "s1" already exists'),
    });
    expect(await store.read("s1")).toEqual(facts);
  });
});
