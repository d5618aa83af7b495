import { type Geometry, isGeometry, isPosition } from "./geometry.ts";
import { measureDistance, type Position } from "./venue.ts";

export type Feature = {
  readonly id: string;
  readonly geometry: Geometry | null;
  readonly properties: { readonly [key: string]: unknown };
};

export type FeatureType =
  | ("venue" | "building" | "level" | "unit" | "amenity" | "occupant" | "anchor")
  | ("opening" | "relationship" | "geofence" | "section" | "kiosk" | "fixture");
export type Imdf = { readonly [Type in FeatureType]: readonly Feature[] };

/** Texts of the files by name, such as `unit.geojson`. */
export type ImdfFiles = ReadonlyMap<string, string>;
export type SkippedItem = { readonly item: string; readonly reason: string };

/** Collects what could not be read. Features with the same problem become one item. */
export type SkipList = {
  add(type: FeatureType, id: string, reason: string): void;
  addFile(name: string, reason: string): void;
  list(): readonly SkippedItem[];
};

export function createSkipList(): SkipList {
  const items: SkippedItem[] = [];
  const groups = new Map<
    string,
    { readonly type: string; readonly reason: string; readonly ids: string[] }
  >();
  return {
    add(type, id, reason) {
      const group = groups.get(`${type} ${reason}`) ?? { type, reason, ids: [] };
      groups.set(`${type} ${reason}`, group);
      group.ids.push(id);
    },
    addFile: (item, reason) => void items.push({ item, reason }),
    list: () => [
      ...items,
      ...[...groups.values()].map(({ type, reason, ids: [first = "", ...others] }) => ({
        item: `${type}.geojson: feature ${first}${others.length > 0 ? ` and ${others.length} more` : ""}`,
        reason,
      })),
    ],
  };
}

const featureTypes: readonly FeatureType[] = [
  ...(["venue", "building", "level", "unit", "amenity", "occupant", "anchor"] as const),
  ...(["opening", "relationship", "geofence", "section", "kiosk", "fixture"] as const),
];
/** Types whose features are of no use without a place on the map. */
const locatedTypes: readonly FeatureType[] = ["unit", "amenity", "anchor", "opening", "geofence", "section"];
/** Types whose features name their level. */
const leveledTypes: readonly FeatureType[] = ["unit", "opening", "section", "kiosk", "fixture"];
const maxDistanceMetres = 30_000;

/** Reads the features of an IMDF archive. Features that cannot be used are left out and listed as skipped. */
export function readImdf(files: ImdfFiles, skipped: SkipList): Imdf {
  const read = new Map(featureTypes.map((type) => [type, readFeatures(files, type, skipped)]));
  const levelIds = new Set(read.get("level")?.map(({ id }) => id));
  const middle = findMiddle([...read.values()].flat());
  const findProblem = (type: FeatureType, { geometry, properties }: Feature): string | undefined => {
    if (!geometry && locatedTypes.includes(type)) return "It has no valid geometry.";
    if (leveledTypes.includes(type) && !levelIds.has(String(properties.level_id)))
      return "Its level does not exist.";
    const at = geometry && getFirstPosition(geometry);
    return at && middle && measureDistance(at, middle) > maxDistanceMetres
      ? "Its coordinates are far away from the venue."
      : undefined;
  };
  const getFeatures = (type: FeatureType): readonly Feature[] =>
    (read.get(type) ?? []).filter((feature) => {
      const problem = findProblem(type, feature);
      if (problem !== undefined) skipped.add(type, feature.id, problem);
      return problem === undefined;
    });
  return {
    venue: getFeatures("venue"),
    building: getFeatures("building"),
    level: getFeatures("level"),
    unit: getFeatures("unit"),
    amenity: getFeatures("amenity"),
    occupant: getFeatures("occupant"),
    anchor: getFeatures("anchor"),
    opening: getFeatures("opening"),
    relationship: getFeatures("relationship"),
    geofence: getFeatures("geofence"),
    section: getFeatures("section"),
    kiosk: getFeatures("kiosk"),
    fixture: getFeatures("fixture"),
  };
}

function readFeatures(files: ImdfFiles, type: FeatureType, skipped: SkipList): readonly Feature[] {
  const name = `${type}.geojson`;
  const text = files.get(name);
  if (text === undefined) return [];
  const features = parseCollection(text);
  if (!features) {
    skipped.addFile(name, "The file is not a GeoJSON feature collection.");
    return [];
  }
  const ids = new Set<string>();
  return features.flatMap((value, index): Feature[] => {
    const { id, properties, geometry } = Object(value);
    const isUsable = typeof id === "string" && typeof properties === "object" && properties && !ids.has(id);
    if (!isUsable) {
      skipped.add(type, `number ${index + 1}`, "It has no unique id or no properties.");
      return [];
    }
    ids.add(id);
    return [{ id, properties, geometry: isGeometry(geometry) ? geometry : null }];
  });
}

function parseCollection(text: string): readonly unknown[] | undefined {
  try {
    const { features }: { features?: unknown } = Object(JSON.parse(text));
    return Array.isArray(features) ? features : undefined;
  } catch {
    return undefined; // the caller reports it with the file name
  }
}

function getFirstPosition({ type, coordinates }: Geometry): Position | undefined {
  if (type === "Point") return coordinates;
  let value: unknown = coordinates;
  while (Array.isArray(value) && !isPosition(value)) value = value[0];
  return isPosition(value) ? value : undefined;
}

/** The median, so that a few wrong coordinates do not move it. */
function findMiddle(features: readonly Feature[]): Position | undefined {
  const positions = features.flatMap(({ geometry }) => {
    const at = geometry && getFirstPosition(geometry);
    return at ? [at] : [];
  });
  const findMedian = (values: readonly number[]): number =>
    values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
  return positions.length === 0
    ? undefined
    : [findMedian(positions.map(([x]) => x)), findMedian(positions.map(([, y]) => y))];
}

const maxLabelLength = 100;

/** IMDF labels are texts by language; prefers English. A label is one line of visible characters. */
export function getLabel(value: unknown): string {
  return findText(value)
    .replace(/[\p{C}\s]+/gu, " ")
    .trim()
    .slice(0, maxLabelLength)
    .toWellFormed();
}

function findText(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  const texts = Object.entries(value).filter(([, text]) => typeof text === "string");
  const [, text = ""] = texts.find(([language]) => language.startsWith("en")) ?? texts[0] ?? [];
  return text;
}

/** Ids in a property that holds one, a list or null. */
export const getIds = (value: unknown): readonly string[] =>
  [value].flat().filter((id) => typeof id === "string");
