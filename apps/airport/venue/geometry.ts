import { measureDistance, type Position } from "./venue.ts";

type Ring = readonly Position[];
/** The outer ring, then the holes. */
export type Polygon = readonly Ring[];
export type Geometry =
  | { readonly type: "Point"; readonly coordinates: Position }
  | { readonly type: "LineString"; readonly coordinates: Ring }
  | { readonly type: "Polygon"; readonly coordinates: Polygon }
  | { readonly type: "MultiPolygon"; readonly coordinates: readonly Polygon[] };

type Check = (value: unknown) => boolean;
const createListCheck =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every(check);

const isWithin = (value: unknown, limit: number): boolean =>
  typeof value === "number" && Math.abs(value) <= limit;

export function isPosition(value: unknown): value is Position {
  return Array.isArray(value) && isWithin(value[0], 180) && isWithin(value[1], 90);
}

const isPolygon = createListCheck(createListCheck(isPosition));
const coordinateChecks: ReadonlyMap<unknown, Check> = new Map<unknown, Check>([
  ["Point", isPosition],
  ["LineString", createListCheck(isPosition)],
  ["Polygon", isPolygon],
  ["MultiPolygon", createListCheck(isPolygon)],
]);

/** The files are untrusted: invalid or unsupported geometry counts as missing. */
export function isGeometry(value: unknown): value is Geometry {
  if (typeof value !== "object" || value === null) return false;
  const check = coordinateChecks.get(Reflect.get(value, "type"));
  return check?.(Reflect.get(value, "coordinates")) ?? false;
}

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

export type Wall = readonly [start: Position, end: Position];

/** The sides of all rings. */
export function listWalls(geometry: Geometry | null): readonly Wall[] {
  return getPolygons(geometry).flatMap((rings) =>
    rings.flatMap((ring) => ring.slice(1).map((end, index): Wall => [ring[index] ?? end, end])),
  );
}

/** Distance in metres from a point to the nearest wall. */
export function measureToWalls(at: Position, walls: readonly Wall[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (const [start, end] of walls) {
    const [along, up] = [end[0] - start[0], end[1] - start[1]];
    const length = along * along + up * up;
    const share = length === 0 ? 0 : ((at[0] - start[0]) * along + (at[1] - start[1]) * up) / length;
    const clamped = Math.min(1, Math.max(0, share));
    least = Math.min(least, measureDistance(at, [start[0] + along * clamped, start[1] + up * clamped]));
  }
  return least;
}
