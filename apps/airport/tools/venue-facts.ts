import { defineTool, type Tool, type ToolReturn } from "capstan";
import { wordsFor } from "../venue/categories.ts";
import { plainWords } from "../venue/plain-words.ts";
import { searchPlaces } from "../venue/search-places.ts";
import type { Venue } from "../venue/venue.ts";
import type { Concierge } from "./concierge.ts";

const nothing = { type: "object", properties: {}, additionalProperties: false } as const;

export function getBuildingsAndLevels({ venue }: Concierge): Tool {
  return defineTool({
    name: "getBuildingsAndLevels",
    description: "Lists the terminals (buildings) of the airport with their concourses and levels.",
    input: nothing,
    examples: [
      { phrase: "how many terminals are there" },
      { phrase: "which terminals are there" },
      { phrase: "which levels does the airport have" },
      { phrase: "list the buildings" },
      { phrase: "which concourses are there" },
      { phrase: "how many concourses are there" },
      { phrase: "how many buildings are there" },
      { phrase: "how many levels are there" },
      { phrase: "how many floors are there" },
    ],
    effects: "none",
    reads: ["public"],
    execute: () => ({
      message: `${venue.name} has ${venue.buildings.length} buildings.`,
      data: {
        airport: venue.name,
        buildings: venue.buildings.map(({ name, areas, levels }) => ({ name, concourses: areas, levels })),
      },
    }),
  });
}

export function getCategories({ venue }: Concierge): Tool {
  return defineTool({
    name: "getCategories",
    description:
      "Lists the kinds (categories) of places that can be searched for, with how many there are of each; or tells how many there are of one kind.",
    input: {
      type: "object",
      properties: {
        kind: { type: "string", description: "Only this kind, in the words of the person: gates, toilets" },
        within: { type: "string", description: "Only what is in this terminal or concourse" },
      },
      additionalProperties: false,
    },
    examples: [
      { phrase: "what kinds of places are there" },
      { phrase: "what kinds of places can you find" },
      { phrase: "which categories are there" },
      { phrase: "how many {kind} are there" },
      { phrase: "how many {kind} does the airport have" },
      { phrase: "how many {kind} are there in {within}" },
      { phrase: "how many {kind} are in {within}" },
      { phrase: "how many {kind} does {within} have" },
    ],
    effects: "none",
    reads: ["public"],
    execute: ({ kind, within }) => (kind === undefined ? allKinds(venue) : numberOf(venue, kind, within)),
  });
}

function allKinds({ places: all }: Venue): ToolReturn {
  const groups = Map.groupBy(all, ({ category }) => category);
  const categories = [...groups].map(([name, places]) => ({ name, places: places.length }));
  const words = categories.map(({ name, places }) => `${name} (${places})`).join(", ");
  return {
    message: `Kinds of places: ${words}.`,
    data: { categories: categories.map(({ name }) => name) },
  };
}

function numberOf(venue: Venue, kind: string, within?: string): ToolReturn {
  const categories = [...new Set(venue.places.map(({ category }) => category))];
  const wanted = plainWords(kind).join(" ");
  const category = categories.find((one) =>
    [one, ...wordsFor(one)].some((word) => plainWords(word).join(" ") === wanted),
  );
  const names = venue.buildings.flatMap(({ name, areas }) => [name, ...areas]);
  const place = names.find((name) => plainWords(name).join(" ") === plainWords(within ?? "").join(" "));
  const message = !category
    ? `"${kind}" is no kind of place here. There are: ${categories.join(", ")}.`
    : `There is no "${within}" here. There are: ${names.join(", ")}.`;
  if (!category || (within !== undefined && !place)) return { message, data: {} };
  const filter = { categoryId: category, ...(place !== undefined && { buildingId: place }) };
  const count = searchPlaces(venue, filter).places.length;
  const said = `${count} ${count === 1 ? "place" : "places"} of the kind "${category}"`;
  return { message: `${place ?? venue.name} has ${said}.`, data: { count } };
}
