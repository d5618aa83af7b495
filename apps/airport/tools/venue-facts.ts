import { defineTool, type Tool, type ToolReturn } from "capstan";
import { getSynonyms } from "../venue/categories.ts";
import { normalizeWords } from "../venue/normalize-words.ts";
import { searchPlaces } from "../venue/search-places.ts";
import { listLevelNames, type Venue } from "../venue/venue.ts";
import type { VenueContext } from "./venue-context.ts";

const emptyInput = { type: "object", properties: {}, additionalProperties: false } as const;

export function getBuildingsAndLevels({ venue, reads }: VenueContext): Tool {
  return defineTool({
    name: "getBuildingsAndLevels",
    description: `Lists the ${venue.kind === "airport" ? "terminals (buildings)" : "buildings"} of the ${venue.kind} with their areas and levels.`,
    input: emptyInput,
    examples: [
      { phrase: "how many terminals are there" },
      { phrase: "which terminals are there" },
      { phrase: `which levels does the ${venue.kind} have` },
      { phrase: "list the buildings" },
      { phrase: "which concourses are there" },
      { phrase: "how many concourses are there" },
      { phrase: "how many buildings are there" },
      { phrase: "how many levels are there" },
      { phrase: "how many floors are there" },
      { phrase: "number of terminals" },
      { phrase: "number of concourses" },
      { phrase: "number of levels" },
    ],
    effects: "none",
    reads: [reads],
    execute: () => ({
      message: `${venue.name} has ${describeSize(venue)}.`,
      data: {
        [venue.kind]: venue.name,
        ...(venue.buildings.length > 0
          ? {
              buildings: venue.buildings.map(({ name, areas, levels }) => ({
                name,
                concourses: areas,
                levels,
              })),
            }
          : { levels: listLevelNames(venue) }),
      },
    }),
  });
}

/** The name of a building is optional in IMDF. */
function describeSize(venue: Venue): string {
  const [count, what] =
    venue.buildings.length > 0
      ? [venue.buildings.length, "building"]
      : [listLevelNames(venue).length, "level"];
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

export function getCategories({ venue, reads }: VenueContext): Tool {
  return defineTool({
    name: "getCategories",
    description:
      "Lists the categories (kinds) of places with the number of places in each, or counts the places of one kind.",
    input: {
      type: "object",
      properties: {
        kind: { type: "string", description: "Only this kind, as the user put it: gates, toilets" },
        within: { type: "string", description: "Only places in this building or area" },
      },
      additionalProperties: false,
    },
    examples: [
      { phrase: "what kinds of places are there" },
      { phrase: "what kinds of places can you find" },
      { phrase: "which categories are there" },
      { phrase: "how many {kind} are there" },
      { phrase: `how many {kind} does the ${venue.kind} have` },
      { phrase: "how many {kind} are there in {within}" },
      { phrase: "how many {kind} are in {within}" },
      { phrase: "how many {kind} does {within} have" },
      { phrase: "number of {kind}" },
      { phrase: "number of {kind} in {within}" },
    ],
    effects: "none",
    reads: [reads],
    execute: ({ kind, within }) =>
      kind === undefined ? listCategories(venue) : countPlaces(venue, kind, within),
  });
}

function listCategories({ places: allPlaces }: Venue): ToolReturn {
  const groups = Map.groupBy(allPlaces, ({ category }) => category);
  const categories = [...groups].map(([name, places]) => ({ name, places: places.length }));
  const counts = categories.map(({ name, places }) => `${name} (${places})`).join(", ");
  return {
    message: `Kinds of places: ${counts}.`,
    data: { categories: categories.map(({ name }) => name) },
  };
}

function countPlaces(venue: Venue, kind: string, within?: string): ToolReturn {
  const categories = [...new Set(venue.places.map(({ category }) => category))];
  const normalizedKind = normalizeWords(kind).join(" ");
  const category = categories.find((name) =>
    [name, ...getSynonyms(name)].some((word) => normalizeWords(word).join(" ") === normalizedKind),
  );
  const names = venue.buildings.flatMap(({ name, areas }) => [name, ...areas]);
  const area = names.find(
    (name) => normalizeWords(name).join(" ") === normalizeWords(within ?? "").join(" "),
  );
  const message = !category
    ? `Unknown kind of place "${kind}". Known kinds: ${categories.join(", ")}.`
    : `"${within}" not found. Choose one of: ${names.join(", ")}.`;
  if (!category || (within !== undefined && !area)) return { message, data: {} };
  const filter = { categoryId: category, ...(area !== undefined && { buildingId: area }) };
  const count = searchPlaces(venue, filter).places.length;
  const countText = `${count} ${count === 1 ? "place" : "places"} of the kind "${category}"`;
  return { message: `${area ?? venue.name} has ${countText}.`, data: { count } };
}
