import { describe, expect, it } from "vitest";
import { getLabelBox, measureLabel, overlaps } from "../drawing/place-labels.ts";
import { arrangeGraph, placeEdgeLabels, placeNodeLabels } from "./arrange-graph.ts";
import { buildGraph, type GraphModel } from "./graph-model.ts";

/** A connected graph whose shape depends on the seed, with names of different lengths. */
function createGraph(count: number, seed: number): GraphModel {
  const nodes = Array.from({ length: count }, (_, index) => ({
    id: `n${index}`,
    label: `Node ${"x".repeat((index * seed) % 14)}`,
    size: 1 + ((index * 7) % 5),
  }));
  const edges = nodes.slice(1).map(({ id }, index) => ({
    from: id,
    to: `n${(index * seed) % (index + 1)}`,
    label: "knows",
  }));
  return buildGraph({ nodes, edges }, "force");
}

const desktop = { width: 400, height: 480 };
const phone = { width: 330, height: 384 };

describe("the labels of a graph", () => {
  it.each([
    [5, 1, phone],
    [20, 3, phone],
    [20, 3, desktop],
    [40, 5, desktop],
    [300, 11, desktop],
  ] as const)("never overlap each other or a node: %i nodes, seed %i", (count, seed, size) => {
    const graph = createGraph(count, seed);
    const placed = arrangeGraph(graph, size);
    const nodes = [...placed.values()];
    const labels = placeNodeLabels(nodes, { first: new Set(), size });
    const edgeLabels = placeEdgeLabels({ edges: graph.edges, nodes: placed, nodeLabels: labels, size });
    const boxes = [...labels, ...edgeLabels].map(getLabelBox);
    const collisions = boxes.flatMap((box, index) =>
      boxes.slice(index + 1).filter((other) => overlaps(box, other)),
    );
    expect(collisions).toEqual([]);
    for (const { left, right, top, bottom } of boxes)
      expect(left >= 0 && top >= 0 && right <= size.width && bottom <= size.height).toBe(true);
    if (count <= 40)
      for (const { node, x, y } of nodes)
        for (const box of labels.filter(({ id }) => id !== node.id).map(getLabelBox))
          expect(x > box.left && x < box.right && y > box.top && y < box.bottom).toBe(false);
  });

  it("are all shown for twenty nodes, also on a phone", () => {
    for (const size of [desktop, phone]) {
      const nodes = [...arrangeGraph(createGraph(20, 3), size).values()];
      expect(placeNodeLabels(nodes, { first: new Set(), size })).toHaveLength(20);
    }
  });

  it("of selected nodes come first where there is not room for all", () => {
    const nodes = [...arrangeGraph(createGraph(300, 11), phone).values()];
    const hidden = nodes.find(
      ({ node }) =>
        !placeNodeLabels(nodes, { first: new Set(), size: phone }).some(({ id }) => id === node.id),
    );
    const id = hidden?.node.id ?? "";
    expect(measureLabel(hidden?.node.label ?? "")).toBeGreaterThan(0);
    expect(placeNodeLabels(nodes, { first: new Set([id]), size: phone })[0]?.id).toBe(id);
  });
});

it("a graph fills its panel, whatever its shape", () => {
  for (const size of [desktop, phone, { width: 900, height: 300 }]) {
    const nodes = [...arrangeGraph(createGraph(20, 1), size).values()];
    const [xs, ys] = [nodes.map(({ x }) => x), nodes.map(({ y }) => y)];
    expect((Math.max(...xs) - Math.min(...xs)) / size.width).toBeGreaterThan(0.6);
    expect((Math.max(...ys) - Math.min(...ys)) / size.height).toBeGreaterThan(0.6);
  }
});
