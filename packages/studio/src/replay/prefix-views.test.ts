import { defineAgent, defineTool, type Fact, isFact, run } from "capstan";
import { buildView, stageOf } from "capstan/client";
import { memory } from "capstan/stores/memory";
import { collect, scriptedModel } from "capstan/testing";
import { assert, integer, property } from "fast-check";
import { expect, it } from "vitest";
import { createPrefixViews } from "./prefix-views.ts";
import { findTurnStarts } from "./replay-steps.ts";

const look = defineTool({
  name: "look",
  description: "Looks",
  input: { type: "object" },
  effects: "none",
  execute: () => ({ content: "seen", ui: { kind: "graph", props: { nodes: [{ id: "a" }], edges: [] } } }),
});

async function collectRunFacts(): Promise<Fact[]> {
  const store = memory();
  const model = scriptedModel((request) =>
    request.history.at(-1)?.type === "user"
      ? { calls: [{ name: "look" }, { name: "look" }] }
      : { text: "Seen." },
  );
  const agent = defineAgent({ name: "a", model, tools: [look] });
  const all: Fact[] = [];
  for (let count = 0; count < 30; count++)
    all.push(...(await collect(run(agent, `Go ${count}`, { store, session: "s" }))).events.filter(isFact));
  return all;
}

it("any moment equals the fold of its facts, in whatever order moments are visited (S1-34)", async () => {
  const all = await collectRunFacts();
  expect(all.length).toBeGreaterThan(250);
  const views = createPrefixViews(all, () => buildView(all));
  assert(
    property(integer({ min: 0, max: all.length }), (count) => {
      expect(views.getView(count)).toEqual(buildView(all.slice(0, count)));
      const ended = all.slice(0, count).filter(({ type }) => type === "done").length;
      const { runs, hints: drawn, stage } = views.getView(count);
      const endedRuns = [...runs.values()].filter(({ end }) => end !== undefined);
      const hints = all.slice(0, count).filter((fact) => fact.type === "tool_call_result" && fact.ui).length;
      expect([endedRuns.length, drawn.length]).toEqual([ended, hints]);
      expect(stage).toBe(stageOf(all.slice(0, count)));
    }),
    { numRuns: 60 },
  );
});

it("turns start at run_start and turn_start, and a fork keeps everything before", async () => {
  const all = (await collectRunFacts()).slice(0, 14);
  const starts = findTurnStarts(all);
  expect(starts.map((at) => all[at]?.type)).toEqual([
    "run_start",
    "turn_start",
    "turn_start",
    "run_start",
    "turn_start",
  ]);
});
