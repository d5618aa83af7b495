import { defineTool, suggestName, type Tool } from "capstan";
import { getContentWords } from "../library/content-words.ts";
import { searchHybrid } from "../library/hybrid-search.ts";
import type { Library } from "../library/library.ts";
import type { SearchIndex } from "../library/search-index.ts";
import { createSourcesHint, toFragments, toSources } from "./passages.ts";

/** `search_knowledge_base`: returns the best passages for a query, only from `sources` if given. */
export function searchKnowledgeBase(library: Library, sources?: readonly string[]): Tool {
  return defineTool({
    name: "search_knowledge_base",
    description:
      "Searches the documentation for passages that match a query: READMEs and docs of the installed packages and of this project.",
    input: {
      type: "object",
      properties: {
        query: {
          type: "string",
          minLength: 1,
          maxLength: 500,
          description: "What to search for, in a few words.",
        },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: 20,
          default: 5,
          description: "Maximum number of passages.",
        },
      },
      required: ["query"],
      additionalProperties: false,
    },
    examples: [
      { phrase: "search for {query}" },
      { phrase: "search the docs for {query}" },
      { phrase: "look up {query}" },
      { phrase: "find documentation about {query}" },
      { phrase: "find docs about {query}" },
      { phrase: "find docs on {query}" },
      { phrase: "show me docs about {query}" },
      { phrase: "find {limit} passages about {query}" },
      { phrase: "documents about {query}" },
      { phrase: "what do the docs say about {query}" },
      { phrase: "what is {query}" },
      { phrase: "what does {query}" },
      { phrase: "how do I {query}" },
      { phrase: "how can I {query}" },
      { phrase: "how does {query} work" },
      { phrase: "explain {query}" },
      { phrase: "{query}" },
    ],
    effects: "none",
    reads: library.reads,
    async execute({ query, limit = 5 }, { progress, signal }) {
      const request = { query, limit, progress, signal, ...(sources && { sources }) };
      const { index, passages, note } = await searchHybrid(library, request);
      const found = toSources(library, passages);
      const end = suggestDocument(query, index) + (note === undefined ? "" : ` ${note}`);
      if (found.length === 0) return { message: `No results for "${query}".${end}`, data: { passages: [] } };
      const message = `${found.length} passage${found.length === 1 ? "" : "s"} for "${query}".${end}`;
      return {
        message,
        data: {
          passages: found.map(({ id, title, place, relevance }) => ({
            id,
            title,
            place,
            relevance: Math.round(relevance * 100) / 100,
          })),
        },
        contexts: toFragments(found),
        ui: createSourcesHint(message, found, query),
      };
    },
  });
}

/** Suggests the document that a word without results resembles. */
function suggestDocument(query: string, index: SearchIndex): string {
  const ids = index.listDocumentIds();
  const words = getContentWords(query);
  // In a sentence, a short word resembles some name by chance.
  const unknown = words
    .filter((word) => words.length === 1 || word.length >= 6)
    .filter((word) => !ids.includes(word) && index.search(word, { limit: 1 }).length === 0);
  return unknown.map((word) => suggestName(word, ids)).find((suggestion) => suggestion !== "") ?? "";
}
