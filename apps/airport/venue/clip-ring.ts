import type { Position } from "./venue.ts";

/** West, south, east, north, in degrees. */
export type Window = readonly [number, number, number, number];

/** Clips a closed ring to a window, one side after the other (Sutherland–Hodgman). Returns [] if nothing is left. */
export function clipRing(ring: readonly Position[], [west, south, east, north]: Window): readonly Position[] {
  let points = ring.slice(0, -1);
  for (const [axis, edge, sign] of [
    [0, west, 1],
    [0, east, -1],
    [1, south, 1],
    [1, north, -1],
  ] as const) {
    const measureInside = (point: Position): number => (point[axis] - edge) * sign;
    points = points.flatMap((point, index) => {
      const previous = points.at(index - 1) ?? point;
      const crosses = measureInside(point) >= 0 !== measureInside(previous) >= 0;
      return [
        ...(crosses ? [computeCrossing(previous, point, measureInside)] : []),
        ...(measureInside(point) >= 0 ? [point] : []),
      ];
    });
  }
  return points[0] ? [...points, points[0]] : [];
}

function computeCrossing(from: Position, to: Position, measureInside: (point: Position) => number): Position {
  const share = measureInside(from) / (measureInside(from) - measureInside(to));
  return [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
}

/** Bounding box of the positions with a margin on each side. */
export function computeWindow(positions: readonly Position[], metres: number): Window {
  const latitudeMargin = metres / 111_195;
  const longitudeMargin = latitudeMargin / Math.cos(((positions[0]?.[1] ?? 0) * Math.PI) / 180);
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of positions) {
    [west, south] = [Math.min(west, x), Math.min(south, y)];
    [east, north] = [Math.max(east, x), Math.max(north, y)];
  }
  return [west - longitudeMargin, south - latitudeMargin, east + longitudeMargin, north + latitudeMargin];
}
