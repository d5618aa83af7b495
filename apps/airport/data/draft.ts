// Collects the features and the walking graph of a venue while the plan is drawn. The plan is in metres, x to the east
// and y to the north; the output is in longitude and latitude, as IMDF requires.

import { createHash } from "node:crypto";
import type { ConnectionKind } from "../venue/walking-graph.ts";
import type { Room, RoomKind } from "./room.ts";

export type Point = readonly [x: number, y: number];
/** West, south, east, north. */
export type Rect = readonly [number, number, number, number];
export type LevelRef = { readonly id: string; readonly ordinal: number };
type Properties = { readonly [key: string]: unknown };
export type Feature = { readonly id: string; readonly geometry: unknown; readonly properties: Properties };

/** In the open sea, so that the airport cannot be mistaken for a real place. */
const origin = [-30, 45] as const;
const metresPerDegree = [78_847, 111_132] as const;
const roundDegrees = (value: number): number => Math.round(value * 1e6) / 1e6;

export const toEarth = ([x, y]: Point): Point => [
  roundDegrees(origin[0] + x / metresPerDegree[0]),
  roundDegrees(origin[1] + y / metresPerDegree[1]),
];

export const toRing = ([west, south, east, north]: Rect): Point[] =>
  (
    [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ] as const
  ).map(toEarth);
export const toPolygon = (rect: Rect): object => ({ type: "Polygon", coordinates: [toRing(rect)] });
export const getCenter = ([west, south, east, north]: Rect): Point => [
  (west + east) / 2,
  (south + north) / 2,
];
export const toLabel = (text: string): { readonly en: string } | null => (text === "" ? null : { en: text });

