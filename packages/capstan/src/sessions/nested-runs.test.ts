import { describe, expect, it } from "vitest";
import { agentTool } from "../features/nested/agent-tool.ts";
import { type Agent, defineAgent } from "../kernel/agent.ts";
import { type Event, isFact } from "../kernel/event.ts";
import { defineTool } from "../kernel/tool.ts";
import { fold } from "../runtime/facts.ts";
import { resume, run } from "../runtime/run.ts";
import type { Store } from "../runtime/store.ts";
import { memory } from "../stores/memory.ts";
import { sqlite } from "../stores/sqlite/sqlite.ts";
import { type ScriptedStep, scriptedModel } from "../testing/scripted-model.ts";
import { importSession } from "./import-session.ts";
import { rerun } from "./rerun.ts";
import { session } from "./session.ts";
import { subscribe } from "./subscribe.ts";

function scriptTwoSteps(steps: readonly ScriptedStep[]): ReturnType<typeof scriptedModel> {
  return scriptedModel(({ history }) => {
    const lastUserIndex = history.findLastIndex((entry) => entry.type === "user");
    return steps[history.length === lastUserIndex + 1 ? 0 : 1] ?? {};
  });
}

/** The helper's `send` tool needs approval. */
function createAgents(sent: string[] = []): Agent {
  const send = defineTool({
    name: "send",
    description: "sends",
    effects: "send",
    needsApproval: true,
    input: { type: "object", properties: {} },
    execute: (_, { callId }) => `${sent.push(callId)} sent`,
  });
  const helper = defineAgent({
    name: "helper",
    model: scriptTwoSteps([{ calls: [{ name: "send", input: {} }] }, { text: "It was sent." }]),
    tools: [send],
  });
  const model = scriptTwoSteps([
    { calls: [{ name: "helper", input: { prompt: "Send." } }] },
    { text: "All is sent." },
  ]);
  return defineAgent({ name: "main", model, tools: [agentTool(helper)] });
}

const callId = "call_1_0.call_1_0";

async function playRun(store: Store): Promise<void> {
  const handle = run(createAgents(), "Send it.", { store, session: "s", runId: "r" });
  await handle;
  await handle.approve(callId);
}

