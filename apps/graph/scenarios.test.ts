import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Entry, type Event, type ResultEntry, run } from "capstan";
import { nextStage, type Stage, stageOf } from "capstan/client";
import { memory } from "capstan/stores/memory";
import { collect, type Script, type ScriptedModel, type ScriptedStep, scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type GraphOptions, graph } from "./agent.ts";
import { toExecutionResult } from "./ai-events.ts";
import { policy } from "./define-graph-agent.ts";
import type { Network } from "./network.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "graph-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

type ScriptedRun = Awaited<ReturnType<typeof collect>> & { readonly model: ScriptedModel };

/** Runs one prompt with a scripted model. */
async function runScript(prompt: string, script: Script, options: GraphOptions = {}): Promise<ScriptedRun> {
  const model = scriptedModel(script);
  const agent = await graph({ model, folder, ...options });
  return { ...(await collect(run(agent, prompt, { store: memory() }))), model };
}

const createCall = (name: string, input: ScriptedInput = {}): ScriptedStep => ({ calls: [{ name, input }] });
type ScriptedInput = NonNullable<NonNullable<ScriptedStep["calls"]>[number]["input"]>;

const getResults = (history: readonly Entry[]): ResultEntry[] =>
  history.filter((entry) => entry.type === "result");
/** The last tool result as the model received it. */
const getLastResult = ({ model }: Pick<ScriptedRun, "model">): string =>
  String(getResults(model.requests.at(-1)?.history ?? []).at(-1)?.content);

type Picture = {
  readonly nodes: readonly { readonly id: string; readonly color?: string }[];
  readonly flash?: readonly string[];
  readonly replies?: readonly string[];
};
const getPictures = (events: readonly Event[]): Picture[] =>
  events.flatMap((event) =>
    event.type === "tool_call_result" && event.ui?.kind === "graph"
      ? [event.ui.props as unknown as Picture]
      : [],
  );

/** A graph with the given number of nodes. */
const createCrowd = (count: number): Network => ({
  name: "crowd",
  title: "A crowd",
  isDirected: false,
  nodes: Array.from({ length: count }, (_, n) => ({
    id: `n${n}`,
    data: { type: "person", name: `Person ${n}` },
  })),
  edges: [],
});

describe("how many nodes", () => {
  it("takes two model calls; the second one is the answer (S2-22, S2-44, S2-46)", async () => {
    const asked = await runScript("How many nodes are there?", [
      createCall("queryGraph", { query: "nodeCount" }),
      { text: "There are 20 nodes." },
    ]);
    expect(asked.result).toMatchObject({ status: "done", text: "There are 20 nodes.", turns: 2 });
    expect(asked.model.requests).toHaveLength(2);
    expect(asked.model.requests[1]?.history.map(({ type }) => type)).toEqual(["user", "assistant", "result"]);
    expect(JSON.parse(getLastResult(asked))).toEqual({
      success: true,
      message: "The graph has 20 nodes.",
      data: { nodeCount: 20 },
    });
  });

  it("can be followed by a question about the edges (S2-49)", async () => {
    const model = scriptedModel([
      createCall("queryGraph", { query: "nodeCount" }),
      { text: "There are 20 nodes." },
      createCall("queryGraph", { query: "edgeCount" }),
      { text: "And 30 edges." },
    ]);
    const options = { store: memory(), session: "s" };
    const agent = await graph({ model, folder });
    await run(agent, "How many nodes are there?", options);
    const result = await run(agent, "what about the edges?", options);
    expect(result.text).toBe("And 30 edges.");
    expect(model.requests[2]?.history.map(({ type }) => type)).toEqual([
      "user",
      "assistant",
      "result",
      "assistant",
      "user",
    ]);
    expect(JSON.parse(getLastResult({ model })).data).toEqual({ edgeCount: 30 });
  });

  it("is forgotten after each prompt with memory: run (S2-06, S2-40)", async () => {
    const model = scriptedModel([{ text: "One." }, { text: "Two." }]);
    const options = { store: memory(), session: "s" };
    const agent = await graph({ model, folder, memory: "run" });
    await run(agent, "First", options);
    await run(agent, "Second", options);
    expect(model.requests[1]?.history).toEqual([{ type: "user", content: "Second" }]);
  });
});