/** Deterministic: the same names give the same id. */
export function createFeatureId(...names: readonly (string | number)[]): string {
  const hex = createHash("sha1")
    .update(`harbor/${names.join("/")}`)
    .digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const unitCategories: { readonly [Kind in RoomKind]?: string } = {
  gate: "waitingroom",
  restroom: "restroom",
  restaurant: "foodservice",
  cafe: "foodservice",
  lounge: "lounge",
  lift: "elevator",
  stairs: "stairs",
  escalator: "escalator",
  closed: "nonpublic",
};

const amenityCategories: { readonly [Kind in RoomKind]?: string } = {
  gate: "boardinggate.aircraft",
  restroom: "restroom",
  water: "drinkingfountain",
  charging: "powerchargingstation",
  information: "information",
  checkpoint: "securitycheckpoint",
  checkin: "checkin",
  baggage: "baggageclaim",
  atm: "atm",
  lift: "elevator",
  stairs: "stairs",
  escalator: "escalator",
};

const tenantCategories: { readonly [Kind in RoomKind]?: string } = {
  restaurant: "restaurant",
  cafe: "cafe",
  shop: "shopping",
  pharmacy: "pharmacy",
  lounge: "lounge",
};

export type Draft = {
  readonly files: Map<string, Feature[]>;
  readonly nodes: { at: Point; level: string; area: string; place?: string }[];
  readonly edges: [from: number, to: number, metres: number, kind: ConnectionKind][];
  /** Lifts, stairs and escalators by name. The same name on two levels links them. */
  readonly shafts: Map<string, { readonly node: number; readonly unit: string }[]>;
};

export const createDraft = (): Draft => ({ files: new Map(), nodes: [], edges: [], shafts: new Map() });

export function addFeature(draft: Draft, type: string, feature: Feature): string {
  const list = draft.files.get(type) ?? [];
  draft.files.set(type, list);
  list.push(feature);
  return feature.id;
}

export type Place = { readonly rect: Rect; readonly level: LevelRef; readonly area: string };

export function addUnit(draft: Draft, category: string, { rect, level, area }: Place): string {
  const id = createFeatureId("unit", level.id, category, ...rect);
  const properties = {
    category,
    restriction: category === "nonpublic" ? "employeesonly" : null,
    name: toLabel(area),
    level_id: level.id,
  };
  return addFeature(draft, "unit", { id, geometry: toPolygon(rect), properties });
}

/** A door or a passage, two metres wide. */
export function addOpening(
  draft: Draft,
  [x, y]: Point,
  { level, runs }: { level: LevelRef; runs: "x" | "y" },
): void {
  const ends: readonly Point[] =
    runs === "x"
      ? [
          [x - 1, y],
          [x + 1, y],
        ]
      : [
          [x, y - 1],
          [x, y + 1],
        ];
  const geometry = { type: "LineString", coordinates: ends.map(toEarth) };
  const properties = { category: "pedestrian", level_id: level.id };
  addFeature(draft, "opening", { id: createFeatureId("opening", level.id, x, y), geometry, properties });
}

/** Adds a unit with an amenity or an occupant. Returns the room's node in the graph. */
export function addRoom(draft: Draft, room: Room, { rect, level, area }: Place): number | undefined {
  const { kind, name } = room;
  const unit = addUnit(draft, unitCategories[kind] ?? "room", { rect, level, area: name });
  if (kind === "closed") return undefined;
  const at = getCenter(rect);
  const place = tenantCategories[kind]
    ? addTenant(draft, room, { unit, at })
    : addAmenity(draft, room, { unit, at });
  const node = addNode(draft, at, { level: level.id, area, place });
  if (kind === "lift" || kind === "stairs" || kind === "escalator") linkLevels(draft, room, { node, unit });
  return node;
}

type Spot = { readonly unit: string; readonly at: Point };

function addAmenity(draft: Draft, room: Room, { unit, at }: Spot): string {
  const properties = {
    category: amenityCategories[room.kind] ?? "unspecified",
    name: toLabel(room.name),
    unit_ids: [unit],
    ...buildExtras(room),
  };
  const geometry = { type: "Point", coordinates: toEarth(at) };
  return addFeature(draft, "amenity", { id: createFeatureId("amenity", unit), geometry, properties });
}

function addTenant(draft: Draft, room: Room, { unit, at }: Spot): string {
  const geometry = { type: "Point", coordinates: toEarth(at) };
  const anchor = createFeatureId("anchor", unit);
  addFeature(draft, "anchor", { id: anchor, geometry, properties: { address_id: null, unit_id: unit } });
  const properties = {
    category: tenantCategories[room.kind],
    name: toLabel(room.name),
    anchor_id: anchor,
    hours: room.hours ?? null,
    ...buildExtras(room),
  };
  return addFeature(draft, "occupant", { id: createFeatureId("occupant", unit), geometry: null, properties });
}

/** Extensions to IMDF, which other readers ignore. */
const buildExtras = ({ keywords, description }: Room): Properties => ({
  ...(keywords && { keywords }),
  ...(description !== undefined && { description }),
});

type NodeInfo = { readonly level: string; readonly area: string; readonly place?: string };

export function addNode(draft: Draft, at: Point, node: NodeInfo): number {
  return draft.nodes.push({ at, ...node }) - 1;
}

export function addEdge(
  draft: Draft,
  [from, to]: readonly [number, number],
  kind: ConnectionKind = "walk",
): void {
  const [left, right] = [draft.nodes[from]?.at ?? [0, 0], draft.nodes[to]?.at ?? [0, 0]];
  draft.edges.push([from, to, Math.round(Math.hypot(left[0] - right[0], left[1] - right[1])), kind]);
}

const climbMetres = { lift: 6, stairs: 12, escalator: 14 } as const;

function linkLevels(draft: Draft, { kind, name }: Room, here: { node: number; unit: string }): void {
  const shaft = draft.shafts.get(name) ?? [];
  draft.shafts.set(name, shaft);
  shaft.push(here);
  const [first] = shaft;
  if (!first || first === here || (kind !== "lift" && kind !== "stairs" && kind !== "escalator")) return;
  draft.edges.push([first.node, here.node, climbMetres[kind], kind]);
  const toUnitReference = (id: string) => ({ id, feature_type: "unit" });
  const properties = {
    category: kind === "lift" ? "elevator" : kind,
    direction: "undirected",
    origin: toUnitReference(first.unit),
    intermediary: null,
    destination: toUnitReference(here.unit),
    hours: null,
  };
  addFeature(draft, "relationship", {
    id: createFeatureId("relationship", name),
    geometry: null,
    properties,
  });
}
