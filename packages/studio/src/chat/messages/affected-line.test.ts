import { agentTool, defineAgent, defineTool, isFact, run } from "capstan";
import { buildView } from "capstan/client";
import { collect, scriptedModel } from "capstan/testing";
import { expect, test } from "vitest";
import { formatAffected } from "./affected-line.tsx";

test("affected items are counted, and items changed twice count once (S2-15)", () => {
  const blue = { nodes: [{ id: "cat1" }, { id: "cat2" }, { id: "cat3" }] };
  expect(formatAffected([blue])).toBe("3 nodes changed");
  expect(formatAffected([blue, { nodes: ["cat3", "dog1"], edges: [{ id: "e1" }] }])).toBe(
    "4 nodes and 1 edge changed",
  );
  expect(formatAffected([{ nodes: 2 }, { nodes: 1, edges: [], rows: 1 }])).toBe("3 nodes and 1 row changed");
  expect(formatAffected([["index", "index"], 2])).toBe("3 things changed");
  expect(formatAffected([{ nodes: [] }, {}, null, "much", { nodes: -3, edges: "all" }])).toBeUndefined();
});

test("the results of a run and its nested runs count together (S2-15)", async () => {
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
  const affected = [...buildView(facts).runs.values()].filter((run) => run.affected.length > 0);
  expect(affected.map(({ runId }) => runId)).toEqual([facts[0]?.runId]);
  expect(formatAffected(affected[0]?.affected ?? [])).toBe("4 nodes changed");
});
