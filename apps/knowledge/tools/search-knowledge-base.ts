import { defineTool, suggestName, type Tool } from "capstan";
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
    .map((word) => (ids.includes(word) ? "" : suggestName(word, ids)))
    .find((said) => said !== "");
  return `Nothing was found for "${query}".${hint ?? ""}`;
}
