import { describe, expect, it } from "vitest";
import { avoidSteps, hopsTo, reachFrom } from "./shortest-way.ts";
import { type Edge, type WalkingGraph, waysOf } from "./walking-graph.ts";

function graph(count: number, edges: readonly Edge[]): WalkingGraph {
  const nodes = Array.from({ length: count }, () => ({ at: [0, 0] as const, ordinal: 0, area: "" }));
  return { source: "recorded", nodes, ways: waysOf(count, edges), nodeOf: new Map() };
}

describe("the shortest way (S0-36)", () => {
  const square = graph(5, [
    [0, 1, 10, "walk"],
    [1, 2, 10, "stairs"],
    [0, 3, 40, "walk"],
    [3, 2, 40, "lift"],
    [2, 4, 5, "checkpoint"],
  ]);

  it("takes the fewest metres", () => {
    const reach = reachFrom(square, 0);
    expect(reach.metres.get(2)).toBe(20);
    expect(hopsTo(reach, 2)?.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [1, 2],
    ]);
  });

  it("goes round stairs when asked to", () => {
    const reach = reachFrom(square, 0, avoidSteps);
    expect(reach.metres.get(2)).toBe(80);
    expect(hopsTo(reach, 2)?.map(({ kind }) => kind)).toEqual(["walk", "lift"]);
  });

  it("goes through security one way only", () => {
    expect(reachFrom(square, 0).metres.get(4)).toBe(25);
    expect(reachFrom(square, 4).metres.get(0)).toBeUndefined();
    expect(hopsTo(reachFrom(square, 4), 0)).toBeUndefined();
  });

  it("agrees with trying everything, on graphs of all kinds", () => {
    let seed = 1;
    const chance = (most: number) => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed % most;
    };
    for (let round = 0; round < 40; round++) {
      const count = 3 + chance(8);
      const edges = Array.from(
        { length: count * 2 },
        (): Edge => [chance(count), chance(count), 1 + chance(50), "walk"],
      );
      const { metres } = reachFrom(graph(count, edges), 0);
      const slow = Array.from({ length: count }, (_, node) => (node === 0 ? 0 : Number.POSITIVE_INFINITY));
      for (let pass = 0; pass < count; pass++)
        for (const [from, to, far] of edges) {
          slow[to] = Math.min(slow[to] ?? 0, (slow[from] ?? 0) + far);
          slow[from] = Math.min(slow[from] ?? 0, (slow[to] ?? 0) + far);
        }
      expect(slow.map((far) => (Number.isFinite(far) ? far : undefined))).toEqual(
        slow.map((_, node) => metres.get(node)),
      );
    }
  });
});
