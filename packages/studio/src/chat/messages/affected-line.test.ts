import { agentTool, defineAgent, defineTool, isFact, run } from "capstan";
import { collect, scriptedModel } from "capstan/testing";
import { expect, test } from "vitest";
import { getFactIndex } from "../../data/fact-index.ts";
import { formatAffected } from "./affected-line.tsx";

test("what results have affected is counted in words, and what was changed twice once (S2-15)", () => {
  const blue = { nodes: [{ id: "cat1" }, { id: "cat2" }, { id: "cat3" }] };
  expect(formatAffected([blue])).toBe("3 nodes changed");
  expect(formatAffected([blue, { nodes: ["cat3", "dog1"], edges: [{ id: "e1" }] }])).toBe(
    "4 nodes and 1 edge changed",
  );
  expect(formatAffected([{ nodes: 2 }, { nodes: 1, edges: [], rows: 1 }])).toBe("3 nodes and 1 row changed");
  expect(formatAffected([["index", "index"], 2])).toBe("3 things changed");
  expect(formatAffected([{ nodes: [] }, {}, null, "much", { nodes: -3, edges: "all" }])).toBeUndefined();
});

test("the results of a run count together, with those of an agent that was called (S2-15)", async () => {
  const style = defineTool({
    ...{ name: "style", description: "Styles nodes", input: { ids: { type: "array" } }, effects: "state" },
    execute: (input) => ({
      ...{ success: true, message: "Styled" },
      affectedNodes: (input as { ids: string[] }).ids,
    }),
  });
  const call = (...ids: string[]) => ({ name: "style", input: { ids } });
  const helper = scriptedModel([{ calls: [call("b", "c")] }, { text: "Done." }]);
  const inner = agentTool(defineAgent({ name: "helper", model: helper, tools: [style] }));
  const model = scriptedModel([
    { calls: [call("a"), { name: "helper", input: { prompt: "The others" } }] },
    { calls: [call("a", "d")] },
    { text: "All are blue." },
  ]);
  const { events } = await collect(
    run(defineAgent({ name: "outer", model, tools: [style, inner], policy: { gate: "off" } }), "Go"),
  );
  const facts = events.filter(isFact);
  const { affected } = getFactIndex(facts);
  expect([...affected.keys()]).toEqual([facts[0]?.runId]);
  expect(formatAffected(affected.get(facts[0]?.runId ?? "") ?? [])).toBe("4 nodes changed");
});
