import { defineTool, type Tool } from "capstan";
import type { Concierge } from "./concierge.ts";

const nothing = { type: "object", properties: {}, additionalProperties: false } as const;

export function getBuildingsAndLevels({ venue }: Concierge): Tool {
  return defineTool({
    name: "getBuildingsAndLevels",
    description: "Lists the terminals (buildings) of the airport with their concourses and levels.",
    input: nothing,
    examples: [
      { says: "how many terminals are there" },
      { says: "which terminals are there" },
      { says: "which levels does the airport have" },
      { says: "list the buildings" },
      { says: "which concourses are there" },
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
      "Lists the kinds (categories) of places that can be searched for, with how many there are of each.",
    input: nothing,
    examples: [
      { says: "what kinds of places are there" },
      { says: "what kinds of places can you find" },
      { says: "which categories are there" },
    ],
    effects: "none",
    reads: ["public"],
    execute() {
      const groups = Map.groupBy(venue.places, ({ category }) => category);
      const categories = [...groups].map(([name, places]) => ({ name, places: places.length }));
      const words = categories.map(({ name, places }) => `${name} (${places})`).join(", ");
      return {
        message: `Kinds of places: ${words}.`,
        data: { categories: categories.map(({ name }) => name) },
      };
    },
  });
}
