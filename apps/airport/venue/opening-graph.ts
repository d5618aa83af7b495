// Derives a walking graph for a venue without one: openings link rooms, and lifts, stairs and escalators above each
// other link levels. Routes go from door to door, so distances are approximate.

import { computeCenter, type Feature, getPolygons, type Imdf, isInside } from "./read-imdf.ts";
import { measureDistance, type Position } from "./venue.ts";
import {
  buildConnections,
  type ConnectionKind,
  type Edge,
  type Node,
  type WalkingGraph,
} from "./walking-graph.ts";

type Room = {
  readonly id: string;
  readonly node: number;
  readonly feature: Feature;
  readonly ordinal: number;
};

const wallThicknessMetres = 0.8;
const verticalKinds: { readonly [category: string]: ConnectionKind } = {
  elevator: "lift",
  stairs: "stairs",
  steps: "stairs",
  escalator: "escalator",
};

/** `units` maps each place to its unit. Returns undefined for a venue without openings. */
export function buildOpeningGraph(
  imdf: Imdf,
  ordinals: ReadonlyMap<string, number>,
  units: ReadonlyMap<string, string>,
): WalkingGraph | undefined {
  if (imdf.opening.length === 0) return undefined;
  const nodes: Node[] = [];
  const edges: Edge[] = [];
  const getOrdinal = ({ properties }: Feature) => ordinals.get(String(properties.level_id)) ?? 0;
  const rooms: Room[] = imdf.unit.flatMap((feature) => {
    const at = computeCenter(feature.geometry);
    if (!at || feature.properties.category === "nonpublic") return [];
    const ordinal = getOrdinal(feature);
    const node = nodes.push({ at, ordinal, area: "" }) - 1;
    return [{ id: feature.id, node, feature, ordinal }];
  });
  for (const opening of imdf.opening) {
    const at = computeCenter(opening.geometry);
    if (!at) continue;
    const ordinal = getOrdinal(opening);
    const adjacentRooms = rooms.filter((room) => room.ordinal === ordinal && isOnWall(at, room.feature));
    const door = nodes.push({ at, ordinal, area: "" }) - 1;
    for (const { node } of adjacentRooms) edges.push([door, node, measureEdge(nodes, door, node), "walk"]);
    // In a long hall the shortest route leads from door to door, not through the center.
    for (const { feature } of adjacentRooms) linkDoors(nodes, edges, { door, feature, rooms: rooms.length });
  }
  linkLevels(rooms, edges);
  const nodeOf = new Map<string, number>();
  for (const [place, unit] of units) {
    const room = rooms.find(({ id }) => id === unit);
    if (room) nodeOf.set(place, room.node);
  }
  return {
    source: "openings",
    nodes,
    connections: buildConnections(nodes.length, edges),
    nodesByFeature: nodeOf,
  };
}

const measureEdge = (nodes: readonly Node[], from: number, to: number): number =>
  Math.round(measureDistance(nodes[from]?.at ?? [0, 0], nodes[to]?.at ?? [0, 0]));

type Door = { readonly door: number; readonly feature: Feature; readonly rooms: number };

/** Links a new door to the existing doors of the same room. */
function linkDoors(nodes: readonly Node[], edges: Edge[], { door, feature, rooms }: Door): void {
  const here = nodes[door];
  if (!here) return;
  for (let other = rooms; other < door; other++) {
    const there = nodes[other];
    if (there?.ordinal === here.ordinal && isOnWall(there.at, feature))
      edges.push([door, other, measureEdge(nodes, door, other), "walk"]);
  }
}

function isOnWall(at: Position, { geometry }: Feature): boolean {
  return getPolygons(geometry).some((rings) =>
    rings.some((ring) =>
      ring.some(
        (end, index) =>
          index > 0 && measureDistanceToLine(at, ring[index - 1] ?? end, end) < wallThicknessMetres,
      ),
    ),
  );
}

function measureDistanceToLine(at: Position, start: Position, end: Position): number {
  const [along, up] = [end[0] - start[0], end[1] - start[1]];
  const length = along * along + up * up;
  const share = length === 0 ? 0 : ((at[0] - start[0]) * along + (at[1] - start[1]) * up) / length;
  const clampedShare = Math.min(1, Math.max(0, share));
  return measureDistance(at, [start[0] + along * clampedShare, start[1] + up * clampedShare]);
}

function linkLevels(rooms: readonly Room[], edges: Edge[]): void {
  for (const lower of rooms) {
    const kind = verticalKinds[String(lower.feature.properties.category)];
    const at = computeCenter(lower.feature.geometry);
    if (!kind || !at) continue;
    const upper = rooms.find(
      ({ ordinal, feature }) =>
        ordinal === lower.ordinal + 1 &&
        feature.properties.category === lower.feature.properties.category &&
        isInside(at, feature.geometry),
    );
    if (upper) edges.push([lower.node, upper.node, kind === "lift" ? 6 : 12, kind]);
  }
}
