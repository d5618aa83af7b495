import { defineTool, type FallbackInput, type Tool } from "capstan";
import { getContentWords } from "../library/content-words.ts";
import type { Library } from "../library/library.ts";
import { createSourcesHint, toFragments, toSources } from "./passages.ts";

/**
 * `fall_back`: runs when a limit ends the search without an answer. Reports the attempts, searches once more for any of
 * the words, and lists the words without results.
 */
export function fallBack(library: Library): Tool {
  return defineTool({
    name: "fall_back",
    description: "Explains an incomplete search: what was tried, the nearest results, and what is missing.",
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
      const nearest = toSources(library, index.search(query, { limit: 3, isWide: true }));
      const missing = getContentWords(query).filter((word) => index.search(word, { limit: 1 }).length === 0);
      const content = [
        `I could not complete the search: ${reason}`,
        `Searched: ${formatAttempts(tried)}`,
        nearest.length > 0
          ? `Closest matches: ${nearest.map(({ title, place }) => `${title} (${place})`).join("; ")}.`
          : "A wider search for any of the words found nothing either.",
        missing.length > 0
          ? `Missing: no document contains ${missing.map((word) => `"${word}"`).join(", ")}.`
          : "Missing: no single passage answers the whole question. Ask about a part of it, or rephrase it.",
      ].join("\n\n");
      return {
        content,
        contexts: toFragments(nearest),
        ui: createSourcesHint("Closest matches", nearest, query),
      };
    },
  });
}

const maxListed = 10;

function formatAttempts(tried: FallbackInput["tried"]): string {
  if (tried.length === 0) return "nothing yet.";
  const lines = tried.slice(0, maxListed).map(({ tool, status, preview }) => {
    const text = parseMessage(preview) ?? preview;
    return `\n- ${tool}${status === "ok" ? "" : ` (${status})`}: ${text}`;
  });
  return lines.join("") + (tried.length > maxListed ? `\n- and ${tried.length - maxListed} more` : "");
}

/** A preview is the start of a result, which begins with the message in our own tools. */
function parseMessage(preview: string): string | undefined {
  const message = /^\{\s*"message":\s*("(?:[^"\\]|\\.)*")/.exec(preview)?.[1];
  return message === undefined ? undefined : JSON.parse(message);
}