describe("sample nodes", () => {
  it("reach the model with names, ids and properties, and its text is the answer (S2-01, S2-02, S2-23)", async () => {
    const text = "1. Whiskers (cat1), a tabby\n2. Mittens (cat2), a persian\n3. Shadow (cat3), a siamese";
    const asked = await runScript("What are some sample nodes?", [
      createCall("sampleData", { target: "nodes", count: 3 }),
      { text },
    ]);
    expect(asked.result.text).toBe(text);
    const { message, data } = JSON.parse(getLastResult(asked));
    expect(message).toBe("Returned 3 node samples.");
    expect(data.nodes).toEqual([
      { id: "cat1", data: { type: "cat", name: "Whiskers", breed: "tabby", age: 5 } },
      { id: "cat2", data: { type: "cat", name: "Mittens", breed: "persian", age: 3 } },
      { id: "cat3", data: { type: "cat", name: "Shadow", breed: "siamese", age: 7 } },
    ]);
  });

  it("are backed by instructions to use the tool results (S2-48)", async () => {
    const { model } = await runScript("Hello", [{ text: "Hello." }]);
    const { instructions = "" } = model.requests[0] ?? {};
    expect(instructions).toContain("Use the tool results in your answer");
    expect(instructions).toContain("3 cat (name, breed, age)");
  });

  it("of 1,000 stay within 4000 characters of valid JSON that states how many are omitted (S2-29, S2-30, S2-40)", async () => {
    const asked = await runScript(
      "Show me 1000 sample nodes",
      [createCall("sampleData", { target: "nodes", count: 1000 }), { text: "Here are some." }],
      { graphs: { crowd: () => createCrowd(1000) } },
    );
    const content = getLastResult(asked);
    expect(content.length).toBeLessThanOrEqual(4000);
    expect(content.length).toBeGreaterThan(2000);
    const { success, data } = JSON.parse(content);
    expect({ success, total: data.total }).toEqual({ success: true, total: 1000 });
    expect(data.nodes[0]).toEqual({ id: "n0", data: { type: "person", name: "Person 0" } });
    expect(data.nodes.at(-1)).toMatch(/^… \d+ of 1,000 items shown$/);
  });
});

const cats = ["cat1", "cat2", "cat3"];

