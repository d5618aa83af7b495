import type { Spot } from "./find-spots.ts";
import { computeCenter, isInside } from "./geometry.ts";
import { type GraphDraft, type Room, verticalKinds } from "./graph-draft.ts";
import { getIds, type Imdf } from "./read-imdf.ts";
import { measureDistance, type Position } from "./venue.ts";
import type { ConnectionKind, Node } from "./walking-graph.ts";

/** Height of a floor on the way, in metres. */
const lengths: Partial<Record<ConnectionKind, number>> = { lift: 6, stairs: 12, escalator: 12 };
/** How far the ends of stairs on two levels can be apart on the map, in metres. */
const reaches: Partial<Record<ConnectionKind, number>> = { lift: 4, stairs: 10, escalator: 15 };

/** A way up or down on one level. */
type Landing = {
  readonly at: Position;
  readonly kind: ConnectionKind;
  readonly ordinal: number;
  readonly node: number;
  readonly room?: Room;
  /** Amenities on several levels that stand for one thing share this id. */
  readonly correlation?: string;
};

/** Links levels: by the venue's relationships, and by stairs, lifts and escalators that lie above each other. */
export function linkLevels(draft: GraphDraft, imdf: Imdf, spots: readonly Spot[]): void {
  const hubs = new Map(
    draft.rooms.flatMap((room) => {
      const at = computeCenter(room.feature.geometry);
      return room.kind && at
        ? [[room.feature.id, { room, at, kind: room.kind, node: addHub(draft, room, at) }]]
        : [];
    }),
  );
  linkRelated(
    draft,
    imdf,
    (id) => hubs.get(id)?.node ?? draft.nodesByFeature.get(id) ?? addUnitHub(draft, id),
  );
  // What the venue records wins: an escalator may go one way only.
  const related = new Set(draft.edges.flatMap(([from, to]) => [`${from} ${to}`, `${to} ${from}`]));
  linkStacked(draft, related, [
    ...[...hubs.values()].map(({ room, ...hub }) => ({ ...hub, room, ordinal: room.ordinal })),
    ...listAmenities(draft, spots),
  ]);
}

function addHub({ nodes }: GraphDraft, room: Room, at: Position): number {
  const node = nodes.push({ at, ordinal: room.ordinal, area: room.area }) - 1;
  room.nodes.push(node);
  return node;
}

function addUnitHub(draft: GraphDraft, id: string): number | undefined {
  const room = draft.rooms.find(({ feature }) => feature.id === id);
  const at = room && computeCenter(room.feature.geometry);
  return at && addHub(draft, room, at);
}

const relationKinds: { readonly [category: string]: ConnectionKind } = {
  ...verticalKinds,
  ramp: "walk",
  movingwalkway: "walk",
  traversal: "walk",
  "traversal.path": "walk",
};

function linkRelated(
  draft: GraphDraft,
  { relationship, unit }: Imdf,
  findNode: (id: string) => number | undefined,
): void {
  const categories = new Map(unit.map(({ id, properties }) => [id, String(properties.category)]));
  for (const { properties } of relationship) {
    const kind = relationKinds[String(properties.category)];
    const path = [properties.origin, ...[properties.intermediary].flat(), properties.destination].flatMap(
      (reference) => getIds(Object(reference).id),
    );
    const nodes = path.map(findNode);
    // A traversal through stairs is one of stairs.
    const passed = path.flatMap((id) => verticalKinds[categories.get(id) ?? ""] ?? []);
    const direction = properties.direction === "directed" ? "directed" : "undirected";
    for (const [index, to] of nodes.entries()) {
      const from = nodes[index - 1];
      if (!kind || index === 0 || from === undefined || to === undefined) continue;
      const way = kind === "walk" ? (passed[0] ?? kind) : kind;
      draft.edges.push([
        from,
        to,
        Math.max(lengths[way] ?? 0, measureEdge(draft.nodes, from, to)),
        way,
        direction,
      ]);
    }
  }
}

function measureEdge(nodes: readonly Node[], from: number, to: number): number {
  const [start, end] = [nodes[from], nodes[to]];
  return start && end ? Math.round(measureDistance(start.at, end.at)) : 0;
}

/** Lifts and stairs that are recorded as points only. */
function listAmenities({ nodesByFeature, rooms }: GraphDraft, spots: readonly Spot[]): readonly Landing[] {
  return spots.flatMap(({ feature, at, level, unit }) => {
    const kind = verticalKinds[String(feature.properties.category)];
    const node = nodesByFeature.get(feature.id);
    const isRoom = rooms.some((room) => room.feature === unit && room.kind !== undefined);
    if (!kind || node === undefined || isRoom) return [];
    const [correlation] = getIds(feature.properties.correlation_id);
    const ordinal = Number(level.properties.ordinal) || 0;
    return [{ at, kind, ordinal, node, ...(correlation !== undefined && { correlation }) }];
  });
}

/** Links each landing to the nearest one of its kind on the next level that has one above it. */
function linkStacked(
  { edges }: GraphDraft,
  related: ReadonlySet<string>,
  landings: readonly Landing[],
): void {
  for (const lower of landings) {
    const above = landings.filter(
      (upper) => upper.ordinal > lower.ordinal && upper.kind === lower.kind && areStacked(lower, upper),
    );
    const [upper] = above.sort(
      (left, right) =>
        left.ordinal - right.ordinal ||
        measureDistance(left.at, lower.at) - measureDistance(right.at, lower.at),
    );
    if (!upper || related.has(`${lower.node} ${upper.node}`)) continue;
    const floors = upper.ordinal - lower.ordinal;
    edges.push([lower.node, upper.node, floors * (lengths[lower.kind] ?? 0), lower.kind]);
  }
}

function areStacked(lower: Landing, upper: Landing): boolean {
  if (lower.correlation !== undefined && lower.correlation === upper.correlation) return true;
  return (
    measureDistance(lower.at, upper.at) <= (reaches[lower.kind] ?? 0) ||
    isInside(lower.at, upper.room?.feature.geometry ?? null) ||
    isInside(upper.at, lower.room?.feature.geometry ?? null)
  );
}
