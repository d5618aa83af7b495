import { defineTool, type Tool } from "capstan";
import type { Library } from "../library/library.ts";
import type { Person } from "../library/package-facts.ts";
import { createSourcesHint, type SourceText, toFragments } from "./passages.ts";

/** `search_people`: finds authors and maintainers in the metadata of the installed packages. */
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
          description: "Maximum number of people.",
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
      { phrase: "what else does {query} work on" },
      { phrase: "what else is {query} the author of" },
      { phrase: "which other packages does {query} maintain" },
    ],
    effects: "none",
    reads: library.reads,
    async execute({ query, limit = 5 }, { progress }) {
      const people = (await library.open(progress)).searchPeople(query, limit);
      if (people.length === 0)
        return {
          message: `No people found for "${query}" in the package metadata.`,
          data: { people: [] },
        };
      const found = people.map(toSourceText);
      const message = `${people.length === 1 ? "One person" : `${people.length} people`} for "${query}".`;
      return {
        message,
        data: { people: people.map(({ name, url, packages }) => ({ name, ...(url && { url }), packages })) },
        contexts: toFragments(found),
        ui: createSourcesHint(message, found, query),
      };
    },
  });
}

const maxPackages = 30;

function toSourceText({ name, url, packages }: Person): SourceText {
  const roles = Map.groupBy(packages.slice(0, maxPackages), ({ role }) => role);
  const parts = [...roles].map(
    ([role, entries]) => `${role} of ${entries.map((entry) => entry.name).join(", ")}`,
  );
  const more = packages.length > maxPackages ? ` and ${packages.length - maxPackages} more packages` : "";
  return {
    id: `person:${name}`,
    title: name,
    text: `${name} is ${parts.join("; ")}${more}.`,
    place: `package.json of ${packages[0]?.name}`,
    ...(url !== undefined && { url }),
  };
}
