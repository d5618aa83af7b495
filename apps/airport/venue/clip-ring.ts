import type { Position } from "./venue.ts";

/** West, south, east, north, in degrees. */
export type Window = readonly [number, number, number, number];

/** What of a ring lies within a window (Sutherland and Hodgman): one side after the other is cut off. */
export function clipRing(ring: readonly Position[], [west, south, east, north]: Window): readonly Position[] {
  let points = ring.slice(0, -1);
  for (const [axis, edge, sign] of [
    [0, west, 1],
    [0, east, -1],
    [1, south, 1],
    [1, north, -1],
  ] as const) {
    const over = (point: Position): number => (point[axis] - edge) * sign;
    points = points.flatMap((point, index) => {
      const before = points.at(index - 1) ?? point;
      const crosses = over(point) >= 0 !== over(before) >= 0;
      return [...(crosses ? [crossing(before, point, over)] : []), ...(over(point) >= 0 ? [point] : [])];
    });
  }
  return points[0] ? [...points, points[0]] : [];
}

function crossing(from: Position, to: Position, over: (point: Position) => number): Position {
  const share = over(from) / (over(from) - over(to));
  return [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
}

/** The window around some positions, with so many metres on each side. */
export function windowAround(positions: readonly Position[], metres: number): Window {
  const up = metres / 111_195;
  const along = up / Math.cos(((positions[0]?.[1] ?? 0) * Math.PI) / 180);
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of positions) {
    [west, south] = [Math.min(west, x), Math.min(south, y)];
    [east, north] = [Math.max(east, x), Math.max(north, y)];
  }
  return [west - along, south - up, east + along, north + up];
}
