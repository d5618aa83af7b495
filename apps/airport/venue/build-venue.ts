import { isOpenSpace, listRestroomUsers, toCategory } from "./categories.ts";
import { computeWindow } from "./clip-ring.ts";
import { findSpots, type Spot } from "./find-spots.ts";
import { type Geometry, getPolygons, isInside } from "./geometry.ts";
import { namePlaces, type PlaceName } from "./name-places.ts";
import { buildOpeningGraph } from "./opening-graph.ts";
import {
  createSkipList,
  type Feature,
  getIds,
  getLabel,
  type Imdf,
  type ImdfFiles,
  readImdf,
  type SkippedItem,
} from "./read-imdf.ts";
import type { Place, Position, SecuritySide, Shape, Venue } from "./venue.ts";
import { readWalkingGraph } from "./walking-graph.ts";

const firstPoiId = 5001;

export type BuiltVenue = { readonly venue: Venue; readonly skipped: readonly SkippedItem[] };

/**
 * Builds a venue from the files of an IMDF archive. Routes come from a `walking-graph.jsonl`, or are derived from the
 * openings if that file is missing. Without openings, `walking` is undefined and distances are straight lines. Throws an
 * error with the reasons if there is no place to find.
 */
export function buildVenue(files: ImdfFiles): BuiltVenue {
  const skipList = createSkipList();
  const imdf = readImdf(files, skipList);
  const spots = findSpots(imdf, skipList);
  const skipped = skipList.list();
  if (spots.length === 0) throw new Error(explainEmptyVenue(imdf, skipped));
  const names = namePlaces(spots, ({ level }) => getLevelName(level));
  const places = spots.map((spot, index) =>
    buildPlace(spot, {
      imdf,
      poiId: firstPoiId + index,
      ...(names[index] ?? { name: "", isGenerated: true }),
    }),
  );
  const ordinals = new Map(imdf.level.map((level) => [level.id, getOrdinal(level)]));
  const graph = files.get("walking-graph.jsonl");
  const walking = graph === undefined ? buildOpeningGraph(imdf, spots) : readWalkingGraph(graph, ordinals);
  const [description] = imdf.venue;
  const venue: Venue = {
    name: getLabel(description?.properties.name) || "The venue",
    kind: /^airport/.test(String(description?.properties.category)) ? "airport" : "venue",
    places,
    buildings: buildBuildings(imdf, places),
    levels: listLevels(imdf),
    shapes: buildShapes(imdf),
    ...(walking && { walking }),
  };
  return { venue, skipped };
}

function explainEmptyVenue({ level, unit }: Imdf, skipped: readonly SkippedItem[]): string {
  const missing = [
    ...(level.length === 0 ? ["level.geojson"] : []),
    ...(unit.length === 0 ? ["unit.geojson"] : []),
  ];
  const reasons = skipped.slice(0, 3).map(({ item, reason }) => ` ${item}: ${reason}`);
  return missing.length > 0
    ? `This is not an IMDF venue: missing or empty ${missing.join(", ")}.${reasons.join("")}`
    : `The venue has no places.${reasons.join("")}`;
}

type PlaceContext = PlaceName & { readonly imdf: Imdf; readonly poiId: number };

function buildPlace({ feature, level, at }: Spot, { imdf, poiId, name, isGenerated }: PlaceContext): Place {
  const { category, keywords, description, hours, alt_name: otherName } = feature.properties;
  const findFence = createFenceFinder(imdf, level, at);
  const side: SecuritySide | undefined = findFence("postsecurity")
    ? "after"
    : findFence("presecurity") && "before";
  const [buildingId] = getIds(level.properties.building_ids);
  const building = imdf.building.find(({ id }) => id === buildingId);
  const other = getLabel(otherName);
  return {
    poiId,
    featureId: feature.id,
    name,
    // The landmark in a generated name must not be found by it.
    aliases: isGenerated ? [] : [...buildAliases(name), ...(other !== "" && other !== name ? [other] : [])],
    category: toCategory(String(category ?? "unspecified"), name),
    keywords: [
      ...(Array.isArray(keywords) ? keywords.map(getLabel) : listGoods(String(category))),
      ...listRestroomUsers(String(category)),
    ],
    description: getLabel(description),
    ...(typeof hours === "string" && { hours: getLabel(hours) }),
    building: getLabel(building?.properties.name),
    area: getLabel(
      (findFence("concourse") ?? findSection(imdf, level, at) ?? findFence("terminal"))?.properties.name,
    ),
    level: getLevelName(level),
    ordinal: getOrdinal(level),
    ...(side && { security: side }),
    at,
  };
}

