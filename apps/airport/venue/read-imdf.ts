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

const required = ["venue", "building", "level", "unit"] as const;
const optional = ["amenity", "occupant", "anchor", "opening", "geofence"] as const;
export type FeatureType = (typeof required)[number] | (typeof optional)[number];
export type Imdf = { readonly [Type in FeatureType]: readonly Feature[] };

/** The features of an IMDF folder. A folder that is none is an error that says what is missing. */
export async function readImdf(folder: string): Promise<Imdf> {
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) throw new AgentError("not_found", `There is no folder "${folder}" with an IMDF venue.`);
  const types = [...required, ...optional];
  const read = await Promise.all(types.map((type) => readFeatures(folder, type)));
  const missing = required.filter((type) => !read[types.indexOf(type)]?.length);
  if (missing.length > 0) {
    const files = missing.map((type) => `${type}.geojson`).join(", ");
    throw new AgentError(
      "invalid_input",
      `The folder "${folder}" is no IMDF venue: there is nothing in ${files}. Unpack the IMDF archive into it.`,
    );
  }
  return Object.fromEntries(types.map((type, index) => [type, read[index] ?? []])) as Imdf;
}

async function readFeatures(folder: string, type: string): Promise<readonly Feature[]> {
  const text = await readText(join(folder, `${type}.geojson`));
  if (text === undefined) return [];
  const features = featuresIn(text);
  if (!features)
    throw new AgentError("invalid_input", `${type}.geojson in "${folder}" is no GeoJSON feature collection.`);
  return features;
}

/** The text of a file, or nothing when there is no such file. */
export async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return undefined;
    throw new AgentError("invalid_input", `${file} cannot be read.`, { cause: thrown });
  }
}

function featuresIn(text: string): readonly Feature[] | undefined {
  try {
    const { features } = JSON.parse(text) as { features?: unknown };
    if (!Array.isArray(features)) return undefined;
    return features
      .filter(
        (feature) =>
          typeof feature?.id === "string" && typeof feature.properties === "object" && feature.properties,
      )
      .map((feature) => ({ ...feature, geometry: isGeometry(feature.geometry) ? feature.geometry : null }));
  } catch {
    return undefined; // said by the caller, with the name of the file
  }
}

type Check = (value: unknown) => boolean;
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

export const isPosition: Check = (value) =>
  Array.isArray(value) && Number.isFinite(value[0]) && Number.isFinite(value[1]);
const isPolygon = isListOf(isListOf(isPosition));
const shapes: ReadonlyMap<unknown, Check> = new Map<unknown, Check>([
  ["Point", isPosition],
  ["LineString", isListOf(isPosition)],
  ["Polygon", isPolygon],
  ["MultiPolygon", isListOf(isPolygon)],
]);

/** Files come from elsewhere: what is no shape, or another kind of shape, is left out. */
function isGeometry(value: { readonly type?: unknown; readonly coordinates?: unknown } | null): boolean {
  return shapes.get(value?.type)?.(value?.coordinates) ?? false;
}

/** A text of IMDF: labels are texts by language. */
export function labelOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  const texts = Object.entries(value).filter(([, text]) => typeof text === "string");
  const [, text = ""] = texts.find(([language]) => language.startsWith("en")) ?? texts[0] ?? [];
  return text;
}

/** The outer and inner rings of each polygon. */
export function polygonsOf(geometry: Geometry | null): readonly Polygon[] {
  if (geometry?.type === "Polygon") return [geometry.coordinates];
  return geometry?.type === "MultiPolygon" ? geometry.coordinates : [];
}

/** The middle of all corners: good enough for a room. */
export function centreOf(geometry: Geometry | null): Position | undefined {
  if (geometry?.type === "Point") return geometry.coordinates;
  const line =
    geometry?.type === "LineString" ? geometry.coordinates : polygonsOf(geometry)[0]?.[0]?.slice(1);
  if (!line || line.length === 0) return undefined;
  const sum = line.reduce<[number, number]>(([x, y], [nextX, nextY]) => [x + nextX, y + nextY], [0, 0]);
  return [sum[0] / line.length, sum[1] / line.length];
}

/** Whether a position lies in one of the polygons, by counting the sides it crosses. */
export function isInside([x, y]: Position, geometry: Geometry | null): boolean {
  return polygonsOf(geometry).some((rings) => {
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
