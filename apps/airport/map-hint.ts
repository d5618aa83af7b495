import type { MapCategory, MapFeature, MapPin, MapProps, MapRoute } from "@capstan/studio";
import type { UiHint } from "capstan";
import { clipRing, computeWindow, type Window } from "./venue/clip-ring.ts";
import { measureDistance, type Place, type Position, type Shape, type Venue } from "./venue/venue.ts";

/** UI hints are stored with the call's result, so they must stay small. */
const maxCharacters = 36_000;

export type MapContent = {
  readonly pins: readonly MapPin[];
  readonly route?: MapRoute;
  /** Reply buttons below the answer. */
  readonly replies?: readonly string[];
};

/** The map shows the pin's level itself, so the note names only the area. */
export function createPin(
  { name, ordinal, at, area, building }: Place,
  look: MapPin["look"] = "place",
): MapPin {
  const note = area || building;
  return { label: name, level: String(ordinal), at: roundPosition(at), look, ...(note !== "" && { note }) };
}

/** Draws the part of the floor plan around the pins and the route, on the levels they touch. */
export function createMapHint(venue: Venue, content: MapContent): UiHint {
  const points = [...content.pins, ...(content.route?.points ?? [])];
  let props = drawMap(venue, content, 90);
  for (const radius of [60, 40, 25, 5]) {
    if (JSON.stringify(props).length <= maxCharacters || points.length === 0) break;
    props = drawMap(venue, content, radius);
  }
  // A single hall can exceed the limit. Then draw the pins and the route only.
  if (JSON.stringify(props).length > maxCharacters)
    props = { ...props, levels: props.levels.map((level) => ({ ...level, features: [] })) };
  return { kind: "map", props };
}

type Spot = { readonly level: string; readonly at: Position };

function drawMap(venue: Venue, { pins, route, replies }: MapContent, radius: number): MapProps {
  const spots: readonly Spot[] = [...pins, ...(route?.points ?? [])];
  // The route line shows the way, so less of the surroundings is needed.
  const reach = route ? Math.min(radius, 45) : radius;
  // Pins that are far apart need the whole airport as context.
  const margin = route || pins.length < 2 ? reach : 300;
  const window = computeWindow(
    spots.map(({ at }) => at),
    margin,
  );
  const levels = venue.levels.flatMap(({ ordinal, name }) => {
    const levelSpots = spots.filter(({ level }) => level === String(ordinal));
    if (levelSpots.length === 0) return [];
    const shapes = venue.shapes.filter((shape) => shape.ordinal === ordinal);
    const places = venue.places.filter((place) => place.ordinal === ordinal);
    const rooms = drawFeatures(shapes, levelSpots, { reach, window });
    const isRoom = (place: Place) => rooms.some(({ properties }) => isNamed(place, properties.name));
    const spotsNear = places.filter((place) => !isRoom(place) && isPlaceNear(place, levelSpots, reach));
    const features = [...rooms.map((room) => addCategory(room, places)), ...spotsNear.flatMap(toSpotFeature)];
    return [{ id: String(ordinal), name, features }];
  });
  return {
    title: venue.name,
    levels,
    pins,
    ...(route && { route }),
    ...(replies && { replies }),
  };
}

type MapFrame = { readonly reach: number; readonly window: Window };

function drawFeatures(
  shapes: readonly Shape[],
  spots: readonly Spot[],
  { reach, window }: MapFrame,
): MapFeature[] {
  const visibleShapes = shapes.filter((shape) => shape.look === "ground" || isNear(shape, spots, reach));
  const order = { ground: 0, open: 1, room: 2 } as const;
  return visibleShapes
    .map((shape) => ({ ...shape, rings: shape.rings.map((ring) => clipRing(ring, window)) }))
    .map((shape) => ({ ...shape, rings: shape.rings.filter((ring) => ring.length > 3) }))
    .filter(({ rings }) => rings.length > 0)
    .sort((left, right) => order[left.look] - order[right.look])
    .map(toFeature);
}

/** Measures to the center of a room, but to the closest point of a walkway, which is long and clipped to the window. */
function isNear({ look, rings }: Shape, spots: readonly Spot[], radius: number): boolean {
  const [west, south, east, north] = computeWindow(rings.flat(), 0);
  const middle: Position = [(west + east) / 2, (south + north) / 2];
  return spots.some(({ at }) => {
    const closest: Position = [clamp(at[0], west, east), clamp(at[1], south, north)];
    const reach = look === "open" ? Math.min(radius, 15) : radius;
    return (
      measureDistance(at, look === "open" ? closest : middle) <= reach || measureDistance(at, closest) < 1
    );
  });
}

const clamp = (value: number, minimum: number, maximum: number): number =>
  Math.min(Math.max(value, minimum), maximum);

function toFeature({ look, name, rings }: Shape): MapFeature {
  const coordinates = rings.map((ring) => ring.map(roundPosition));
  const [first = []] = coordinates;
  const geometry =
    coordinates.length === 1
      ? ({ type: "Polygon", coordinates: [first] } as const)
      : ({ type: "MultiPolygon", coordinates: coordinates.map((ring) => [ring]) } as const);
  return { type: "Feature", geometry, properties: { ...(name !== "" && { name }), look } };
}

/** How the map shows each kind of place. */
const mapCategories: { readonly [category: string]: MapCategory } = {
  ...{ gate: "gate", restaurant: "food", cafe: "cafe", bar: "food", shop: "shop", restroom: "restroom" },
  ...{ checkpoint: "security", lift: "lift", stairs: "stairs", escalator: "stairs", lounge: "lounge" },
  ...{ information: "information", pharmacy: "health", atm: "money", baggage: "baggage" },
  ...{ checkin: "check-in", water: "water", charging: "power" },
};

/** The plan names a gate "D15". */
const isNamed = ({ aliases }: Place, name: string | undefined): boolean =>
  name !== undefined && aliases.includes(name);

function addCategory(feature: MapFeature, places: readonly Place[]): MapFeature {
  const place = places.find((each) => isNamed(each, feature.properties.name));
  const category = place && mapCategories[place.category];
  return category ? { ...feature, properties: { ...feature.properties, category } } : feature;
}

const isPlaceNear = ({ at }: Place, spots: readonly Spot[], reach: number): boolean =>
  spots.some((spot) => measureDistance(at, spot.at) <= reach);

/** A place without a room, such as a lift, is an icon. */
function toSpotFeature({ category, at }: Place): MapFeature[] {
  const known = mapCategories[category];
  if (!known) return [];
  const geometry = { type: "Point", coordinates: roundPosition(at) } as const;
  return [{ type: "Feature", geometry, properties: { category: known } }];
}

/** Six decimal digits are a precision of about ten centimetres. */
export function roundPosition([x, y]: Position): Position {
  return [Math.round(x * 1e6) / 1e6, Math.round(y * 1e6) / 1e6];
}
