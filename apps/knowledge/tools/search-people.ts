import { defineTool, type Tool } from "capstan";
import type { Library } from "../library/library.ts";
import type { Person } from "../library/package-facts.ts";
import { contextsOf, type Found, sourcesHint } from "./passages.ts";

/** `search_people`: who wrote or looks after what, by the metadata of the installed packages. */
export function searchPeople(library: Library): Tool {
  return defineTool({
    name: "search_people",
    description:
      "Finds people by their name or by a package: its author, maintainers and contributors, and what else they work on.",
    input: {
      type: "object",
      properties: {
        query: {
          type: "string",
          minLength: 1,
          maxLength: 300,
          description: "A name, or the name of a package.",
        },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: 20,
          default: 5,
          description: "How many people at most.",
        },
      },
      required: ["query"],
      additionalProperties: false,
    },
    examples: [
      { phrase: "who maintains {query}" },
      { phrase: "who wrote {query}" },
      { phrase: "who made {query}" },
      { phrase: "who created {query}" },
      { phrase: "who built {query}" },
      { phrase: "who develops {query}" },
      { phrase: "who works on {query}" },
      { phrase: "who is behind {query}" },
      { phrase: "find everybody who works on {query}" },
      { phrase: "who is the author of {query}" },
      { phrase: "find the people behind {query}" },
      { phrase: "people who work on {query}" },
      { phrase: "which packages does {query} write" },
      { phrase: "which packages did {query} write" },
      { phrase: "what else did {query} write" },
    ],
    effects: "none",
    reads: library.reads,
    async execute({ query, limit = 5 }, { progress }) {
      const people = (await library.open(progress)).people(query, limit);
      if (people.length === 0)
        return {
          message: `Nobody was found for "${query}" in the metadata of packages.`,
          data: { people: [] },
        };
      const found = people.map(foundOf);
      const message = `${people.length === 1 ? "One person" : `${people.length} people`} for "${query}".`;
      return {
        message,
        data: { people: people.map(({ name, url, packages }) => ({ name, ...(url && { url }), packages })) },
        contexts: contextsOf(found),
        ui: sourcesHint(message, found, query),
      };
    },
  });
}

const mostPackages = 30;

function foundOf({ name, url, packages }: Person): Found {
  const roles = Map.groupBy(packages.slice(0, mostPackages), ({ role }) => role);
  const parts = [...roles].map(([role, those]) => `${role} of ${those.map((one) => one.name).join(", ")}`);
  const more = packages.length > mostPackages ? ` and ${packages.length - mostPackages} more packages` : "";
  return {
    id: `person:${name}`,
    title: name,
    text: `${name} is ${parts.join("; ")}${more}.`,
    place: `package.json of ${packages[0]?.name}`,
    ...(url !== undefined && { url }),
  };
}
