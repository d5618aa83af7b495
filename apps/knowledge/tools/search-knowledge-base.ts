import { defineTool, nearest, type Tool } from "capstan";
import { contentWords } from "../library/content-words.ts";
import type { Library } from "../library/library.ts";
import { contextsOf, sourcesHint, titled } from "./passages.ts";

/** `search_knowledge_base`: the passages that fit a query best. With `sources`, from nowhere else. */
export function searchKnowledgeBase(library: Library, sources?: readonly string[]): Tool {
  return defineTool({
    name: "search_knowledge_base",
    description:
      "Searches the documentation for passages with the words of a query: READMEs and docs of the installed packages and of this project.",
    input: {
      type: "object",
      properties: {
        query: {
          type: "string",
          minLength: 1,
          maxLength: 500,
          description: "What to look for, in a few words.",
        },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: 20,
          default: 5,
          description: "How many passages at most.",
        },
      },
      required: ["query"],
      additionalProperties: false,
    },
    examples: [
      { says: "search for {query}" },
      { says: "search the docs for {query}" },
      { says: "look up {query}" },
      { says: "find documentation about {query}" },
      { says: "find docs about {query}" },
      { says: "find docs on {query}" },
      { says: "show me docs about {query}" },
      { says: "find {limit} passages about {query}" },
      { says: "documents about {query}" },
      { says: "what do the docs say about {query}" },
      { says: "what is {query}" },
      { says: "what does {query}" },
      { says: "how do I {query}" },
      { says: "how can I {query}" },
      { says: "how does {query} work" },
      { says: "explain {query}" },
      { says: "{query}" },
    ],
    effects: "none",
    reads: library.reads,
    async execute({ query, limit = 5 }, { progress }) {
      const index = await library.open(progress);
      const found = index.search(query, { limit, ...(sources && { sources }) }).map(titled);
      if (found.length === 0) return { message: nothing(query, index.documentIds()), data: { passages: [] } };
      const message = `${found.length} passage${found.length === 1 ? "" : "s"} for "${query}".`;
      return {
        message,
        data: { passages: found.map(({ id, title, place }) => ({ id, title, place })) },
        contexts: contextsOf(found),
        ui: sourcesHint(message, found, query),
      };
    },
  });
}

function nothing(query: string, ids: readonly string[]): string {
  const words = contentWords(query);
  // Within a sentence, a short word is like some name or other by chance.
  const hint = words
    .filter((word) => words.length === 1 || word.length >= 6)
    .map((word) => (ids.includes(word) ? "" : nearest(word, ids)))
    .find((said) => said !== "");
  return `Nothing was found for "${query}".${hint ?? ""}`;
}
