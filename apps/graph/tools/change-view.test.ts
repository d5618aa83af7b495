import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openGraph, setLayout, zoomToNodes } from "./change-view.ts";
import { findNodes } from "./find-nodes.ts";
import { styleNodes } from "./style-nodes.ts";
import { type Trial, trial } from "./trial.ts";

let tried: Trial;
beforeEach(() => {
  tried = trial();
});
afterEach(() => tried.end());

describe("the view", () => {
  it("is arranged by setLayout, and stays so for other tools (S2-57)", async () => {
    await tried.call(setLayout(tried.desk), { layout: "circle" });
    expect((await tried.picture(findNodes(tried.desk), { selector: "*" })).layout).toBe("circle");
  });

  it("is zoomed by zoomToNodes (S2-57)", async () => {
    const tool = zoomToNodes(tried.desk);
    expect((await tried.picture(tool, { selector: "type == 'cat'" })).zoomTo).toEqual([
      "cat1",
      "cat2",
      "cat3",
    ]);
    expect((await tried.call(tool, { nodeIds: ["Ada"] })).data).toEqual({ count: 1, names: ["Ada"] });
    expect((await tried.call(tool, { selector: "type == 'dog'" })).data).toMatchObject({ count: 0 });
  });

  it("is plain again when another graph is opened (S2-57)", async () => {
    await tried.call(styleNodes(tried.desk), { selector: "*", color: "blue" });
    const { title, nodes } = await tried.picture(openGraph(tried.desk), { name: "miserables" });
    expect(title).toBe("Les Misérables: who meets whom");
    expect([nodes.length, nodes.filter(({ color }) => color)]).toEqual([77, []]);
    expect((await tried.call(findNodes(tried.desk), { selector: "name == 'Valjean'" })).data).toMatchObject({
      count: 1,
    });
  });
});

describe("openGraph", () => {
  it("tells the schema of what it opened", async () => {
    expect((await tried.call(openGraph(tried.desk), { name: "miserables" })).data).toMatchObject({
      graph: "miserables",
      nodeCount: 77,
      edgeCount: 254,
    });
  });

  it("takes only the graphs there are", async () => {
    await expect(tried.call(openGraph(tried.desk), { name: "stars" })).rejects.toThrow(/name/);
  });
});
