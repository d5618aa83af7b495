import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Network } from "../network.ts";
import { createToolHarness, type ToolHarness } from "../testing/tool-harness.ts";
import { listAlgorithms, runAlgorithm } from "./algorithms.ts";
import { openGraph } from "./change-view.ts";

/** A star of four nodes and a separate pair. */
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

let harness: ToolHarness;
beforeEach(() => {
  harness = createToolHarness({ graphs: { islands: () => islands } });
});
afterEach(() => harness.close());

const runForData = async (input: { readonly [name: string]: string | number }) =>
  (await harness.call(runAlgorithm(harness.context), input)).data;

describe("runAlgorithm", () => {
  it("ranks by degree and by PageRank, and highlights the top nodes", async () => {
    expect(await runForData({ algorithm: "degree", top: 1 })).toEqual({
      nodes: [{ id: "hub", name: "hub", degree: 3 }],
    });
    const ranked = await harness.call(runAlgorithm(harness.context), { algorithm: "pageRank", top: 2 });
    expect(ranked.data).toMatchObject({ nodes: [{ id: "hub" }, { id: "y" }] });
    expect(ranked.ui?.props).toMatchObject({ flash: ["hub", "y"] });
  });

  it("finds the connected components, largest first", async () => {
    expect(await runForData({ algorithm: "components" })).toMatchObject({
      componentCount: 2,
      components: [{ size: 4 }, { size: 2, names: ["x", "y"] }],
    });
  });

  it("finds the shortest path, ignoring the direction of the edges", async () => {
    expect(await runForData({ algorithm: "shortestPath", from: "a", to: "C" })).toEqual({
      steps: 2,
      path: ["a", "hub", "c"],
    });
  });

  it("reports a missing path, and missing arguments", async () => {
    const none = await harness.call(runAlgorithm(harness.context), {
      algorithm: "shortestPath",
      from: "a",
      to: "x",
    });
    expect(none).toMatchObject({ message: "There is no path from a to x.", data: { steps: null } });
    const half = await harness.call(runAlgorithm(harness.context), { algorithm: "shortestPath", from: "a" });
    expect(half.error).toBe("A shortest path needs two nodes: from and to.");
  });

  it("finds the most connected character in Les Misérables", async () => {
    await harness.call(openGraph(harness.context), { name: "miserables" });
    expect(await runForData({ algorithm: "degree", top: 1 })).toMatchObject({
      nodes: [{ name: "Valjean", degree: 36 }],
    });
  });
});

describe("listAlgorithms", () => {
  it("lists the algorithms of runAlgorithm", async () => {
    const { data } = await harness.call(listAlgorithms(harness.context));
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

it("nodes named like object properties are ordinary nodes (A117)", async () => {
  const ids = ["__proto__", "constructor", "toString", "plain"];
  const nodes = ids.map((id) => ({ id, data: {} }));
  const edges = ids.map((from, at) => ({ id: from, from, to: ids[(at + 1) % 4] ?? "", data: {} }));
  const odd = createToolHarness({
    graphs: { odd: () => ({ name: "odd", title: "Odd", isDirected: true, nodes, edges }) },
  });
  try {
    const call = (input: { readonly [name: string]: string }) => odd.call(runAlgorithm(odd.context), input);
    expect((await call({ algorithm: "components" })).data).toMatchObject({ componentCount: 1 });
    expect((await call({ algorithm: "pageRank" })).data).toMatchObject({ nodes: { length: 4 } });
    const path = await call({ algorithm: "shortestPath", from: "__proto__", to: "toString" });
    expect(path.data).toEqual({ steps: 2, path: ["__proto__", "constructor", "toString"] });
    expect(Object.keys(Object.prototype)).toEqual([]);
    const { nodes: drawn, edges: lines } = await odd.getPicture(runAlgorithm(odd.context), {
      algorithm: "degree",
    });
    expect(drawn.map(({ id, label }) => [id, label])).toContainEqual(["node __proto__", "__proto__"]);
    expect(lines.every(({ from }) => drawn.some(({ id }) => id === from))).toBe(true);
  } finally {
    odd.close();
  }
});