/** A geofence without levels is on all of them. */
function createFenceFinder(
  { geofence }: Imdf,
  level: Feature,
  at: Position,
): (category: string) => Feature | undefined {
  const fences = geofence.filter(({ geometry, properties }) => {
    const levels = getIds(properties.level_ids);
    return (levels.length === 0 || levels.includes(level.id)) && isInside(at, geometry);
  });
  return (category) => fences.find(({ properties }) => properties.category === category);
}

const findSection = ({ section }: Imdf, level: Feature, at: Position): Feature | undefined =>
  section.find(
    ({ geometry, properties }) =>
      properties.level_id === level.id && getLabel(properties.name) !== "" && isInside(at, geometry),
  );

/** "italian" for an occupant of this IMDF category, which becomes a restaurant. */
function listGoods(category: string): readonly string[] {
  const id = toCategory(category);
  return id !== category && ["restaurant", "cafe", "shop"].includes(id)
    ? [category.replaceAll(".", " ")]
    : [];
}

/** "Gate D15" is also found as "D15" and as the ambiguous "Gate 15". */
function buildAliases(name: string): string[] {
  const [, what, letter, number] = /^(\S+) ([A-Za-z])(\d+)$/.exec(name) ?? [];
  return what === undefined ? [name] : [name, `${letter}${number}`, `${what} ${number}`];
}

/** Label that fits into a room on the map. */
const shortenName = (name: string): string => buildAliases(name)[1] ?? name;

const getOrdinal = ({ properties }: Feature): number => Number(properties.ordinal) || 0;

const getLevelName = (level: Feature): string =>
  getLabel(level.properties.name) ||
  getLabel(level.properties.short_name) ||
  `Level ${getOrdinal(level) + 1}`;

function buildBuildings(imdf: Imdf, places: readonly Place[]): Venue["buildings"] {
  return imdf.building.flatMap((building) => {
    const name = getLabel(building.properties.name);
    if (name === "") return [];
    const buildingPlaces = places.filter((place) => place.building === name);
    const areas = new Set(buildingPlaces.map(({ area }) => area).filter((area) => area !== ""));
    const levels = imdf.level.filter(({ properties }) =>
      getIds(properties.building_ids).includes(building.id),
    );
    return [{ name, levels: levels.map(getLevelName), areas: [...areas] }];
  });
}

/** Buildings may call the same floor by different names. */
function listLevels({ level }: Imdf): Venue["levels"] {
  const byOrdinal = Map.groupBy(level, getOrdinal);
  return [...byOrdinal]
    .map(([ordinal, levels]) => ({ ordinal, name: [...new Set(levels.map(getLevelName))].join(" / ") }))
    .sort((left, right) => left.ordinal - right.ordinal);
}

function buildShapes({ building, level, unit }: Imdf): Shape[] {
  const buildingNames = new Map(building.map(({ id, properties }) => [id, getLabel(properties.name)]));
  const ordinals = new Map(level.map((each) => [each.id, getOrdinal(each)]));
  return [
    ...level.flatMap((each) => {
      const [buildingId = ""] = getIds(each.properties.building_ids);
      return getGroundRings(each.geometry).map((part, index) => ({
        ordinal: getOrdinal(each),
        look: "ground" as const,
        name: index === 0 ? (buildingNames.get(buildingId) ?? "") : "",
        rings: [part],
      }));
    }),
    ...unit.map(({ geometry, properties }) => ({
      ordinal: ordinals.get(String(properties.level_id)) ?? 0,
      look: isOpenSpace(String(properties.category)) ? ("open" as const) : ("room" as const),
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
