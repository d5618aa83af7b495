import { type Agent, agentTool, defineAgent, defineTool, type Event, type Fact, isFact, run } from "capstan";
import { buildView } from "capstan/client";
import { memory } from "capstan/stores/memory";
import { type ScriptedStep, scriptedModel } from "capstan/testing";
import { expect, test } from "vitest";
import { buildItems, type Item, reuseItems } from "./build-items.ts";
import { findFactLocation } from "./find-fact-location.ts";

const look = defineTool({ name: "look", description: "Looks", input: {}, execute: () => "seen" });

function createTestAgent(steps: readonly ScriptedStep[], policy: Agent["policy"] = {}): Agent {
  return defineAgent({ name: "helper", model: scriptedModel(steps), tools: [look], policy });
}

async function collectRunFacts(agent: Agent): Promise<readonly Fact[]> {
  const events: Event[] = [];
  await run(agent, "Begin", { hooks: { onEvent: (event) => void events.push(event) } });
  return events.filter(isFact);
}

const buildItemsFromFacts = (facts: readonly Fact[]): readonly Item[] => buildItems(buildView(facts));

test("a run has its question, its turns, and the last one is its answer", async () => {
  const items = buildItemsFromFacts(
    await collectRunFacts(createTestAgent([{ calls: [{ name: "look" }] }, { text: "Seen." }])),
  );
  expect(items).toMatchObject([
    { type: "user", startSeq: 1 },
    { type: "assistant", isAnswer: false, entry: { calls: [{ name: "look", state: "ok" }] } },
    { type: "assistant", isAnswer: true, isNamed: false, entry: { text: "Seen." } },
  ]);
});

test("the answer of a specialist is shown once if the agent that asked repeats it word for word", async () => {
  const handoff = { calls: [{ name: "handoff", input: { agent: "expert", message: "Compare." } }] };
  const ask = async (answer: string) => {
    const expert = defineAgent({ name: "expert", model: scriptedModel([{ text: "Both fit." }]) });
    const model = scriptedModel([handoff, { text: answer }]);
    return buildItemsFromFacts(
      await collectRunFacts(defineAgent({ name: "helper", model, handoffs: [expert] })),
    ).filter(({ type }) => type === "assistant");
  };
  expect((await ask("Both fit."))[1]).toMatchObject({ passedOnBy: "helper", entry: { text: "Both fit." } });
  expect((await ask("Take either."))[1]).not.toHaveProperty("passedOnBy");
});

test("a failed run shows its error once", async () => {
  const items = buildItemsFromFacts(await collectRunFacts(createTestAgent([{ error: "invalid_input" }])));
  expect(items).toMatchObject([{ type: "user" }, { type: "end", status: "failed" }]);
});

test("a run that failed because of its model can be retried, and then shows that it was", async () => {
  const store = memory();
  const agent = createTestAgent([{ error: "model_auth" }, { text: "Seen." }]);
  const handle = run(agent, "Begin", { store, session: "s" });
  await handle;
  expect(buildItemsFromFacts(await store.read("s")).at(-1)).toMatchObject({ type: "end", canRetry: true });
  await handle.retry();
  expect(buildItemsFromFacts(await store.read("s"))).toMatchObject([
    { type: "user" },
    { type: "notice", entry: { code: "retried" } },
    { type: "assistant", isAnswer: true, entry: { text: "Seen." } },
  ]);
});

test("a limit is shown in one line, and the results stay", async () => {
  const steps = Array.from({ length: 4 }, () => ({ calls: [{ name: "look" }] }));
  const items = buildItemsFromFacts(
    await collectRunFacts(createTestAgent(steps, { maxTurns: 1, finalTurn: "keep-tools" })),
  );
  expect(items.map(({ type }) => type)).toContain("notice");
  expect(items.at(-1)).toMatchObject({ type: "end", status: "limit" });
});

test("an answer without successful tool calls is marked (C-08)", async () => {
  const items = buildItemsFromFacts(
    await collectRunFacts(createTestAgent([{ calls: [{ name: "nobody" }] }, { text: "I believe so." }])),
  );
  expect(items.at(-1)).toMatchObject({ type: "ungrounded" });
});

test("usage estimates are not part of the conversation", async () => {
  const items = buildItemsFromFacts(
    await collectRunFacts(createTestAgent([{ text: "Hello.", usage: null }])),
  );
  expect(items.map(({ type }) => type)).toEqual(["user", "assistant"]);
});

test("unchanged items stay the same objects", async () => {
  const facts = await collectRunFacts(createTestAgent([{ calls: [{ name: "look" }] }, { text: "Seen." }]));
  const { entries, runs } = buildView(facts);
  const before = buildItems({ entries: entries.slice(0, 2), runs });
  const after = reuseItems(before, buildItems({ entries, runs }));
  expect(after[0]).toBe(before[0]);
  expect(after[1]).not.toBe(before[1]); // it was the last one, and is not any more
});

test("an item has the position of its fact, and every fact has an item", async () => {
  const nested = agentTool(createTestAgent([{ calls: [{ name: "look" }] }, { text: "Seen." }]), {
    name: "ask",
  });
  const model = scriptedModel([
    { text: "I ask.", calls: [{ name: "ask", input: { prompt: "Look" } }] },
    { calls: [{ name: "look" }] },
    { calls: [{ name: "look", input: { again: true } }] },
  ]);
  const policy = { maxTurns: 2, finalTurn: "keep-tools" } as const;
  const facts = await collectRunFacts(defineAgent({ name: "asker", model, tools: [look, nested], policy }));
  const items = buildItemsFromFacts(facts);
  const factAt = (seq: number) => facts.find((fact) => fact.seq === seq);
  expect(items.map(({ type, seq }) => `${type} ${factAt(seq)?.type}`)).toMatchInlineSnapshot(`
    [
      "user run_start",
      "assistant message",
      "assistant message",
      "notice limit_reached",
      "assistant done",
      "end done",
    ]
  `);
  const placed = facts.map(({ seq }) => findFactLocation(items, facts, seq)?.index);
  expect(placed.every((at, place) => at !== undefined && at >= (placed[place - 1] ?? 0))).toBe(true);
  const inside = facts.find(
    ({ type, parentRunId }) => type === "tool_call_start" && parentRunId !== undefined,
  );
  const place = findFactLocation(items, facts, inside?.seq ?? 0);
  expect(items[place?.index ?? -1]).toMatchObject({ type: "assistant", entry: { text: "I ask." } });
  expect(place?.callId).toBe(inside?.type === "tool_call_start" && inside.id);
});

test("in a run with several agents, each turn shows its agent (S3-28)", async () => {
  const desk = (steps: readonly ScriptedStep[], handoffs: readonly Agent[] = []) =>
    defineAgent({ name: handoffs.length > 0 ? "desk" : "research", model: scriptedModel(steps), handoffs });
  const agent = desk(
    [{ calls: [{ name: "handoff", input: { agent: "research", message: "Look" } }] }, { text: "Answer." }],
    [desk([{ text: "Found." }])],
  );
  const said = buildItemsFromFacts(await collectRunFacts(agent)).filter((item) => item.type === "assistant");
  expect(said.map(({ isNamed, entry }) => [isNamed, entry.agent])).toEqual([
    [true, "desk"],
    [true, "research"],
    [true, "desk"],
  ]);
});