describe("find all cats and make them blue", () => {
  const script: Script = [
    createCall("findNodes", { selector: "type == 'cat'" }),
    createCall("styleNodes", { nodeIds: cats, color: "blue" }),
    { text: "I found 3 cats and made them blue: Whiskers, Mittens and Shadow." },
  ];

  it("takes three turns and draws the nodes in #0000ff (S2-24, S2-25, S2-56, S2-57)", async () => {
    const { result, events, model } = await runScript("Find all cats and make them blue", script);
    expect(result).toMatchObject({ status: "done", turns: 3 });
    expect(model.requests).toHaveLength(3);
    expect(result.toolCalls.map(({ name, status }) => [name, status])).toEqual([
      ["findNodes", "ok"],
      ["styleNodes", "ok"],
    ]);
    const found = getResults(model.requests[1]?.history ?? []).at(-1);
    expect(JSON.parse(String(found?.content)).data).toEqual({
      count: 3,
      nodes: [
        { id: "cat1", name: "Whiskers" },
        { id: "cat2", name: "Mittens" },
        { id: "cat3", name: "Shadow" },
      ],
      nodeIds: cats,
    });
    const [before, after] = getPictures(events);
    expect(before?.nodes.filter(({ color }) => color)).toEqual([]);
    expect(after?.nodes.filter(({ color }) => color).map(({ id, color }) => [id, color])).toEqual(
      cats.map((id) => [id, "#0000ff"]),
    );
    expect(after?.flash).toEqual(cats);
  });

  it("reports 3 affected nodes, as a count to the model and as ids in the result (S2-08, S2-15, S2-55)", async () => {
    const asked = await runScript("Find all cats and make them blue", script);
    expect(getLastResult(asked)).toContain('{\n  "success": true,\n  "message": ');
    expect(JSON.parse(getLastResult(asked))).toMatchObject({
      success: true,
      data: { styledCount: 3 },
      affectedNodes: 3,
    });
    expect(toExecutionResult(asked.result)).toEqual({
      success: true,
      message: "I found 3 cats and made them blue: Whiskers, Mittens and Shadow.",
      llmText: "I found 3 cats and made them blue: Whiskers, Mittens and Shadow.",
      affectedNodes: cats,
      affectedEdges: [],
    });
  });

  it("persists across a restart (S2-57)", async () => {
    const store = memory();
    const session = "s";
    await run(await graph({ model: scriptedModel(script), folder }), "Find all cats and make them blue", {
      store,
      session,
    });
    const model = scriptedModel([createCall("setLayout", { layout: "grid" }), { text: "In a grid." }]);
    const { events } = await collect(run(await graph({ model, folder }), "Use a grid", { store, session }));
    const [picture] = getPictures(events);
    expect(picture).toMatchObject({ layout: "grid" });
    expect(picture?.nodes.filter(({ color }) => color === "#0000ff").map(({ id }) => id)).toEqual(cats);
  });
});

describe("style all dogs red", () => {
  it("succeeds without a match, lists the types, and continues with the cats (S2-26)", async () => {
    const model = scriptedModel([
      createCall("findNodes", { selector: "type == 'dog'" }),
      {
        text: "There are no dogs. There are cats, humans, houses, toys and food: shall I color one of these?",
      },
      createCall("styleNodes", { selector: "type == 'cat'", color: "red" }),
      { text: "Whiskers, Mittens and Shadow are red now." },
    ]);
    const options = { store: memory(), session: "s" };
    const agent = await graph({ model, folder });
    const first = await collect(run(agent, "Style all dogs red", options));
    const { success, data } = JSON.parse(String(getResults(model.requests[1]?.history ?? [])[0]?.content));
    expect({ success, data }).toEqual({
      success: true,
      data: {
        nodeIds: [],
        count: 0,
        types: [
          { type: "human", count: 7 },
          { type: "house", count: 4 },
          { type: "toy", count: 4 },
          { type: "cat", count: 3 },
          { type: "food", count: 2 },
        ],
      },
    });
    expect(getPictures(first.events)[0]?.replies).toContain("yes, the cats");
    expect(first.result.affected).toEqual([]);
    const second = await run(agent, "yes, the cats", options);
    expect(second).toMatchObject({ status: "done", affected: [{ nodes: cats }] });
  });
});

describe("a model that never stops", () => {
  it.each<[what: string, script: Script]>([
    ["the same call", () => createCall("queryGraph", { query: "nodeCount" })],
    ["another call each time", (_, n) => createCall("sampleData", { count: n + 1 })],
  ])("with %s is called exactly 5 times, and the run fails with a named error (S2-05, S2-16, S2-27, S2-45)", async (_, script) => {
    const { result, model, events } = await runScript("Loop", script);
    expect(model.requests).toHaveLength(5);
    expect(model.requests.at(-1)?.tools).not.toEqual([]);
    expect(result).toMatchObject({ status: "failed", text: "Maximum tool iterations reached" });
    expect(toExecutionResult(result)).toMatchObject({
      success: false,
      message: "Maximum tool iterations reached",
    });
    expect(stageOf(events)).toBe("error");
  });

  it("can have a limit as low as 3, passing through every stage (S2-18, S2-39)", async () => {
    const model = scriptedModel((_, n) => createCall("sampleData", { count: n + 1 }));
    const agent = await graph({ model, folder });
    const { events, result } = await collect(
      run(agent, "Loop", { store: memory(), policy: { maxTurns: 3 } }),
    );
    expect(model.requests.map(({ history }) => getResults(history).length)).toEqual([0, 1, 2]);
    expect(result).toMatchObject({ status: "failed", text: "Maximum tool iterations reached", turns: 3 });
    const stages = collectStages(events);
    expect(stages).toEqual([
      "submitted",
      ...["streaming", "executing", "processing"],
      ...["streaming", "executing", "processing"],
      ...["streaming", "executing", "error"],
    ]);
  });
});

