import { join } from "node:path";
import { categoryOf } from "./venue/categories.ts";
import { windowAround } from "./venue/clip-ring.ts";
import { openingGraph } from "./venue/opening-graph.ts";
import {
  centreOf,
  type Feature,
  type Geometry,
  type Imdf,
  isInside,
  labelOf,
  polygonsOf,
  readImdf,
  readText,
} from "./venue/read-imdf.ts";
import type { Place, Position, SecuritySide, Shape, Venue } from "./venue/venue.ts";
import { readWalkingGraph } from "./venue/walking-graph.ts";

/** The fictional airport that comes with the app. */
export const harbor: string = join(import.meta.dirname, "data", "harbor");

const firstId = 5001;

/**
 * Loads an IMDF folder. Ways come from its `walking-graph.jsonl`; without one they are made from the openings, and
 * where there are none either, `walking` is left out and distances are straight lines.
 */
export async function loadVenue(folder: string = harbor): Promise<Venue> {
  const imdf = await readImdf(folder);
  const levels = new Map(imdf.level.map((level) => [level.id, level]));
  const ordinals = new Map(imdf.level.map(({ id, properties }) => [id, Number(properties.ordinal) || 0]));
  const spots = spotsOf(imdf);
  const places = spots.map((spot, index) => placeAt(spot, { imdf, levels, poiId: firstId + index }));
  const graph = await readText(join(folder, "walking-graph.jsonl"));
  const units = new Map(spots.map(({ feature, unit }) => [feature.id, unit.id]));
  const walking =
    graph === undefined ? openingGraph(imdf, ordinals, units) : readWalkingGraph(graph, ordinals);
  return {
    name: labelOf(imdf.venue[0]?.properties.name) || "The venue",
    places,
    buildings: buildingsOf(imdf, places),
    levels: levelsOf(imdf),
    shapes: shapesOf(imdf, ordinals),
    ...(walking && { walking }),
  };
}

/** A feature that is a place for people, where it is, and in which unit. */
type Spot = { readonly feature: Feature; readonly unit: Feature; readonly at: Position };

function spotsOf({ amenity, occupant, anchor, unit: units }: Imdf): Spot[] {
  const unitOf = new Map(units.map((unit) => [unit.id, unit]));
  const anchors = new Map(anchor.map((one) => [one.id, one]));
  const spot = (feature: Feature, at: Position | undefined, unitId: unknown): Spot[] => {
    const unit = unitOf.get(String(unitId));
    return at && unit && labelOf(feature.properties.name) !== "" ? [{ feature, unit, at }] : [];
  };
  return [
    ...amenity.flatMap((feature) =>
      spot(feature, centreOf(feature.geometry), [feature.properties.unit_ids].flat()[0]),
    ),
    ...occupant.flatMap((feature) => {
      const anchored = anchors.get(String(feature.properties.anchor_id));
      return spot(feature, centreOf(anchored?.geometry ?? null), anchored?.properties.unit_id);
    }),
  ];
}

type Around = { readonly imdf: Imdf; readonly levels: ReadonlyMap<string, Feature>; readonly poiId: number };

function placeAt({ feature, unit, at }: Spot, { imdf, levels, poiId }: Around): Place {
  const { name, category, keywords, description, hours } = feature.properties;
  const level = levels.get(String(unit.properties.level_id));
  const fences = imdf.geofence.filter(
    ({ geometry, properties }) => [properties.level_ids].flat().includes(level?.id) && isInside(at, geometry),
  );
  const fence = (kind: string) => fences.find(({ properties }) => properties.category === kind);
  const side: SecuritySide | undefined = fence("postsecurity") ? "after" : fence("presecurity") && "before";
  const [buildingId] = [level?.properties.building_ids].flat();
  const building = imdf.building.find(({ id }) => id === buildingId);
  const known = labelOf(name);
  return {
    poiId,
    featureId: feature.id,
    name: known,
    aliases: aliasesOf(known),
    category: categoryOf(String(category ?? "unspecified")),
    keywords: Array.isArray(keywords) ? keywords.map(String) : [],
    description: labelOf(description),
    ...(typeof hours === "string" && { hours }),
    building: labelOf(building?.properties.name),
    area: labelOf(fence("concourse")?.properties.name),
    level: labelOf(level?.properties.name) || `Level ${Number(level?.properties.ordinal ?? 0) + 1}`,
    ordinal: Number(level?.properties.ordinal) || 0,
    ...(side && { security: side }),
    at,
  };
}

/** "Gate D15" is also "D15", and "Gate 15" to those who do not know that there are two. */
function aliasesOf(name: string): string[] {
  const [, what, letter, number] = /^(\S+) ([A-Za-z])(\d+)$/.exec(name) ?? [];
  return what === undefined ? [name] : [name, `${letter}${number}`, `${what} ${number}`];
}

/** What fits into a room on a map. */
const shortName = (name: string): string => aliasesOf(name)[1] ?? name;

function buildingsOf(imdf: Imdf, places: readonly Place[]): Venue["buildings"] {
  return imdf.building.map((building) => {
    const name = labelOf(building.properties.name);
    const inside = places.filter((place) => place.building === name);
    const areas = new Set(inside.map(({ area }) => area).filter((area) => area !== ""));
    const levels = imdf.level.filter(({ properties }) =>
      [properties.building_ids].flat().includes(building.id),
    );
    return { name, levels: levels.map(({ properties }) => labelOf(properties.name)), areas: [...areas] };
  });
}

function levelsOf({ level }: Imdf): Venue["levels"] {
  const names = new Map(
    level.map(({ properties }) => [Number(properties.ordinal) || 0, labelOf(properties.name)] as const),
  );
  return [...names].map(([ordinal, name]) => ({ ordinal, name })).sort((a, b) => a.ordinal - b.ordinal);
}

function shapesOf({ building, level, unit }: Imdf, ordinals: ReadonlyMap<string, number>): Shape[] {
  const isOpen = /^(?:walkway|lobby|footbridge|movingwalkway|ramp|platform|unenclosedarea|concourse)/;
  const nameOf = new Map<unknown, string>(
    building.map(({ id, properties }) => [id, labelOf(properties.name)]),
  );
  return [
    ...level.flatMap(({ id, geometry, properties }) => {
      const name = nameOf.get([properties.building_ids].flat()[0]) ?? "";
      return groundOf(geometry).map((part, index) => ({
        ordinal: ordinals.get(id) ?? 0,
        look: "ground" as const,
        name: index === 0 ? name : "",
        rings: [part],
      }));
    }),
    ...unit.map(({ geometry, properties }) => ({
      ordinal: ordinals.get(String(properties.level_id)) ?? 0,
      look: isOpen.test(String(properties.category)) ? ("open" as const) : ("room" as const),
      name: shortName(labelOf(properties.name)),
      rings: ringsOf(geometry),
    })),
  ];
}

const ringsOf = (geometry: Geometry | null): Shape["rings"] =>
  polygonsOf(geometry).flatMap(([outer]) => (outer ? [outer] : []));

/** The parts of a level, the widest first: there its building has room for a name. */
function groundOf(geometry: Geometry | null): Shape["rings"] {
  const widthOf = (ring: readonly Position[]): number => {
    const [west, , east] = windowAround(ring, 0);
    return east - west;
  };
  return ringsOf(geometry).toSorted((left, right) => widthOf(right) - widthOf(left));
}
