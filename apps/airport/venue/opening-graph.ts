// Derives a walking graph for a venue without one: openings link rooms, and lifts, stairs and escalators link levels.
// Distances are approximate.

import { isOpenSpace } from "./categories.ts";
import { computeWindow, type Window } from "./clip-ring.ts";
import { isRestricted, type Spot } from "./find-spots.ts";
import { computeCenter, isInside, listWalls, measureToWalls } from "./geometry.ts";
import { type GraphDraft, type Room, verticalKinds } from "./graph-draft.ts";
import { linkLevels } from "./link-levels.ts";
import { findContact, linkRoom } from "./link-room.ts";
import { type Feature, getLabel, type Imdf } from "./read-imdf.ts";
import type { Position } from "./venue.ts";
import { buildConnections, type WalkingGraph } from "./walking-graph.ts";

const wallThicknessMetres = 0.8;
const maxDetourMetres = 5;

/** Returns undefined for a venue without openings. */
export function buildOpeningGraph(imdf: Imdf, spots: readonly Spot[]): WalkingGraph | undefined {
  if (imdf.opening.length === 0) return undefined;
  const ordinals = new Map(imdf.level.map(({ id, properties }) => [id, Number(properties.ordinal) || 0]));
  const rooms = listRooms(imdf, ordinals);
  const draft: GraphDraft = { nodes: [], edges: [], rooms, nodesByFeature: new Map() };
  // Doors lead from one building to the next on the same floor, so the floor counts, not the level.
  const byFloor = Map.groupBy(rooms, ({ ordinal }) => ordinal);
  const getRooms = (level: unknown) => byFloor.get(ordinals.get(String(level)) ?? 0) ?? [];
  const withDoors = new Set(
    imdf.opening.flatMap((opening) => addDoor(draft, opening, getRooms(opening.properties.level_id))),
  );
  for (const floor of byFloor.values()) joinRooms(draft, floor, withDoors);
  for (const spot of spots) addPlace(draft, spot, getRooms(spot.level.id));
  linkLevels(draft, imdf, spots);
  for (const room of rooms) linkNodes(draft, room);
  return {
    source: "openings",
    nodes: draft.nodes,
    connections: buildConnections(draft.nodes.length, draft.edges),
    nodesByFeature: draft.nodesByFeature,
  };
}

function listRooms({ unit }: Imdf, ordinals: ReadonlyMap<string, number>): readonly Room[] {
  return unit.flatMap((feature) => {
    const walls = listWalls(feature.geometry);
    if (walls.length === 0 || isRestricted(feature)) return [];
    const category = String(feature.properties.category);
    const isOpen = isOpenSpace(category);
    return [
      {
        ...{ feature, isOpen, walls, nodes: [] },
        ordinal: ordinals.get(String(feature.properties.level_id)) ?? 0,
        kind: verticalKinds[category],
        area: isOpen ? getLabel(feature.properties.name) : "",
        window: computeWindow(walls.flat(), wallThicknessMetres),
      },
    ];
  });
}

/** Whether a person may use an opening: doors for cars, and those that need a badge, are left out. */
function isPassable({ properties }: Feature): boolean {
  const isForPeople = /^(?:pedestrian|unspecified)|^(?:undefined|null)$/.test(String(properties.category));
  return isForPeople && (properties.access_control ?? null) === null;
}

/** Returns the rooms on whose walls the opening lies. */
function addDoor(draft: GraphDraft, opening: Feature, rooms: readonly Room[]): readonly Room[] {
  const at = computeCenter(opening.geometry);
  if (!at) return [];
  const near = rooms.filter(({ window }) => isInWindow(at, window));
  const adjacent = near.filter(({ walls }) => measureToWalls(at, walls) < wallThicknessMetres);
  // Some venues draw a hall right across the rooms in it.
  const around = near.filter(
    (room) => room.isOpen && !adjacent.includes(room) && isInside(at, room.feature.geometry),
  );
  const joined = adjacent.length < 2 ? [...adjacent, ...around.slice(0, 1)] : adjacent;
  if (isPassable(opening) && joined.length > 0)
    draft.nodesByFeature.set(opening.id, addNode(draft, at, joined));
  return adjacent;
}

function addNode({ nodes }: GraphDraft, at: Position, rooms: readonly Room[]): number {
  const area = rooms.find((room) => room.area !== "")?.area ?? "";
  const node = nodes.push({ at, ordinal: rooms[0]?.ordinal ?? 0, area }) - 1;
  for (const room of rooms) room.nodes.push(node);
  return node;
}

const isInWindow = ([x, y]: Position, [west, south, east, north]: Window): boolean =>
  x >= west && x <= east && y >= south && y <= north;

const doWindowsMeet = (left: Window, right: Window): boolean =>
  left[0] <= right[2] && right[0] <= left[2] && left[1] <= right[3] && right[1] <= left[3];

/** Halls that touch are one space, and a room without a recorded door opens to the hall beside it. */
function joinRooms(draft: GraphDraft, rooms: readonly Room[], withDoors: ReadonlySet<Room>): void {
  for (const [index, hall] of rooms.entries()) {
    if (!hall.isOpen) continue;
    for (const [otherIndex, other] of rooms.entries()) {
      const isPair = other.isOpen ? otherIndex > index : !withDoors.has(other);
      if (!isPair || !doWindowsMeet(hall.window, other.window) || sharesNode(hall, other)) continue;
      const at = findContact(hall.walls, other.walls) ?? findSpotInside(hall, other);
      if (at) addNode(draft, at, [hall, other]);
    }
  }
}

const sharesNode = (left: Room, right: Room): boolean =>
  left.nodes.some((node) => right.nodes.includes(node));

/** An island in a hall, such as a kiosk. */
function findSpotInside(hall: Room, island: Room): Position | undefined {
  const at = computeCenter(island.feature.geometry);
  return at && isInside(at, hall.feature.geometry) ? at : undefined;
}

/** A place in a unit that is not public, or in none, belongs to the room next to it. */
function addPlace(draft: GraphDraft, { feature, unit, at }: Spot, rooms: readonly Room[]): void {
  const room =
    rooms.find((candidate) => candidate.feature === unit) ??
    rooms.find((candidate) => isInside(at, candidate.feature.geometry)) ??
    findNearestRoom(rooms, at);
  if (room) draft.nodesByFeature.set(feature.id, addNode(draft, at, [room]));
}

function findNearestRoom(rooms: readonly Room[], at: Position): Room | undefined {
  const [nearest] = rooms
    .map((room) => ({ room, metres: measureToWalls(at, room.walls) }))
    .sort((left, right) => left.metres - right.metres);
  return nearest && nearest.metres < maxDetourMetres ? nearest.room : undefined;
}

/** Links the doors and places of a room. To cross stairs is to use them. */
function linkNodes(draft: GraphDraft, { feature, walls, nodes: own, kind, ordinal, area }: Room): void {
  const ids = [...new Set(own)];
  const given = ids.map((node) => draft.nodes[node]?.at ?? ([0, 0] as const));
  const { points, lines } = linkRoom(feature.geometry, walls, given);
  for (const at of points.slice(ids.length)) ids.push(draft.nodes.push({ at, ordinal, area }) - 1);
  for (const [from, to, metres] of lines) {
    const [start, end] = [ids[from], ids[to]];
    if (start === undefined || end === undefined) continue;
    draft.edges.push([start, end, Math.round(metres), kind === "lift" ? "walk" : (kind ?? "walk")]);
  }
}
