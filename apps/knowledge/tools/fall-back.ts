import { defineTool, type FallbackInput, type Tool } from "capstan";
import { contentWords } from "../library/content-words.ts";
import type { Library } from "../library/library.ts";
import { contextsOf, sourcesHint, titled } from "./passages.ts";

/**
 * `fall_back`: what is said when a limit ends the search without an answer. It tells what was searched, tries once more
 * with any of the words, and names those that nothing was found for.
 */
export function fallBack(library: Library): Tool {
  return defineTool({
    name: "fall_back",
    description: "Says why a search fell short: what was tried, what is nearest to it, and what is missing.",
    input: {
      type: "object",
      properties: {
        reason: { type: "string" },
        query: { type: "string" },
        tried: {
          type: "array",
          items: {
            type: "object",
            properties: {
              tool: { type: "string" },
              status: { type: "string" },
              preview: { type: "string" },
            },
            required: ["tool", "status", "preview"],
          },
        },
      },
      required: ["reason", "query", "tried"],
    },
    effects: "none",
    reads: library.reads,
    async execute(input, { progress }) {
      const { reason, query, tried }: FallbackInput = input;
      const index = await library.open(progress);
      const near = index.search(query, { limit: 3, moreThan: 0 }).map(titled);
      const missing = contentWords(query).filter((word) => index.search(word, { limit: 1 }).length === 0);
      const content = [
        `I could not finish the search: ${reason}`,
        `Searched: ${searches(tried)}`,
        near.length > 0
          ? `Nearest to the question: ${near.map(({ title, place }) => `${title} (${place})`).join("; ")}.`
          : "A wider search, with any of the words, found nothing either.",
        missing.length > 0
          ? `Missing: no document has ${missing.map((word) => `"${word}"`).join(", ")}.`
          : "Missing: one passage that answers the whole question. Ask for a part of it, or in other words.",
      ].join("\n\n");
      return { content, contexts: contextsOf(near), ui: sourcesHint("Nearest to the question", near, query) };
    },
  });
}

const mostListed = 10;

function searches(tried: FallbackInput["tried"]): string {
  if (tried.length === 0) return "nothing yet.";
  const lines = tried.slice(0, mostListed).map(({ tool, status, preview }) => {
    const told = messageIn(preview) ?? preview;
    return `\n- ${tool}${status === "ok" ? "" : ` (${status})`}: ${told}`;
  });
  return lines.join("") + (tried.length > mostListed ? `\n- and ${tried.length - mostListed} more` : "");
}

/** A preview is the beginning of a result, which for our own tools begins with its message. */
function messageIn(preview: string): string | undefined {
  const said = /^\{\s*"message":\s*("(?:[^"\\]|\\.)*")/.exec(preview)?.[1];
  return said === undefined ? undefined : (JSON.parse(said) as string);
}
