import type { MapFeature, MapPin, MapProps, MapRoute } from "@capstan/studio";
import type { UiHint } from "capstan";
import { clipRing, type Window, windowAround } from "./venue/clip-ring.ts";
import { metresBetween, type Place, type Position, type Shape, type Venue } from "./venue/venue.ts";

/** A hint is stored with the fact of its call: it must stay small. */
const mostCharacters = 36_000;

export type MapContent = {
  readonly pins: readonly MapPin[];
  readonly route?: MapRoute;
  /** Buttons under the answer. */
  readonly replies?: readonly string[];
};

/** The map itself names the level of a pin. */
export function pinOf({ name, ordinal, at, area, building }: Place, look: MapPin["look"] = "place"): MapPin {
  const note = area || building;
  return { label: name, level: String(ordinal), at: rounded(at), look, ...(note !== "" && { note }) };
}

/** The part of the plan around pins and route, on the levels that they touch. */
export function mapHint(venue: Venue, content: MapContent): UiHint {
  const points = [...content.pins, ...(content.route?.points ?? [])];
  let props = drawn(venue, content, 90);
  for (const radius of [60, 40, 25, 5]) {
    if (JSON.stringify(props).length <= mostCharacters || points.length === 0) break;
    props = drawn(venue, content, radius);
  }
  // The walls of one hall alone may be too much: then the pins and the way have to do.
  if (JSON.stringify(props).length > mostCharacters)
    props = { ...props, levels: props.levels.map((level) => ({ ...level, features: [] })) };
  return { kind: "map", props: props as unknown as UiHint["props"] };
}

type Spot = { readonly level: string; readonly at: Position };

function drawn(venue: Venue, { pins, route, replies }: MapContent, radius: number): MapProps {
  const spots: readonly Spot[] = [...pins, ...(route?.points ?? [])];
  // Along a route its own line tells the way: less of what lies beside it is needed.
  const reach = route ? Math.min(radius, 45) : radius;
  // Pins that are far apart need all of the airport around them.
  const margin = route || pins.length < 2 ? reach : 300;
  const window = windowAround(
    spots.map(({ at }) => at),
    margin,
  );
  const levels = venue.levels.flatMap(({ ordinal, name }) => {
    const here = spots.filter(({ level }) => level === String(ordinal));
    if (here.length === 0) return [];
    const shapes = venue.shapes.filter((shape) => shape.ordinal === ordinal);
    return [{ id: String(ordinal), name, features: featuresOf(shapes, here, { reach, window }) }];
  });
  return {
    title: venue.name,
    levels,
    pins,
    ...(route && { route }),
    ...(replies && { replies }),
  };
}

type Frame = { readonly reach: number; readonly window: Window };

function featuresOf(
  shapes: readonly Shape[],
  spots: readonly Spot[],
  { reach, window }: Frame,
): MapFeature[] {
  const chosen = shapes.filter((shape) => shape.look === "ground" || isNear(shape, spots, reach));
  const order = { ground: 0, open: 1, room: 2 } as const;
  return chosen
    .map((shape) => ({ ...shape, rings: shape.rings.map((ring) => clipRing(ring, window)) }))
    .map((shape) => ({ ...shape, rings: shape.rings.filter((ring) => ring.length > 3) }))
    .filter(({ rings }) => rings.length > 0)
    .sort((left, right) => order[left.look] - order[right.look])
    .map(featureOf);
}

/** A room is near by its middle, a walkway by any part of it: it is long, and cut to the window. */
function isNear({ look, rings }: Shape, spots: readonly Spot[], radius: number): boolean {
  const [west, south, east, north] = windowAround(rings.flat(), 0);
  const middle: Position = [(west + east) / 2, (south + north) / 2];
  return spots.some(({ at }) => {
    const closest: Position = [clamp(at[0], west, east), clamp(at[1], south, north)];
    const reach = look === "open" ? Math.min(radius, 15) : radius;
    return metresBetween(at, look === "open" ? closest : middle) <= reach || metresBetween(at, closest) < 1;
  });
}

const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);

function featureOf({ look, name, rings }: Shape): MapFeature {
  const coordinates = rings.map((ring) => ring.map(rounded));
  const [first = []] = coordinates;
  const geometry =
    coordinates.length === 1
      ? ({ type: "Polygon", coordinates: [first] } as const)
      : ({ type: "MultiPolygon", coordinates: coordinates.map((ring) => [ring]) } as const);
  return { type: "Feature", geometry, properties: { ...(name !== "" && { name }), look } };
}

/** Six digits are a step of ten centimetres. */
export function rounded([x, y]: Position): Position {
  return [Math.round(x * 1e6) / 1e6, Math.round(y * 1e6) / 1e6];
}
