import { isRecord, type Json, type ToolSpec } from "capstan";
import { isNewCall } from "../dialog/call-records.ts";
import { extractItems, getData } from "../dialog/collect-results.ts";
import { isBareFollowUp } from "../dialog/replace-parts.ts";
import { findIdKey, wrapId } from "../dialog/resolve-reference.ts";
import { isRemoval } from "../language/removal.ts";
import { isFiller, verbs } from "../language/synonyms.ts";
import { tokenize, toNameStems } from "../language/words.ts";
import { getProperties, type Property } from "../matching/properties.ts";
import { isSearchTool } from "../matching/search-tool.ts";
import { createSearchCall } from "./find-search.ts";
import { searchElsewhere } from "./search-elsewhere.ts";
import type { PlanContext, Step } from "./step.ts";

type FurtherStep = (situation: PlanContext) => Step | undefined;

/** Reads the next page if the user asked for everything or for a summary. A result's `next` is the input for it. */
const readNextPage: FurtherStep = ({ records, interpretation }) => {
  if (!/\b(?:all|every|each|summar\w+|overview|recent)\b/iu.test(interpretation.text)) return undefined;
  const last = records.at(-1);
  const data = last?.result && getData(last.result);
  const next = isRecord(data) ? data.next : undefined;
  if (!last || !isRecord(next)) return undefined;
  const call = { name: last.call.name, input: next as { readonly [key: string]: Json } };
  const calls = records.map((made) => made.call);
  if (calls.length >= maxPages || !isNewCall(call, calls)) return undefined;
  return { type: "call", calls: [call], why: `${call.name} has more results.` };
};

const maxPages = 4;

/** Steps that may follow once all intents are handled. */
export const furtherSteps: readonly FurtherStep[] = [
  readNextPage,
  showResult,
  searchForTopic,
  searchElsewhere,
];

/** Searches for an utterance that is only a topic, such as "coffee". */
export function searchForTopic({
  request: { tools },
  records,
  interpretation,
  context,
}: PlanContext): Step | undefined {
  const { text, intents } = interpretation;
  const words = tokenize(text);
  const isThing = words.every(
    (word) => /^\p{L}{4,}$/u.test(word.raw) && !isFiller(word) && !verbs.has(word.stem),
  );
  if (
    !isThing ||
    isBareFollowUp(text) ||
    isRemoval(words) ||
    words.length === 0 ||
    words.length > 2 ||
    text.includes("?")
  )
    return undefined;
  const tool = tools.find(isSearchTool);
  const [property] = tool ? getProperties(tool) : [];
  if (!tool || !property || records.length > 0 || intents.length > 0) return undefined;
  const call = createSearchCall({ phrase: text.trim(), property, tool }, [tool], context);
  return call && { type: "call", calls: [call], why: `${tool.name} may find it.` };
}

/** Shows the first search result for a "where is …" question if there is a tool for that. */
export function showResult({ request: { tools }, records, interpretation }: PlanContext): Step | undefined {
  if (!/\bwhere|\bnearest|\bclosest/iu.test(interpretation.text)) return undefined;
  const last = records.at(-1);
  const search = tools.find(({ name }) => name === last?.call.name);
  if (last?.result?.status !== "ok" || !search || !isSearchTool(search)) return undefined;
  const made = records.map(({ call }) => call);
  const items = extractItems(getData(last.result));
  for (const tool of tools) {
    const property = findDisplayProperty(tool);
    const key = property && findIdKey(property, items);
    const id = key === undefined ? undefined : items[0]?.[key];
    if (!property || id === undefined) continue;
    const call = { name: tool.name, input: { [property.name]: wrapId(id, property) } };
    if (isNewCall(call, made))
      return { type: "call", calls: [call], why: `${tool.name} shows its location.` };
  }
  return undefined;
}

/** The only required argument of a tool that displays something. */
function findDisplayProperty(tool: ToolSpec): Property | undefined {
  if (!toNameStems(tool.name).some((part) => /^(?:show|display|highlight|focus)$/u.test(part)))
    return undefined;
  const required = getProperties(tool).filter((property) => property.required);
  const [only] = required;
  return required.length === 1 && only?.isReference && only.type !== "array" ? only : undefined;
}
