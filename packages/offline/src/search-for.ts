import type { ToolSpec } from "capstan";
import type { Call } from "./done-calls.ts";
import { fillArguments } from "./fill-arguments.ts";
import { bestExample } from "./match-tool.ts";
import { fillers } from "./meanings.ts";
import type { Property } from "./properties.ts";
import type { Scene } from "./resolve-reference.ts";
import { vocabularyOf } from "./vocabulary.ts";
import { nameWords, wordsOf } from "./words.ts";

/** What is looked for, and for which argument of which tool. */
export type Sought = { readonly phrase: string; readonly property: Property; readonly tool: ToolSpec };

/** The search that may find the id of what a phrase names. It has to be about the same kind of thing. */
export function searchFor(sought: Sought, tools: readonly ToolSpec[], scene: Scene): Call | undefined {
  const phrase = sought.phrase.replace(/^(?:(?:the|a|an|nearest|closest)\s+)+/iu, "");
  const words = wordsOf(`find ${phrase}`);
  for (const known of vocabularyOf(tools).tools) {
    const { tool } = known;
    if (!isSearch(tool) || !isRelated(sought, tool)) continue;
    const example = bestExample(words, known);
    const match = { tool, score: 0, ...(example && { example }) };
    const { input, missing, open } = fillArguments(match, words, { ...scene, results: [] });
    if (missing.length === 0 && open.length === 0 && Object.keys(input).length > 0)
      return { name: tool.name, input };
  }
  return undefined;
}

export const isSearch = ({ name }: ToolSpec): boolean =>
  nameWords(name).some((part) => /^(?:search|find|lookup|query)$/u.test(part));

/** The id of a person is no id of an event. */
function isRelated({ tool: own, property }: Sought, search: ToolSpec): boolean {
  if (own.name === search.name) return true;
  const topicsOf = ({ name, description }: ToolSpec) => [
    ...nameWords(name),
    ...wordsOf(description).map(({ stem }) => stem),
  ];
  const topics = new Set(topicsOf(search));
  return [...topicsOf(own), ...nameWords(property.name)].some(
    (topic) => topic !== "id" && !fillers.has(topic) && topics.has(topic),
  );
}
