import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolHarness, type ToolHarness } from "../testing/tool-harness.ts";
import { clearStyles } from "./change-view.ts";
import { styleEdges } from "./style-edges.ts";
import { styleNodes } from "./style-nodes.ts";

let harness: ToolHarness;
beforeEach(() => {
  harness = createToolHarness();
});
afterEach(() => harness.close());

describe("styleNodes", () => {
  it.each<[by: string, input: { readonly nodeIds: readonly string[] } | { readonly selector: string }]>([
    ["ids", { nodeIds: ["cat1", "cat2", "cat3"] }],
    ["names", { nodeIds: ["Whiskers", "mittens", "Shadow"] }],
    ["a selector", { selector: "type == 'cat'" }],
  ])("colors nodes by %s, in the picture too (S2-24, S2-33, S2-55, S2-56, S2-57)", async (_, picked) => {
    const result = await harness.call(styleNodes(harness.context), { ...picked, color: "blue" });
    expect(result).toMatchObject({
      message: "Colored 3 nodes blue.",
      data: { styledCount: 3, color: "blue", nodes: [{ name: "Whiskers" }, { name: "Mittens" }, {}] },
      affected: { nodes: ["cat1", "cat2", "cat3"] },
      ui: { kind: "graph", props: { flash: ["cat1", "cat2", "cat3"] } },
    });
    expect(JSON.parse(String(result.content))).toMatchObject({ success: true, affectedNodes: 3 });
  });

  it("keeps existing colors (S2-57)", async () => {
    const tool = styleNodes(harness.context);
    await harness.call(tool, { selector: "type == 'cat'", color: "#F00" });
    const { nodes } = await harness.getPicture(tool, { nodeIds: ["toy1"], color: "#00ff00" });
    expect(nodes.flatMap(({ id, color }) => (color ? [`${id} ${color}`] : []))).toEqual([
      "cat1 #ff0000",
      "cat2 #ff0000",
      "cat3 #ff0000",
      "toy1 #00ff00",
    ]);
  });

  it("succeeds without coloring anything if nothing matches (S2-26)", async () => {
    const result = await harness.call(styleNodes(harness.context), {
      selector: "type == 'dog'",
      color: "red",
    });
    expect(result).toMatchObject({
      data: { styledCount: 0 },
      message: expect.stringContaining("Nothing was colored"),
    });
    expect([result.error, result.affected]).toEqual([undefined, undefined]);
  });

  it("refuses an unknown color, an unknown node, or a missing selection (S2-55, S2-56)", async () => {
    const tool = styleNodes(harness.context);
    const getError = async (input: { readonly [name: string]: string | readonly string[] }) =>
      (await harness.call(tool, { color: "blue", ...input })).error;
    expect(await getError({ selector: "*", color: "bleu" })).toMatch(
      /"bleu" is not a known color.* Did you mean "blue"/,
    );
    expect(await getError({ nodeIds: ["dog1"] })).toMatch(/Node "dog1" not found/);
    expect(await getError({})).toMatch(/Specify the nodes/);
  });
});

describe("styleEdges", () => {
  it("colors edges by a selector, which can name their ends (S2-55, S2-56)", async () => {
    const tool = styleEdges(harness.context);
    const input = { selector: "fromName == 'Whiskers' and type == 'plays_with'", color: "red" };
    expect(await harness.call(tool, input)).toMatchObject({
      data: { styledEdges: 2, color: "red" },
      affected: { edges: ["edge15", "edge16"] },
    });
    const { edges } = await harness.getPicture(tool, { edgeIds: ["edge1"], color: "teal" });
    expect(edges.filter(({ color }) => color).map(({ from, color }) => [from, color])).toEqual([
      ["human1", "#008080"],
      ["cat1", "#ff0000"],
      ["cat1", "#ff0000"],
    ]);
  });

  it("lists the edge types if nothing matches, and asks for a missing selection (S2-26)", async () => {
    const tool = styleEdges(harness.context);
    const nothing = await harness.call(tool, { selector: "type == 'hates'", color: "red" });
    expect(nothing).toMatchObject({
      data: { styledEdges: 0 },
      message: expect.stringContaining("lives_in, friend_of"),
    });
    expect((await harness.call(tool, { color: "red" })).error).toMatch(/Specify the edges/);
  });
});

describe("clearStyles", () => {
  it("removes all colors and reports how many (S2-55)", async () => {
    await harness.call(styleNodes(harness.context), { selector: "type == 'cat'", color: "blue" });
    await harness.call(styleEdges(harness.context), { selector: "*", color: "blue" });
    const cleared = await harness.call(clearStyles(harness.context));
    expect(cleared).toMatchObject({ data: { clearedNodes: 3, clearedEdges: 30 } });
    const { nodes, edges } = await harness.getPicture(clearStyles(harness.context));
    expect([...nodes, ...edges].filter(({ color }) => color)).toEqual([]);
  });
});
