import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agentTool } from "../features/nested/agent-tool.ts";
import { type Agent, defineAgent } from "../kernel/agent.ts";
import { defineTool } from "../kernel/tool.ts";
import type { Store } from "../runtime/store.ts";
import { memory } from "../stores/memory.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { local } from "./local.ts";

const opened: { close(): Promise<void> }[] = [];
let gate = Promise.withResolvers<string>();
beforeEach(() => {
  gate = Promise.withResolvers();
});
afterEach(async () => {
  gate.resolve("A vein."); // an engine closes after the current step
  for (const engine of opened.splice(0)) await engine.close();
});

function openEngine(store: Store, agents: Agent): ReturnType<typeof local> {
  const engine = local({ store, agents });
  opened.push(engine);
  return engine;
}

/** `main` starts a digger, which waits for the gate, and a caller, whose model is overloaded once. */
function createAgents(...calls: readonly string[]): Agent {
  const dig = defineTool({
    name: "dig",
    description: "Digs.",
    input: { type: "object", properties: {} },
    effects: "none",
    execute: () => gate.promise,
  });
  const digger = defineAgent({
    name: "digger",
    model: scriptedModel(({ history }) =>
      history.length === 1 ? { calls: [{ name: "dig", input: {} }] } : { text: "Gold." },
    ),
    tools: [dig],
  });
  const caller = defineAgent({
    name: "caller",
    model: scriptedModel([{ error: "model_overloaded" }, { text: "Nobody answers." }]),
    policy: { modelRetry: { attempts: 1, minMs: 1, maxMs: 10 } },
  });
  const model = scriptedModel(({ history }) =>
    history.length === 1
      ? { calls: calls.map((name) => ({ name, input: { prompt: "Go." } })) }
      : { text: "Over." },
  );
  const tools = [agentTool(digger, { background: true }), agentTool(caller, { background: true })];
  return defineAgent({ name: "main", model, tools });
}

const listEnds = async (store: Store) =>
  (await store.read("s")).flatMap((fact) => (fact.type === "done" ? [`${fact.agent} ${fact.status}`] : []));
const hasStarted = async (store: Store) =>
  (await store.read("s")).some((fact) => fact.type === "tool_call_start" && fact.name === "dig");

describe("background work under an engine", () => {
  it("is released when the process shuts down, and another process finishes it (F74)", async () => {
    const store = memory();
    const agent = createAgents("digger");
    const first = openEngine(store, agent);
    await first.enqueue(agent, "Go.", { session: "s", runId: "r" });
    await expect.poll(() => hasStarted(store)).toBe(true);
    const closing = first.close();
    gate.resolve("A vein.");
    await closing;
    expect(await listEnds(store)).toEqual([]);
    const second = openEngine(store, createAgents("digger"));
    expect(await second.open("r")).toMatchObject({ status: "done", text: "Over." });
    expect(await listEnds(store)).toEqual(["digger done", "main done"]);
    expect((await store.read("s")).filter((fact) => fact.type === "tool_call_start")).toHaveLength(2);
  });

  it("that waits for its provider resumes on time while other work goes on", async () => {
    const store = memory();
    const agent = createAgents("digger", "caller");
    const engine = openEngine(store, agent);
    await engine.enqueue(agent, "Go.", { session: "s", runId: "r" });
    await expect.poll(() => hasStarted(store)).toBe(true);
    await expect.poll(() => listEnds(store)).toEqual(["caller done"]);
    gate.resolve("A vein.");
    expect(await engine.open("r")).toMatchObject({ status: "done" });
    expect(await listEnds(store)).toEqual(["caller done", "digger done", "main done"]);
  });
});

it("a run whose last background work ends while it looks for messages does not suspend", async () => {
  const store = memory();
  const hasEnded = async () => (await listEnds(store)).includes("digger done");
  const isAnswered = async () =>
    (await store.read("s")).some((fact) => fact.type === "turn_end" && fact.turn === 2);
  const slowStore: Store = {
    ...store,
    async listMessages(runId) {
      const messages = await store.listMessages(runId);
      if (await isAnswered()) {
        gate.resolve("A vein.");
        await expect.poll(hasEnded).toBe(true);
      }
      return messages;
    },
  };
  const agent = createAgents("digger");
  const result = await openEngine(slowStore, agent).run(agent, "Go.", { session: "s", runId: "r" });
  expect(result).toMatchObject({ status: "done", turns: 3 });
  const waits = (await store.read("s")).filter(({ type, runId }) => type === "waiting" && runId === "r");
  expect(waits).toEqual([]);
});
