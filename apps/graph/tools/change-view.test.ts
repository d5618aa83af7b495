import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolHarness, type ToolHarness } from "../testing/tool-harness.ts";
import { openGraph, setLayout, zoomToNodes } from "./change-view.ts";
import { findNodes } from "./find-nodes.ts";
import { styleNodes } from "./style-nodes.ts";

let harness: ToolHarness;
beforeEach(() => {
  harness = createToolHarness();
});
afterEach(() => harness.close());

describe("the view", () => {
  it("keeps the layout from setLayout for later calls (S2-57)", async () => {
    await harness.call(setLayout(harness.context), { layout: "circle" });
    expect((await harness.getPicture(findNodes(harness.context), { selector: "*" })).layout).toBe("circle");
  });

  it("is zoomed by zoomToNodes (S2-57)", async () => {
    const tool = zoomToNodes(harness.context);
    expect((await harness.getPicture(tool, { selector: "type == 'cat'" })).zoomTo).toEqual([
      "cat1",
      "cat2",
      "cat3",
    ]);
    expect((await harness.call(tool, { nodeIds: ["Ada"] })).data).toEqual({
      count: 1,
      nodes: [{ id: "human1", name: "Ada" }],
      nodeIds: ["human1"],
    });
    expect((await harness.call(tool, { selector: "type == 'dog'" })).data).toMatchObject({ count: 0 });
  });

  it("is reset when another graph is opened (S2-57)", async () => {
    await harness.call(styleNodes(harness.context), { selector: "*", color: "blue" });
    const { title, nodes } = await harness.getPicture(openGraph(harness.context), { name: "miserables" });
    expect(title).toBe("Les Misérables: who meets whom");
    expect([nodes.length, nodes.filter(({ color }) => color)]).toEqual([77, []]);
    expect(
      (await harness.call(findNodes(harness.context), { selector: "name == 'Valjean'" })).data,
    ).toMatchObject({
      count: 1,
    });
  });
});

describe("openGraph", () => {
  it("returns the schema of the opened graph", async () => {
    expect((await harness.call(openGraph(harness.context), { name: "miserables" })).data).toMatchObject({
      graph: "miserables",
      nodeCount: 77,
      edgeCount: 254,
    });
  });

  it("accepts only existing graphs", async () => {
    await expect(harness.call(openGraph(harness.context), { name: "stars" })).rejects.toThrow(/name/);
  });
});