async function listEvents(events: AsyncIterable<Event>): Promise<Event[]> {
  const all: Event[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe("a session with nested runs", () => {
  it("counts as one run, with its cost counted once", async () => {
    const store = memory();
    await playRun(store);
    const { runs, usage, title } = await session(store, "s").info();
    expect(runs).toMatchObject([{ runId: "r", agent: "main", status: "done", turns: 2 }]);
    expect([usage, title]).toEqual([{ inputTokens: 40, outputTokens: 20 }, "Send it."]);
    expect(await session(store, "s").export("markdown")).toContain("It was sent.");
  });

  it("is one run in SQLite too: nested runs are not listed or taken over", async () => {
    const store = sqlite(":memory:");
    await playRun(store);
    expect((await store.listRuns("s")).map(({ runId, state }) => [runId, state])).toEqual([["r", "ended"]]);
    const facts = await store.read("s");
    const half = sqlite(":memory:");
    const lease = await half.lease("s", "dead", 10_000);
    if (!lease) throw new Error("taken");
    const cut = facts.findIndex((fact) => fact.type === "approval_resolved") + 1;
    await half.append(facts.slice(0, cut), { expected: 0, lease });
    await half.release(lease);
    expect((await half.listOrphans()).map(({ runId }) => runId)).toEqual(["r"]);
    await Promise.all([store.close(), half.close()]);
  });

  it("streams nested events to subscribers until the root run ends", async () => {
    const store = memory();
    await playRun(store);
    const facts = await store.read("s");
    expect(await listEvents(subscribe(store, { runId: "r" }))).toEqual(facts);
    for (const { seq } of facts)
      expect(await listEvents(subscribe(store, { runId: "r", after: seq }))).toEqual(facts.slice(seq));
  });

  it("is replayed with nested events and their parents", async () => {
    const store = memory();
    await playRun(store);
    const events = await listEvents(session(store, "s").replay({ runId: "r", deltas: true }));
    expect(events.filter(isFact)).toEqual(await store.read("s"));
    const helperDeltas = events.filter((event) => event.type === "content_delta" && event.agent === "helper");
    expect(helperDeltas).toMatchObject([{ runId: "r~call_1_0", parentRunId: "r", parentCallId: "call_1_0" }]);
  });

  it("survives export and import, with new ids when its own are taken", async () => {
    const store = memory();
    await playRun(store);
    const file = await session(store, "s").export("json");
    const id = await importSession(store, file);
    const facts = await store.read(id);
    expect(facts.map((fact) => fact.type)).toEqual((await store.read("s")).map((fact) => fact.type));
    const [outer] = await store.listRuns(id);
    const nested = facts.filter((fact) => fact.parentRunId !== undefined);
    expect(new Set(nested.map((fact) => fact.runId))).toEqual(new Set([`${outer?.runId}~call_1_0`]));
    expect(new Set(nested.map((fact) => fact.parentRunId))).toEqual(new Set([outer?.runId]));
    const toWords = (entries: readonly object[]) =>
      entries.map((entry) => ({ ...entry, provenance: undefined, reads: undefined }));
    expect(toWords(fold(id, facts).history)).toEqual(toWords(fold("s", await store.read("s")).history));
  });

  it("imported while a nested run waits, makes none of the open calls", async () => {
    const store = memory();
    await run(createAgents(), "Send it.", { store, session: "s", runId: "r" });
    const other = memory();
    await importSession(other, await session(store, "s").export("json"));
    const sent: string[] = [];
    const handle = resume(createAgents(sent), { store: other, runId: "r" });
    expect((await handle).toolCalls).toMatchObject([{ name: "helper", status: "denied" }]);
    expect([(await handle).status, sent]).toEqual(["done", []]);
  });

  it("cannot be imported with facts of a nested run that never started", async () => {
    const store = memory();
    await playRun(store);
    const file = JSON.parse(await session(store, "s").export("json"));
    const at = file.facts.findIndex((fact: Event) => fact.parentRunId !== undefined);
    file.facts.splice(at, 1);
    for (const [index, fact] of file.facts.entries()) fact.seq = index + 1;
    await expect(importSession(memory(), JSON.stringify(file))).rejects.toThrow(
      "does not belong to an active nested run",
    );
  });

  it("forked at any fact, suspends and finishes without old approvals", async () => {
    const store = memory();
    await playRun(store);
    const facts = await store.read("s");
    for (const { seq } of facts) {
      const fork = await session(store, "s").fork(seq);
      expect((await store.listRuns(fork.id)).map((info) => info.state)).not.toContain("active");
      const sent: string[] = [];
      const [info] = await store.listRuns(fork.id);
      const handle = resume(createAgents(sent), { store, runId: info?.runId ?? "" });
      let result = await handle;
      const wasOver = facts.slice(0, seq).some((fact) => fact.type === "tool_call_result");
      expect(sent).toEqual([]);
      if (result.status === "waiting") result = await handle.approve(result.pending[0]?.callId ?? "");
      expect([seq, result.status, result.text]).toEqual([seq, "done", "All is sent."]);
      if (wasOver) expect(sent).toEqual([]);
    }
  });

  it("reruns from a turn of the root run, also from a nested fact", async () => {
    const store = memory();
    await playRun(store);
    const facts = await store.read("s");
    const nestedFact = facts.find((fact) => fact.parentRunId !== undefined && fact.type === "turn_start");
    const repeated = await rerun(store, { session: "s", at: nestedFact?.seq ?? 0, agent: createAgents() });
    expect(repeated.from.seq).toBe(1);
    expect(await repeated.run).toMatchObject({ status: "waiting", pending: [{ name: "send" }] });
  });
});
