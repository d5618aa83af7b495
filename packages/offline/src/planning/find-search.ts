import type { ToolSpec } from "capstan";
import type { Call } from "../dialog/call-records.ts";
import { fillArguments } from "../dialog/fill-arguments.ts";
import type { DialogContext } from "../dialog/resolve-reference.ts";
import { fillers } from "../language/synonyms.ts";
import { tokenize, toNameStems } from "../language/words.ts";
import { findBestExample } from "../matching/match-tool.ts";
import type { Property } from "../matching/properties.ts";
import { isSearchTool } from "../matching/search-tool.ts";
import { getVocabulary } from "../matching/vocabulary.ts";

/** A phrase to search for, and the argument of the tool that needs it. */
export type SearchTarget = { readonly phrase: string; readonly property: Property; readonly tool: ToolSpec };

/** A call of a search tool that may find the id for a phrase. The tool must return the same kind of item. */
export function createSearchCall(
  target: SearchTarget,
  tools: readonly ToolSpec[],
  context: DialogContext,
): Call | undefined {
  const phrase = target.phrase.replace(/^(?:(?:the|a|an|nearest|closest)\s+)+/iu, "");
  const words = tokenize(`find ${phrase}`);
  for (const known of getVocabulary(tools).tools) {
    const { tool } = known;
    if (!isSearchTool(tool) || !isRelated(target, tool)) continue;
    const example = findBestExample(words, known);
    const match = { tool, score: 0, ...(example && { example }) };
    const { input, missing, open } = fillArguments(match, words, { ...context, results: [] });
    if (missing.length === 0 && open.length === 0 && Object.keys(input).length > 0)
      return { name: tool.name, input };
  }
  return undefined;
}

/** The id of one kind of item does not fit an argument for another. */
function isRelated({ tool: own, property }: SearchTarget, search: ToolSpec): boolean {
  if (own.name === search.name) return true;
  const collectTopics = ({ name, description }: ToolSpec) => [
    ...toNameStems(name),
    ...tokenize(description).map(({ stem }) => stem),
  ];
  const topics = new Set(collectTopics(search));
  return [...collectTopics(own), ...toNameStems(property.name)].some(
    (topic) => topic !== "id" && !fillers.has(topic) && topics.has(topic),
  );
}
