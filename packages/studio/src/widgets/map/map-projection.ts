import { type GeoPath, geoIdentity, geoMercator, geoPath, geoTransform } from "d3-geo";
import type { MapGeometry, MapProps, Position } from "../widget-props.ts";

export type Point = readonly [number, number];

export type Projection = {
  readonly project: (position: Position) => Point;
  readonly path: GeoPath;
};

type Size = { readonly width: number; readonly height: number };

const margin = 24;

/** Fits all levels into the size: a level switch does not move what is above or below. */
export function projectionOf(map: MapProps, { width, height }: Size): Projection {
  const extent: [[number, number], [number, number]] = [
    [margin, margin],
    [Math.max(width - margin, margin + 1), Math.max(height - margin, margin + 1)],
  ];
  const isPlan = map.coordinates === "plan";
  const all = {
    type: "MultiPoint" as const,
    coordinates: spacious(positionsOf(map).map(isPlan ? asPlan : asEarth), isPlan),
  };
  if (isPlan) {
    const plan = geoIdentity().reflectY(true).fitExtent(extent, all);
    return { project: (at) => pointOf(plan(asPlan(at))), path: geoPath(plan) };
  }
  const earth = geoMercator().fitExtent(extent, all);
  const project = (at: Position): Point => pointOf(earth(asEarth(at)));
  // Point by point, past the clipping of d3: it takes a floor whose corners run the other way round for the whole earth.
  const flat = geoTransform({
    point(x, y) {
      this.stream.point(...project([x, y]));
    },
  });
  return { project, path: geoPath(flat) };
}

const asPlan = ([x, y]: Position): [number, number] => [x, y];

/** The projection has no end towards the poles. */
const asEarth = ([x, y]: Position): [number, number] => [
  Math.min(Math.max(x, -180), 180),
  Math.min(Math.max(y, -85), 85),
];

/** One point alone, or none, would be drawn infinitely large: then there is some room around it. */
function spacious(positions: [number, number][], isPlan: boolean): [number, number][] {
  const [first = [0, 0]] = positions;
  if (positions.some(([x, y]) => Math.hypot(x - first[0], y - first[1]) > (isPlan ? 1e-3 : 1e-7)))
    return positions;
  const room = isPlan ? 10 : 0.0005;
  return [
    [first[0] - room, first[1] - room],
    [first[0] + room, first[1] + room],
  ];
}

const pointOf = (point: [number, number] | null): Point => point ?? [0, 0];

function positionsOf({ levels, pins = [], route }: MapProps): readonly Position[] {
  const positions = levels.flatMap(({ features }) => features.flatMap(({ geometry }) => cornersOf(geometry)));
  return [...positions, ...pins.map(({ at }) => at), ...(route?.points ?? []).map(({ at }) => at)];
}

function cornersOf(geometry: MapGeometry): readonly Position[] {
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