/** The visible stages, without repetitions. */
function collectStages(events: readonly Event[]): Stage[] {
  const stages: Stage[] = [];
  let stage: Stage = "idle";
  for (const event of events) {
    const next = nextStage(stage, event);
    if (next !== stage) stages.push(next);
    stage = next;
  }
  return stages;
}

describe("cancelling while a tool runs", () => {
  it("aborts the tool's signal, and every call has a result (S2-11, S2-54)", async () => {
    let heard: AbortSignal | undefined;
    const endless = (signal: AbortSignal): Promise<Network> => {
      heard = signal;
      running.cancel();
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    };
    const model = scriptedModel([createCall("openGraph", { name: "endless" }), { text: "Never said." }]);
    const graphs = { crowd: () => createCrowd(2), endless };
    const running = run(await graph({ model, folder, graphs }), "Open the endless graph", {
      store: memory(),
    });
    const result = await running;
    expect(result.status).toBe("cancelled");
    expect(heard?.aborted).toBe(true);
    expect(result.toolCalls).toMatchObject([{ name: "openGraph", status: "interrupted" }]);
    expect(model.requests).toHaveLength(1);
  });
});

describe("the options of the policy", () => {
  it("have this app's values (S2-05, S2-27, C-01, C-02, C-03, C-05)", async () => {
    expect(policy).toEqual({
      maxTurns: 5,
      wrapUpAt: 0,
      finalTurn: "keep-tools",
      onLimit: ["fail"],
      toolExecution: "sequential",
      retry: { maxAttempts: 1 },
      onAllToolsFailed: "continue",
      maxToolResultSize: 4000,
      repetition: { stopAt: 6 },
      memory: "session",
      requireToolFirst: false,
      summaries: false,
    });
    const agent = await graph({ model: scriptedModel([]), folder });
    expect(agent.policy).toEqual(policy);
  });

  it("can hide data, shrink results, limit memory, and drop old results (S2-28, S2-31, S2-40, C-11)", async () => {
    const model = scriptedModel([
      createCall("sampleData", { count: 20 }),
      { text: "Seen." },
      createCall("sampleData", { count: 20 }),
      { text: "Seen again." },
      { text: "Short." },
    ]);
    const agent = await graph({ model, folder });
    const options = { store: memory(), session: "s" };
    await run(agent, "Samples", { ...options, policy: { includeToolData: false } });
    expect(getResults(model.requests[1]?.history ?? [])[0]?.content).toBe("Returned 20 node samples.");
    await run(agent, "Samples", { ...options, policy: { maxToolResultSize: 500 } });
    const cut = String(getResults(model.requests[3]?.history ?? []).at(-1)?.content);
    expect(cut.length).toBeLessThanOrEqual(500);
    expect(() => JSON.parse(cut)).not.toThrow();
    await run(agent, "And now?", { ...options, policy: { historyLimit: 1 } });
    expect(model.requests[4]?.history.at(-1)).toEqual({ type: "user", content: "And now?" });
    expect(model.requests[4]?.history.length).toBeLessThan(model.requests[3]?.history.length ?? 0);
  });
});
