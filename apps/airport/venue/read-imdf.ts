import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { AgentError } from "capstan";
import type { Position } from "./venue.ts";

type Polygon = readonly (readonly Position[])[];
export type Geometry =
  | { readonly type: "Point"; readonly coordinates: Position }
  | { readonly type: "LineString"; readonly coordinates: readonly Position[] }
  | { readonly type: "Polygon"; readonly coordinates: Polygon }
  | { readonly type: "MultiPolygon"; readonly coordinates: readonly Polygon[] };

export type Feature = {
  readonly id: string;
  readonly geometry: Geometry | null;
  readonly properties: { readonly [key: string]: unknown };
};

const requiredTypes = ["venue", "building", "level", "unit"] as const;
const optionalTypes = ["amenity", "occupant", "anchor", "opening", "geofence"] as const;
export type FeatureType = (typeof requiredTypes)[number] | (typeof optionalTypes)[number];
export type Imdf = { readonly [Type in FeatureType]: readonly Feature[] };

/** Reads the features of an IMDF folder. The error for an invalid folder names the missing files. */
export async function readImdf(folder: string): Promise<Imdf> {
  const isFolder = await stat(folder).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  if (!isFolder) throw new AgentError("not_found", `IMDF folder not found: "${folder}".`);
  const types = [...requiredTypes, ...optionalTypes];
  const features = await Promise.all(types.map((type) => readFeatures(folder, type)));
  const missing = requiredTypes.filter((type) => !features[types.indexOf(type)]?.length);
  if (missing.length > 0) {
    const files = missing.map((type) => `${type}.geojson`).join(", ");
    throw new AgentError(
      "invalid_input",
      `"${folder}" is not an IMDF venue: missing or empty ${files}. Unpack the IMDF archive into it.`,
    );
  }
  const getFeatures = (type: FeatureType) => features[types.indexOf(type)] ?? [];
  return {
    venue: getFeatures("venue"),
    building: getFeatures("building"),
    level: getFeatures("level"),
    unit: getFeatures("unit"),
    amenity: getFeatures("amenity"),
    occupant: getFeatures("occupant"),
    anchor: getFeatures("anchor"),
    opening: getFeatures("opening"),
    geofence: getFeatures("geofence"),
  };
}

async function readFeatures(folder: string, type: string): Promise<readonly Feature[]> {
  const text = await readOptionalFile(join(folder, `${type}.geojson`));
  if (text === undefined) return [];
  const features = parseFeatures(text);
  if (!features)
    throw new AgentError(
      "invalid_input",
      `${type}.geojson in "${folder}" is not a GeoJSON feature collection.`,
    );
  return features;
}

/** Returns undefined if the file does not exist. */
export async function readOptionalFile(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new AgentError("invalid_input", `${file} cannot be read.`, { cause: error });
  }
}

function parseFeatures(text: string): readonly Feature[] | undefined {
  try {
    const { features }: { features?: unknown } = JSON.parse(text);
    if (!Array.isArray(features)) return undefined;
    return features
      .filter(
        (feature) =>
          typeof feature?.id === "string" && typeof feature.properties === "object" && feature.properties,
      )
      .map((feature) => ({ ...feature, geometry: isGeometry(feature.geometry) ? feature.geometry : null }));
  } catch {
    return undefined; // the caller reports it with the file name
  }
}

type Check = (value: unknown) => boolean;
const createListCheck =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

export const isPosition: Check = (value) =>
  Array.isArray(value) && Number.isFinite(value[0]) && Number.isFinite(value[1]);
const isPolygon = createListCheck(createListCheck(isPosition));
const coordinateChecks: ReadonlyMap<unknown, Check> = new Map<unknown, Check>([
  ["Point", isPosition],
  ["LineString", createListCheck(isPosition)],
  ["Polygon", isPolygon],
  ["MultiPolygon", createListCheck(isPolygon)],
]);

/** The files are untrusted: invalid or unsupported geometry counts as missing. */
function isGeometry(value: { readonly type?: unknown; readonly coordinates?: unknown } | null): boolean {
  return coordinateChecks.get(value?.type)?.(value?.coordinates) ?? false;
}

/** IMDF labels are texts by language; prefers English. */
export function getLabel(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  const texts = Object.entries(value).filter(([, text]) => typeof text === "string");
  const [, text = ""] = texts.find(([language]) => language.startsWith("en")) ?? texts[0] ?? [];
  return text;
}

/** Each polygon is a list of rings: the outer one, then the holes. */
export function getPolygons(geometry: Geometry | null): readonly Polygon[] {
  if (geometry?.type === "Polygon") return [geometry.coordinates];
  return geometry?.type === "MultiPolygon" ? geometry.coordinates : [];
}

/** The average of all corners, which is close enough for a room. */
export function computeCenter(geometry: Geometry | null): Position | undefined {
  if (geometry?.type === "Point") return geometry.coordinates;
  const line =
    geometry?.type === "LineString" ? geometry.coordinates : getPolygons(geometry)[0]?.[0]?.slice(1);
  if (!line || line.length === 0) return undefined;
  const sum = line.reduce<[number, number]>(([x, y], [nextX, nextY]) => [x + nextX, y + nextY], [0, 0]);
  return [sum[0] / line.length, sum[1] / line.length];
}

/** Point-in-polygon test by ray casting. */
export function isInside([x, y]: Position, geometry: Geometry | null): boolean {
  return getPolygons(geometry).some((rings) => {
    let inside = false;
    for (const ring of rings) {
      for (const [index, [endX, endY]] of ring.entries()) {
        const [startX, startY] = ring.at(index - 1) ?? [endX, endY];
        const crosses =
          startY > y !== endY > y && x < ((endX - startX) * (y - startY)) / (endY - startY) + startX;
        if (crosses) inside = !inside;
      }
    }
    return inside;
  });
}
