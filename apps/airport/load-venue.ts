import { join } from "node:path";
import { toCategory } from "./venue/categories.ts";
import { computeWindow } from "./venue/clip-ring.ts";
import { buildOpeningGraph } from "./venue/opening-graph.ts";
import {
  computeCenter,
  type Feature,
  type Geometry,
  getLabel,
  getPolygons,
  type Imdf,
  isInside,
  readImdf,
  readOptionalFile,
} from "./venue/read-imdf.ts";
import type { Place, Position, SecuritySide, Shape, Venue } from "./venue/venue.ts";
import { readWalkingGraph } from "./venue/walking-graph.ts";

/** The fictional airport included with the app. */
export const harborFolder: string = join(import.meta.dirname, "data", "harbor");

const firstPoiId = 5001;

/**
 * Loads an IMDF folder. Routes come from its `walking-graph.jsonl`, or are derived from the openings if that file is
 * missing. Without openings, `walking` is undefined and distances are straight lines.
 */
export async function loadVenue(folder: string = harborFolder): Promise<Venue> {
  const imdf = await readImdf(folder);
  const levels = new Map(imdf.level.map((level) => [level.id, level]));
  const ordinals = new Map(imdf.level.map(({ id, properties }) => [id, Number(properties.ordinal) || 0]));
  const spots = findSpots(imdf);
  const places = spots.map((spot, index) => buildPlace(spot, { imdf, levels, poiId: firstPoiId + index }));
  const graph = await readOptionalFile(join(folder, "walking-graph.jsonl"));
  const unitIds = new Map(spots.map(({ feature, unit }) => [feature.id, unit.id]));
  const walking =
    graph === undefined ? buildOpeningGraph(imdf, ordinals, unitIds) : readWalkingGraph(graph, ordinals);
  return {
    name: getLabel(imdf.venue[0]?.properties.name) || "The venue",
    places,
    buildings: buildBuildings(imdf, places),
    levels: listLevels(imdf),
    shapes: buildShapes(imdf, ordinals),
    ...(walking && { walking }),
  };
}

/** A feature that becomes a place, with its position and unit. */
type Spot = { readonly feature: Feature; readonly unit: Feature; readonly at: Position };

function findSpots({ amenity, occupant, anchor, unit: unitIds }: Imdf): Spot[] {
  const unitsById = new Map(unitIds.map((unit) => [unit.id, unit]));
  const anchorsById = new Map(anchor.map((feature) => [feature.id, feature]));
  const createSpot = (feature: Feature, at: Position | undefined, unitId: unknown): Spot[] => {
    const unit = unitsById.get(String(unitId));
    return at && unit && getLabel(feature.properties.name) !== "" ? [{ feature, unit, at }] : [];
  };
  return [
    ...amenity.flatMap((feature) =>
      createSpot(feature, computeCenter(feature.geometry), [feature.properties.unit_ids].flat()[0]),
    ),
    ...occupant.flatMap((feature) => {
      const anchored = anchorsById.get(String(feature.properties.anchor_id));
      return createSpot(feature, computeCenter(anchored?.geometry ?? null), anchored?.properties.unit_id);
    }),
  ];
}

type PlaceContext = {
  readonly imdf: Imdf;
  readonly levels: ReadonlyMap<string, Feature>;
  readonly poiId: number;
};

