// A plain walking graph for a venue that brings none: rooms are linked by the openings on their walls, levels by lifts,
// stairs and escalators that stand on top of each other. Ways go from door to door, so they are only about right.

import { centreOf, type Feature, type Imdf, isInside, polygonsOf } from "./read-imdf.ts";
import { metresBetween, type Position } from "./venue.ts";
import { type Edge, type Node, type WalkingGraph, type WayKind, waysOf } from "./walking-graph.ts";

type Room = {
  readonly id: string;
  readonly node: number;
  readonly feature: Feature;
  readonly ordinal: number;
};

const thickWall = 0.8;
const climbs: { readonly [category: string]: WayKind } = {
  elevator: "lift",
  stairs: "stairs",
  steps: "stairs",
  escalator: "escalator",
};

/** `units` tells in which unit each place is. Nothing comes of a venue without openings. */
export function openingGraph(
  imdf: Imdf,
  ordinals: ReadonlyMap<string, number>,
  units: ReadonlyMap<string, string>,
): WalkingGraph | undefined {
  if (imdf.opening.length === 0) return undefined;
  const nodes: Node[] = [];
  const edges: Edge[] = [];
  const levelOf = ({ properties }: Feature) => ordinals.get(String(properties.level_id)) ?? 0;
  const rooms: Room[] = imdf.unit.flatMap((feature) => {
    const at = centreOf(feature.geometry);
    if (!at || feature.properties.category === "nonpublic") return [];
    const ordinal = levelOf(feature);
    const node = nodes.push({ at, ordinal, area: "" }) - 1;
    return [{ id: feature.id, node, feature, ordinal }];
  });
  for (const opening of imdf.opening) {
    const at = centreOf(opening.geometry);
    if (!at) continue;
    const ordinal = levelOf(opening);
    const beside = rooms.filter((room) => room.ordinal === ordinal && touches(at, room.feature));
    const door = nodes.push({ at, ordinal, area: "" }) - 1;
    for (const { node } of beside) edges.push([door, node, lengthOf(nodes, door, node), "walk"]);
    // In a long hall people walk from door to door, not by its middle.
    for (const { feature } of beside) linkDoors(nodes, edges, { door, feature, rooms: rooms.length });
  }
  linkLevels(rooms, edges);
  const nodeOf = new Map<string, number>();
  for (const [place, unit] of units) {
    const room = rooms.find(({ id }) => id === unit);
    if (room) nodeOf.set(place, room.node);
  }
  return { source: "openings", nodes, ways: waysOf(nodes.length, edges), nodeOf };
}

const lengthOf = (nodes: readonly Node[], from: number, to: number): number =>
  Math.round(metresBetween(nodes[from]?.at ?? [0, 0], nodes[to]?.at ?? [0, 0]));

type Door = { readonly door: number; readonly feature: Feature; readonly rooms: number };

/** Links a new door with the doors that the same room already has. */
function linkDoors(nodes: readonly Node[], edges: Edge[], { door, feature, rooms }: Door): void {
  const here = nodes[door];
  if (!here) return;
  for (let other = rooms; other < door; other++) {
    const there = nodes[other];
    if (there?.ordinal === here.ordinal && touches(there.at, feature))
      edges.push([door, other, lengthOf(nodes, door, other), "walk"]);
  }
}

/** Whether a position is on the wall of a room. */
function touches(at: Position, { geometry }: Feature): boolean {
  return polygonsOf(geometry).some((rings) =>
    rings.some((ring) =>
      ring.some((end, index) => index > 0 && metresToLine(at, ring[index - 1] ?? end, end) < thickWall),
    ),
  );
}

function metresToLine(at: Position, start: Position, end: Position): number {
  const [along, up] = [end[0] - start[0], end[1] - start[1]];
  const length = along * along + up * up;
  const share = length === 0 ? 0 : ((at[0] - start[0]) * along + (at[1] - start[1]) * up) / length;
  const kept = Math.min(1, Math.max(0, share));
  return metresBetween(at, [start[0] + along * kept, start[1] + up * kept]);
}

function linkLevels(rooms: readonly Room[], edges: Edge[]): void {
  for (const lower of rooms) {
    const kind = climbs[String(lower.feature.properties.category)];
    const at = centreOf(lower.feature.geometry);
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
