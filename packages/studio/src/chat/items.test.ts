import { type Agent, defineAgent, defineTool, type Event, type Fact, isFact, run } from "capstan";
import { viewOf } from "capstan/client";
import { type ScriptedStep, scriptedModel } from "capstan/testing";
import { expect, test } from "vitest";
import { factIndex } from "../connection/fact-index.ts";
import { type Item, itemsOf, keepItems } from "./items.ts";

const look = defineTool({ name: "look", description: "Looks", input: {}, execute: () => "seen" });

function agentOf(steps: readonly ScriptedStep[], policy: Agent["policy"] = {}): Agent {
  return defineAgent({ name: "helper", model: scriptedModel(steps), tools: [look], policy });
}

async function factsOf(agent: Agent): Promise<readonly Fact[]> {
  const events: Event[] = [];
  await run(agent, "Begin", { hooks: { onEvent: (event) => void events.push(event) } });
  return events.filter(isFact);
}

const itemsIn = (facts: readonly Fact[]): readonly Item[] => itemsOf(viewOf(facts), factIndex(facts));

test("a run is what was asked, its turns, and the last one is its answer", async () => {
  const items = itemsIn(await factsOf(agentOf([{ calls: [{ name: "look" }] }, { text: "Seen." }])));
  expect(items).toMatchObject([
    { type: "user", startSeq: 1 },
    { type: "assistant", isAnswer: false, entry: { calls: [{ name: "look", state: "ok" }] } },
    { type: "assistant", isAnswer: true, isOtherAgent: false, entry: { text: "Seen." } },
  ]);
});

test("a failed run has its error once, as an error", async () => {
  const items = itemsIn(await factsOf(agentOf([{ error: "invalid_input" }])));
  expect(items).toMatchObject([{ type: "user" }, { type: "end", status: "failed" }]);
});

test("a limit is told in a line, and what was found stays", async () => {
  const steps = Array.from({ length: 4 }, () => ({ calls: [{ name: "look" }] }));
  const items = itemsIn(await factsOf(agentOf(steps, { maxTurns: 1, finalTurn: "keep-tools" })));
  expect(items.map(({ type }) => type)).toContain("notice");
  expect(items.at(-1)).toMatchObject({ type: "end", status: "limit" });
});

test("estimates of usage are no part of the conversation", async () => {
  const items = itemsIn(await factsOf(agentOf([{ text: "Hello.", usage: null }])));
  expect(items.map(({ type }) => type)).toEqual(["user", "assistant"]);
});

test("what has not changed stays the same object when more is known", async () => {
  const facts = await factsOf(agentOf([{ calls: [{ name: "look" }] }, { text: "Seen." }]));
  const { entries } = viewOf(facts);
  const before = itemsOf({ entries: entries.slice(0, 2) }, factIndex(facts));
  const after = keepItems(before, itemsOf({ entries }, factIndex(facts)));
  expect(after[0]).toBe(before[0]);
  expect(after[1]).not.toBe(before[1]); // it was the last one, and is not any more
});
