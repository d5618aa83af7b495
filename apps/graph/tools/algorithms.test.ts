import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Network } from "../network.ts";
import { listAlgorithms, runAlgorithm } from "./algorithms.ts";
import { openGraph } from "./change-view.ts";
import { type Trial, trial } from "./trial.ts";

/** A star of four, and a pair of its own. */
const islands: Network = {
  name: "islands",
  title: "Islands",
  isDirected: true,
  nodes: ["hub", "a", "b", "c", "x", "y"].map((id) => ({ id, data: {} })),
  edges: [
    ["a", "hub"],
    ["b", "hub"],
    ["c", "hub"],
    ["x", "y"],
  ].map(([from = "", to = ""], n) => ({ id: `e${n}`, from, to, data: {} })),
};

let tried: Trial;
beforeEach(() => {
  tried = trial({ graphs: { islands: () => islands } });
});
afterEach(() => tried.end());

const dataOf = async (input: { readonly [name: string]: string | number }) =>
  (await tried.call(runAlgorithm(tried.desk), input)).data;

describe("runAlgorithm", () => {
  it("ranks by degree and by PageRank, and shows the best", async () => {
    expect(await dataOf({ algorithm: "degree", top: 1 })).toEqual({
      nodes: [{ id: "hub", name: "hub", degree: 3 }],
    });
    const ranked = await tried.call(runAlgorithm(tried.desk), { algorithm: "pageRank", top: 2 });
    expect(ranked.data).toMatchObject({ nodes: [{ id: "hub" }, { id: "y" }] });
    expect(ranked.ui?.props).toMatchObject({ flash: ["hub", "y"] });
  });

  it("finds the parts that hang together, the largest first", async () => {
    expect(await dataOf({ algorithm: "components" })).toMatchObject({
      count: 2,
      largest: [{ size: 4 }, { size: 2, names: ["x", "y"] }],
    });
  });

  it("finds the shortest path, whatever the direction of the edges", async () => {
    expect(await dataOf({ algorithm: "shortestPath", from: "a", to: "C" })).toEqual({
      steps: 2,
      path: ["a", "hub", "c"],
    });
  });

  it("says when there is no path, and what a path needs", async () => {
    const none = await tried.call(runAlgorithm(tried.desk), {
      algorithm: "shortestPath",
      from: "a",
      to: "x",
    });
    expect(none).toMatchObject({ message: "There is no path from a to x.", data: { steps: null } });
    const half = await tried.call(runAlgorithm(tried.desk), { algorithm: "shortestPath", from: "a" });
    expect(half.error).toBe("A shortest path needs two nodes: from and to.");
  });

  it("knows who meets most people in Les Misérables", async () => {
    await tried.call(openGraph(tried.desk), { name: "miserables" });
    expect(await dataOf({ algorithm: "degree", top: 1 })).toMatchObject({
      nodes: [{ name: "Valjean", degree: 36 }],
    });
  });
});

describe("listAlgorithms", () => {
  it("lists what runAlgorithm takes", async () => {
    const { data } = await tried.call(listAlgorithms(tried.desk));
    expect(data).toMatchObject({
      algorithms: [
        { algorithm: "degree" },
        { algorithm: "components" },
        { algorithm: "shortestPath" },
        { algorithm: "pageRank", name: "PageRank" },
      ],
    });
  });
});

it("nodes that are called as objects are inside are nodes like all others (A117)", async () => {
  const ids = ["__proto__", "constructor", "toString", "plain"];
  const nodes = ids.map((id) => ({ id, data: {} }));
  const edges = ids.map((from, at) => ({ id: from, from, to: ids[(at + 1) % 4] ?? "", data: {} }));
  const odd = trial({
    graphs: { odd: () => ({ name: "odd", title: "Odd", isDirected: true, nodes, edges }) },
  });
  try {
    const call = (input: { readonly [name: string]: string }) => odd.call(runAlgorithm(odd.desk), input);
    expect((await call({ algorithm: "components" })).data).toMatchObject({ count: 1 });
    expect((await call({ algorithm: "pageRank" })).data).toMatchObject({ nodes: { length: 4 } });
    const path = await call({ algorithm: "shortestPath", from: "__proto__", to: "toString" });
    expect(path.data).toEqual({ steps: 2, path: ["__proto__", "constructor", "toString"] });
    expect(Object.keys(Object.prototype)).toEqual([]);
    const { nodes: drawn, edges: lines } = await odd.picture(runAlgorithm(odd.desk), { algorithm: "degree" });
    expect(drawn.map(({ id, label }) => [id, label])).toContainEqual(["node __proto__", "__proto__"]);
    expect(lines.every(({ from }) => drawn.some(({ id }) => id === from))).toBe(true);
  } finally {
    odd.end();
  }
});
