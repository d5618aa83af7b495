import { describe, expect, it } from "vitest";
import { findShortestPaths, getPathTo, hasSteps } from "./shortest-paths.ts";
import { buildConnections, type Edge, type WalkingGraph } from "./walking-graph.ts";

function createGraph(count: number, edges: readonly Edge[]): WalkingGraph {
  const nodes = Array.from({ length: count }, () => ({ at: [0, 0] as const, ordinal: 0, area: "" }));
  return {
    source: "recorded",
    nodes,
    connections: buildConnections(count, edges),
    nodesByFeature: new Map(),
  };
}

describe("shortest paths (S0-36)", () => {
  const square = createGraph(5, [
    [0, 1, 10, "walk"],
    [1, 2, 10, "stairs"],
    [0, 3, 40, "walk"],
    [3, 2, 40, "lift"],
    [2, 4, 5, "checkpoint"],
  ]);

  it("minimize the metres", () => {
    const reach = findShortestPaths(square, 0);
    expect(reach.metres.get(2)).toBe(20);
    expect(getPathTo(reach, 2)?.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [1, 2],
    ]);
  });

  it("avoid stairs on request", () => {
    const reach = findShortestPaths(square, 0, hasSteps);
    expect(reach.metres.get(2)).toBe(80);
    expect(getPathTo(reach, 2)?.map(({ kind }) => kind)).toEqual(["walk", "lift"]);
  });

  it("pass security in one direction only", () => {
    expect(findShortestPaths(square, 0).metres.get(4)).toBe(25);
    expect(findShortestPaths(square, 4).metres.get(0)).toBeUndefined();
    expect(getPathTo(findShortestPaths(square, 4), 0)).toBeUndefined();
  });

  it("agree with exhaustive relaxation on random graphs", () => {
    let seed = 1;
    const nextRandom = (limit: number) => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed % limit;
    };
    for (let round = 0; round < 40; round++) {
      const count = 3 + nextRandom(8);
      const edges = Array.from(
        { length: count * 2 },
        (): Edge => [nextRandom(count), nextRandom(count), 1 + nextRandom(50), "walk"],
      );
      const { metres } = findShortestPaths(createGraph(count, edges), 0);
      const slow = Array.from({ length: count }, (_, node) => (node === 0 ? 0 : Number.POSITIVE_INFINITY));
      for (let pass = 0; pass < count; pass++)
        for (const [from, to, distance] of edges) {
          slow[to] = Math.min(slow[to] ?? 0, (slow[from] ?? 0) + distance);
          slow[from] = Math.min(slow[from] ?? 0, (slow[to] ?? 0) + distance);
        }
      expect(slow.map((distance) => (Number.isFinite(distance) ? distance : undefined))).toEqual(
        slow.map((_, node) => metres.get(node)),
      );
    }
  });
});
