import type { Entry, ToolSpec } from "capstan";
import { parseFilter } from "../language/parse-filter.ts";
import { isFiller, isTaskWord } from "../language/synonyms.ts";
import { joinWords, tokenize, type Word } from "../language/words.ts";
import { findQueryName, takesAnything } from "../matching/search-tool.ts";
import { collectResults } from "./collect-results.ts";
import { type Interpretation, interpretAlone } from "./interpretation.ts";
import { getLastUtterance } from "./parse-intents.ts";

/**
 * Adds the words of a follow-up to the last search: after a search for "frost", "only the ones from Genoa" searches for
 * "frost Genoa". Undefined for a new question, and without a search that found something.
 */
export function refineSearch(
  text: string,
  before: readonly Entry[],
  tools: readonly ToolSpec[],
): Interpretation | undefined {
  const words = tokenize(parseFilter(text)?.text ?? text);
  const isFollowUp = parseFilter(text) !== undefined || words.some(isPronoun);
  const added = words.filter((word) => !isFiller(word) && !isTaskWord(word) && !isPronoun(word));
  const isSearch = interpretAlone(text, tools).intents.every(({ match }) => takesAnything(match.tool));
  if (!isFollowUp || !isSearch || added.length === 0) return undefined;
  const start = getLastUtterance(before).index;
  const last = collectResults(before).find(({ at, items }) => at > start && items.length > 0);
  const tool = tools.find(({ name }) => name === last?.name);
  const name = tool && findQueryName(tool);
  const query = name === undefined ? undefined : last?.input[name];
  if (!tools.some(takesAnything) || !tool || name === undefined || typeof query !== "string")
    return undefined;
  const refined = `${query} ${joinWords(added)}`;
  const intent = { match: { tool, score: 0 }, words: tokenize(refined), answers: { [name]: refined } };
  return { text, intents: [intent], hints: [] };
}

const isPronoun = ({ stem }: Word): boolean => /^(?:it|its|s?he|they|them|one)$/u.test(stem);
