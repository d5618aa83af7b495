import { type GeoPath, geoIdentity, geoMercator, geoPath, geoTransform } from "d3-geo";
import type { MapGeometry, MapProps, Position } from "../widget-props.ts";

export type Point = readonly [number, number];

export type Projection = {
  readonly project: (position: Position) => Point;
  readonly path: GeoPath;
};

type Size = { readonly width: number; readonly height: number };

const margin = 24;

/** Fits all levels into the size, so that switching levels does not move the map. */
export function createProjection(map: MapProps, { width, height }: Size): Projection {
  const extent: [[number, number], [number, number]] = [
    [margin, margin],
    [Math.max(width - margin, margin + 1), Math.max(height - margin, margin + 1)],
  ];
  const isPlan = map.coordinates === "plan";
  const all = {
    type: "MultiPoint" as const,
    coordinates: addMargin(collectPositions(map).map(isPlan ? toPlan : toEarth), isPlan),
  };
  if (isPlan) {
    const plan = geoIdentity().reflectY(true).fitExtent(extent, all);
    return { project: (position) => toPoint(plan(toPlan(position))), path: geoPath(plan) };
  }
  const earth = geoMercator().fitExtent(extent, all);
  const project = (position: Position): Point => toPoint(earth(toEarth(position)));
  // Bypasses d3's clipping, which treats a polygon with reversed winding as the whole globe.
  const flat = geoTransform({
    point(x, y) {
      this.stream.point(...project([x, y]));
    },
  });
  return { project, path: geoPath(flat) };
}

const toPlan = ([x, y]: Position): [number, number] => [x, y];

/** Mercator is infinite towards the poles. */
const toEarth = ([x, y]: Position): [number, number] => [
  Math.min(Math.max(x, -180), 180),
  Math.min(Math.max(y, -85), 85),
];

/** Adds space around a single point, which would otherwise be scaled infinitely. */
function addMargin(positions: [number, number][], isPlan: boolean): [number, number][] {
  const [first = [0, 0]] = positions;
  if (positions.some(([x, y]) => Math.hypot(x - first[0], y - first[1]) > (isPlan ? 1e-3 : 1e-7)))
    return positions;
  const room = isPlan ? 10 : 0.0005;
  return [
    [first[0] - room, first[1] - room],
    [first[0] + room, first[1] + room],
  ];
}

const toPoint = (point: [number, number] | null): Point => point ?? [0, 0];

function collectPositions({ levels, pins = [], route }: MapProps): readonly Position[] {
  const positions = levels.flatMap(({ features }) =>
    features.flatMap(({ geometry }) => getCorners(geometry)),
  );
  return [
    ...positions,
    ...pins.map(({ at: position }) => position),
    ...(route?.points ?? []).map(({ at: position }) => position),
  ];
}

function getCorners(geometry: MapGeometry): readonly Position[] {
  switch (geometry.type) {
    case "Point":
      return [geometry.coordinates];
    case "MultiPoint":
    case "LineString":
      return geometry.coordinates;
    case "Polygon":
    case "MultiLineString":
      return geometry.coordinates.flat();
    case "MultiPolygon":
      return geometry.coordinates.flat(2);
  }
}
