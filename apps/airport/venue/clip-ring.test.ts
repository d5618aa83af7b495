import { describe, expect, it } from "vitest";
import { clipRing, computeWindow } from "./clip-ring.ts";

const hall = [
  [0, 0],
  [100, 0],
  [100, 10],
  [0, 10],
  [0, 0],
] as const;

describe("clipping a ring", () => {
  it("keeps the part inside the window", () => {
    const clipped = clipRing(hall, [20, -5, 40, 5]);
    expect(new Set(clipped.map(String))).toEqual(new Set(["20,0", "40,0", "40,5", "20,5"]));
    expect(clipped.at(-1)).toEqual(clipped[0]);
  });

  it("keeps a ring inside the area and drops a ring outside it", () => {
    expect(new Set(clipRing(hall, [-1, -1, 101, 11]).map(String))).toEqual(new Set(hall.map(String)));
    expect(clipRing(hall, [200, 0, 300, 10])).toEqual([]);
  });

  it("computes a window with a margin in metres", () => {
    const [west, south, east, north] = computeWindow([[10, 60]], 111.195);
    expect([west, south, east, north].map((side) => Math.round(side * 1000) / 1000)).toEqual([
      9.998, 59.999, 10.002, 60.001,
    ]);
  });
});