function buildPlace({ feature, unit, at }: Spot, { imdf, levels, poiId }: PlaceContext): Place {
  const { name, category, keywords, description, hours } = feature.properties;
  const level = levels.get(String(unit.properties.level_id));
  const fences = imdf.geofence.filter(
    ({ geometry, properties }) => [properties.level_ids].flat().includes(level?.id) && isInside(at, geometry),
  );
  const findFence = (kind: string) => fences.find(({ properties }) => properties.category === kind);
  const side: SecuritySide | undefined = findFence("postsecurity")
    ? "after"
    : findFence("presecurity") && "before";
  const [buildingId] = [level?.properties.building_ids].flat();
  const building = imdf.building.find(({ id }) => id === buildingId);
  const placeName = getLabel(name);
  return {
    poiId,
    featureId: feature.id,
    name: placeName,
    aliases: buildAliases(placeName),
    category: toCategory(String(category ?? "unspecified")),
    keywords: Array.isArray(keywords) ? keywords.map(String) : [],
    description: getLabel(description),
    ...(typeof hours === "string" && { hours }),
    building: getLabel(building?.properties.name),
    area: getLabel(findFence("concourse")?.properties.name),
    level: getLabel(level?.properties.name) || `Level ${Number(level?.properties.ordinal ?? 0) + 1}`,
    ordinal: Number(level?.properties.ordinal) || 0,
    ...(side && { security: side }),
    at,
  };
}

/** "Gate D15" is also found as "D15" and as the ambiguous "Gate 15". */
function buildAliases(name: string): string[] {
  const [, what, letter, number] = /^(\S+) ([A-Za-z])(\d+)$/.exec(name) ?? [];
  return what === undefined ? [name] : [name, `${letter}${number}`, `${what} ${number}`];
}

/** Label that fits into a room on the map. */
const shortenName = (name: string): string => buildAliases(name)[1] ?? name;

function buildBuildings(imdf: Imdf, places: readonly Place[]): Venue["buildings"] {
  return imdf.building.map((building) => {
    const name = getLabel(building.properties.name);
    const buildingPlaces = places.filter((place) => place.building === name);
    const areas = new Set(buildingPlaces.map(({ area }) => area).filter((area) => area !== ""));
    const levels = imdf.level.filter(({ properties }) =>
      [properties.building_ids].flat().includes(building.id),
    );
    return { name, levels: levels.map(({ properties }) => getLabel(properties.name)), areas: [...areas] };
  });
}

function listLevels({ level }: Imdf): Venue["levels"] {
  const names = new Map(
    level.map(({ properties }) => [Number(properties.ordinal) || 0, getLabel(properties.name)] as const),
  );
  return [...names].map(([ordinal, name]) => ({ ordinal, name })).sort((a, b) => a.ordinal - b.ordinal);
}

function buildShapes({ building, level, unit }: Imdf, ordinals: ReadonlyMap<string, number>): Shape[] {
  const openCategory = /^(?:walkway|lobby|footbridge|movingwalkway|ramp|platform|unenclosedarea|concourse)/;
  const buildingNames = new Map<unknown, string>(
    building.map(({ id, properties }) => [id, getLabel(properties.name)]),
  );
  return [
    ...level.flatMap(({ id, geometry, properties }) => {
      const name = buildingNames.get([properties.building_ids].flat()[0]) ?? "";
      return getGroundRings(geometry).map((part, index) => ({
        ordinal: ordinals.get(id) ?? 0,
        look: "ground" as const,
        name: index === 0 ? name : "",
        rings: [part],
      }));
    }),
    ...unit.map(({ geometry, properties }) => ({
      ordinal: ordinals.get(String(properties.level_id)) ?? 0,
      look: openCategory.test(String(properties.category)) ? ("open" as const) : ("room" as const),
      name: shortenName(getLabel(properties.name)),
      rings: getOuterRings(geometry),
    })),
  ];
}

const getOuterRings = (geometry: Geometry | null): Shape["rings"] =>
  getPolygons(geometry).flatMap(([outer]) => (outer ? [outer] : []));

/** The parts of a level, widest first: the building's name goes on the widest. */
function getGroundRings(geometry: Geometry | null): Shape["rings"] {
  const measureWidth = (ring: readonly Position[]): number => {
    const [west, , east] = computeWindow(ring, 0);
    return east - west;
  };
  return getOuterRings(geometry).toSorted((left, right) => measureWidth(right) - measureWidth(left));
}
