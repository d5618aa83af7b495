// Links the points of a room by straight lines that do not leave it. Where a wall is in the way, the lines go around the
// corners of the room.

import {
  computeCenter,
  type Geometry,
  getPolygons,
  isInside,
  measureToWalls,
  type Wall,
} from "./geometry.ts";
import { measureDistance, type Position } from "./venue.ts";

export type Line = readonly [from: number, to: number, metres: number];
/** Lines between the points, by index; further points are the corners they go around. */
export type RoomLines = { readonly points: readonly Position[]; readonly lines: readonly Line[] };

/** Doors lie up to this far from the walls they belong to. */
const toleranceMetres = 1;
const maxCorners = 200;
/** In a crowded hall, each point is linked to this many others. */
const maxNeighbors = 25;

export function linkRoom(
  geometry: Geometry | null,
  walls: readonly Wall[],
  given: readonly Position[],
): RoomLines {
  const room: Room = { geometry, walls };
  const isSimple = given.every((from, index) =>
    given.slice(index + 1).every((to) => isVisible(room, from, to)),
  );
  const points = isSimple ? given : [...given, ...findCorners(geometry)];
  const lines = points.flatMap((from, index) =>
    listNeighbors(points, index).flatMap(({ to, metres }): Line[] =>
      isVisible(room, from, points[to] ?? from) ? [[index, to, metres]] : [],
    ),
  );
  return { points, lines: [...lines, ...joinParts(points, lines)] };
}

type Room = { readonly geometry: Geometry | null; readonly walls: readonly Wall[] };
type Neighbor = { readonly to: number; readonly metres: number };

function listNeighbors(points: readonly Position[], index: number): readonly Neighbor[] {
  const at = points[index];
  if (!at) return [];
  const all = points.map((to, other) => ({ to: other, metres: measureDistance(at, to) }));
  if (points.length <= 2 * maxNeighbors) return all.slice(index + 1);
  return all
    .filter(({ to }) => to !== index)
    .sort((left, right) => left.metres - right.metres)
    .slice(0, maxNeighbors);
}

/** Whether the straight line between two points stays in the room. */
function isVisible({ geometry, walls }: Room, from: Position, to: Position): boolean {
  const metres = measureDistance(from, to);
  if (metres <= 2 * toleranceMetres) return true;
  const isCrossed = walls.some(([start, end]) => {
    const share = findCrossing([from, to], [start, end]);
    return share !== undefined && share * metres > toleranceMetres && (1 - share) * metres > toleranceMetres;
  });
  if (isCrossed) return false;
  return [0.25, 0.5, 0.75].every((share) => {
    const at: Position = [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
    return isInside(at, geometry) || measureToWalls(at, walls) < toleranceMetres;
  });
}

/** Where the second line crosses the first, as a share of the first. */
function findCrossing([start, end]: Wall, [from, to]: Wall): number | undefined {
  const [x, y] = [end[0] - start[0], end[1] - start[1]];
  const [otherX, otherY] = [to[0] - from[0], to[1] - from[1]];
  const cross = x * otherY - y * otherX;
  if (cross === 0) return undefined;
  const [awayX, awayY] = [from[0] - start[0], from[1] - start[1]];
  const share = (awayX * otherY - awayY * otherX) / cross;
  const otherShare = (awayX * y - awayY * x) / cross;
  return share >= 0 && share <= 1 && otherShare >= 0 && otherShare <= 1 ? share : undefined;
}

/** The corners that stick out into the room: those of holes, and the inward ones of its outline. */
function findCorners(geometry: Geometry | null): readonly Position[] {
  const corners = getPolygons(geometry).flatMap((rings) =>
    rings.flatMap((ring, index) => {
      const points = ring.slice(1);
      const isHole = index > 0;
      const isLeftward = computeArea(ring) > 0;
      return points.filter((point, at) => {
        const turn = computeTurn(
          points.at(at - 1) ?? point,
          point,
          points[(at + 1) % points.length] ?? point,
        );
        return isLeftward === isHole ? turn > minTurn : turn < -minTurn;
      });
    }),
  );
  return corners.length > maxCorners ? [] : corners;
}

/** As a sine. Rounded walls would have a corner at every point. */
const minTurn = 0.1;

function computeTurn(before: Position, point: Position, after: Position): number {
  const shrink = Math.cos((point[1] * Math.PI) / 180);
  const [x, y] = [(point[0] - before[0]) * shrink, point[1] - before[1]];
  const [nextX, nextY] = [(after[0] - point[0]) * shrink, after[1] - point[1]];
  const lengths = Math.hypot(x, y) * Math.hypot(nextX, nextY);
  return lengths === 0 ? 0 : (x * nextY - y * nextX) / lengths;
}

/** Positive if the ring runs counterclockwise. */
const computeArea = (ring: readonly Position[]): number =>
  ring.reduce((sum, [x, y], index) => {
    const [beforeX, beforeY] = ring.at(index - 1) ?? [x, y];
    return sum + (beforeX * y - x * beforeY);
  }, 0);

/** A point that sees no other, because of inexact geometry, is linked to the nearest point that is reached. */
function joinParts(points: readonly Position[], lines: readonly Line[]): readonly Line[] {
  const reached = new Set<number>();
  const neighbors = Map.groupBy(
    lines.flatMap(([from, to]) => [
      { from, to },
      { from: to, to: from },
    ]),
    ({ from }) => from,
  );
  const visit = (start: number) => {
    const open = [start];
    for (let point = open.pop(); point !== undefined; point = open.pop()) {
      if (reached.has(point)) continue;
      reached.add(point);
      for (const { to } of neighbors.get(point) ?? []) open.push(to);
    }
  };
  if (points.length > 0) visit(0);
  const joins: Line[] = [];
  for (const [point, at] of points.entries()) {
    if (reached.has(point)) continue;
    const [nearest] = [...reached]
      .map((to) => ({ to, metres: measureDistance(at, points[to] ?? at) }))
      .sort((left, right) => left.metres - right.metres);
    if (nearest) joins.push([point, nearest.to, nearest.metres]);
    visit(point);
  }
  return joins;
}

/** The middle of the stretch where two rooms touch; undefined if they meet in a corner at most. */
export function findContact(left: readonly Wall[], right: readonly Wall[]): Position | undefined {
  const touches = (walls: readonly Wall[], others: readonly Wall[]): readonly Position[] =>
    walls.flatMap(([start]) => (measureToWalls(start, others) < toleranceMetres ? [start] : []));
  const contacts = [...touches(left, right), ...touches(right, left)];
  const [first] = contacts;
  if (!first) return undefined;
  const farthest = contacts.toSorted((a, b) => measureDistance(first, b) - measureDistance(first, a))[0];
  if (!farthest || measureDistance(first, farthest) <= 2 * toleranceMetres) return undefined;
  return computeCenter({ type: "LineString", coordinates: [first, farthest] });
}
