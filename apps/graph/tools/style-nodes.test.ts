import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { clearStyles } from "./change-view.ts";
import { styleEdges } from "./style-edges.ts";
import { styleNodes } from "./style-nodes.ts";
import { type Trial, trial } from "./trial.ts";

let tried: Trial;
beforeEach(() => {
  tried = trial();
});
afterEach(() => tried.end());

describe("styleNodes", () => {
  it.each<[by: string, input: { readonly nodeIds: readonly string[] } | { readonly selector: string }]>([
    ["ids", { nodeIds: ["cat1", "cat2", "cat3"] }],
    ["names", { nodeIds: ["Whiskers", "mittens", "Shadow"] }],
    ["a selector", { selector: "type == 'cat'" }],
  ])("colours nodes by %s, and the picture has them so (S2-24, S2-33, S2-55, S2-56, S2-57)", async (_, picked) => {
    const result = await tried.call(styleNodes(tried.desk), { ...picked, color: "blue" });
    expect(result).toMatchObject({
      message: "Coloured 3 nodes blue.",
      data: { styledCount: 3, color: "#0000ff", names: ["Whiskers", "Mittens", "Shadow"] },
      affected: { nodes: ["cat1", "cat2", "cat3"] },
      ui: { kind: "graph", props: { flash: ["cat1", "cat2", "cat3"] } },
    });
    expect(JSON.parse(String(result.content))).toMatchObject({ success: true, affectedNodes: 3 });
  });

  it("adds to the colours that are there (S2-57)", async () => {
    const tool = styleNodes(tried.desk);
    await tried.call(tool, { selector: "type == 'cat'", color: "#F00" });
    const { nodes } = await tried.picture(tool, { nodeIds: ["toy1"], color: "#00ff00" });
    expect(nodes.flatMap(({ id, color }) => (color ? [`${id} ${color}`] : []))).toEqual([
      "cat1 #ff0000",
      "cat2 #ff0000",
      "cat3 #ff0000",
      "toy1 #00ff00",
    ]);
  });

  it("colours nothing, as a success, where nothing matches (S2-26)", async () => {
    const result = await tried.call(styleNodes(tried.desk), { selector: "type == 'dog'", color: "red" });
    expect(result).toMatchObject({
      data: { styledCount: 0 },
      message: expect.stringContaining("Nothing was coloured"),
    });
    expect([result.error, result.affected]).toEqual([undefined, undefined]);
  });

  it("refuses what is no colour, no node, or not said (S2-55, S2-56)", async () => {
    const tool = styleNodes(tried.desk);
    const errorOf = async (input: { readonly [name: string]: string | readonly string[] }) =>
      (await tried.call(tool, { color: "blue", ...input })).error;
    expect(await errorOf({ selector: "*", color: "bleu" })).toMatch(
      /"bleu" is no colour.* Did you mean "blue"/,
    );
    expect(await errorOf({ nodeIds: ["dog1"] })).toMatch(/There is no node "dog1"/);
    expect(await errorOf({})).toMatch(/Say which nodes/);
  });
});

describe("styleEdges", () => {
  it("colours edges by a selector, which may name their ends (S2-55, S2-56)", async () => {
    const tool = styleEdges(tried.desk);
    const input = { selector: "fromName == 'Whiskers' and type == 'plays_with'", color: "red" };
    expect(await tried.call(tool, input)).toMatchObject({
      data: { styledCount: 2, color: "#ff0000" },
      affected: { edges: ["edge15", "edge16"] },
    });
    const { edges } = await tried.picture(tool, { edgeIds: ["edge1"], color: "teal" });
    expect(edges.filter(({ color }) => color).map(({ from, color }) => [from, color])).toEqual([
      ["human1", "#008080"],
      ["cat1", "#ff0000"],
      ["cat1", "#ff0000"],
    ]);
  });

  it("says which types there are where nothing matches, and asks which where nothing is said (S2-26)", async () => {
    const tool = styleEdges(tried.desk);
    const nothing = await tried.call(tool, { selector: "type == 'hates'", color: "red" });
    expect(nothing).toMatchObject({
      data: { styledCount: 0 },
      message: expect.stringContaining("lives_in, friend_of"),
    });
    expect((await tried.call(tool, { color: "red" })).error).toMatch(/Say which edges/);
  });
});

describe("clearStyles", () => {
  it("takes all colours back and says of how many (S2-55)", async () => {
    await tried.call(styleNodes(tried.desk), { selector: "type == 'cat'", color: "blue" });
    await tried.call(styleEdges(tried.desk), { selector: "*", color: "blue" });
    const cleared = await tried.call(clearStyles(tried.desk));
    expect(cleared).toMatchObject({ data: { clearedNodes: 3, clearedEdges: 30 } });
    const { nodes, edges } = await tried.picture(clearStyles(tried.desk));
    expect([...nodes, ...edges].filter(({ color }) => color)).toEqual([]);
  });
});
