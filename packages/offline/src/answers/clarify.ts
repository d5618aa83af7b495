import { getText, type Json, type ModelRequest, type ToolSpec } from "capstan";
import type { Item } from "../dialog/collect-results.ts";
import { isRemovalExample } from "../language/removal.ts";
import { verbs } from "../language/synonyms.ts";
import { formatName, splitName } from "../language/words.ts";
import { parseExamples } from "../matching/parse-examples.ts";
import { isIdName, type Property } from "../matching/properties.ts";
import { isSideEffectVerb } from "../matching/score-tool.ts";
import { getHeadline } from "./describe-data.ts";
import { getTechnicalNames } from "./plain-words.ts";

/** A short question for a missing argument. */
export function formatArgumentQuestion(
  tool: ToolSpec,
  property: Property,
  tools: readonly ToolSpec[],
): string {
  const title = formatSpokenName(tool.name, tools);
  const { name, description, choices, isReference } = property;
  const bare = formatName(isReference ? name.replace(/(?:_i|I)ds?$/u, "") || "one" : name);
  // An argument such as `from` is not a noun.
  const words = /^(?:from|to|near|at|in|by|for|with)$/u.test(bare) ? `"${bare}"` : `the ${bare}`;
  const listed = choices.slice(0, 12).map((choice) => toPlainName(String(choice)));
  if (listed.length > 0)
    return `For "${title}" I need to know ${words}. Which one: ${joinAlternatives(listed)}?`;
  const about = isReference ? "" : description.replace(/[.\s]+$/u, "");
  const said = parseExamples(tool).find(
    ({ phrase, input }) => phrase.includes(`{${name}}`) || input[name] !== undefined,
  );
  const example = said ? ` For example: "${formatExample(said.phrase)}".` : "";
  return `For "${title}" I need to know ${words}${about && ` (${about})`}. What should it be?${example}`;
}

/** An example phrase for display, with "…" in place of its slots. */
export const formatExample = (phrase: string): string => phrase.replace(/\{[^}]*\}/gu, "…");

/** Asks which of several candidates the user means, with a detail that distinguishes them. */
export function formatChoiceQuestion(phrase: string, candidates: readonly Item[]): string {
  const shown = candidates.slice(0, 6);
  const names = shown.map((item) => {
    const name = getHeadline(item) ?? "";
    const others = findDifference(item, shown);
    return others === "" ? name : `${name} (${others})`;
  });
  const more = candidates.length > shown.length ? " There are more." : "";
  return `There are several for "${phrase}".${more} Which one do you mean: ${joinAlternatives(names)}?`;
}

/** The first text property in which an item differs from the others. */
function findDifference(item: Item, all: readonly Item[]): string {
  const name = getHeadline(item);
  const isTelling = ([key, value]: [string, Json]) =>
    typeof value === "string" &&
    value !== name &&
    value.length <= 40 &&
    !isIdName(key) &&
    all.some((other) => other[key] !== value);
  const found = Object.entries(item).find(isTelling);
  return found ? String(found[1]) : "";
}

const toPlainName = (name: string): string => (getTechnicalNames(name).length > 0 ? formatName(name) : name);

export const joinAlternatives = (names: readonly string[]): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;

const maxSuggestions = 3;

type SuggestionOptions = { readonly isRemoval?: boolean; readonly from?: number };

/** Suggests a few example phrases, at most one per tool. */
export function suggestPhrases(
  tools: readonly ToolSpec[],
  { isRemoval = false, from = 0 }: SuggestionOptions = {},
): string {
  const said = tools.flatMap((tool) => {
    const fitting = parseExamples(tool).filter(
      (example) =>
        /[\p{L}]/u.test(example.phrase.replace(/\{[^}]*\}/gu, "")) &&
        (!isRemoval || isRemovalExample(example)),
    );
    return fitting.slice(0, 1).map(({ phrase }) => `"${formatExample(phrase)}"`);
  });
  const start = said.length > maxSuggestions ? (from * maxSuggestions) % said.length : 0;
  const shown = [...said.slice(start), ...said.slice(0, start)].slice(0, maxSuggestions);
  return shown.length === 0 ? "" : `You could say ${joinAlternatives(shown)}.`;
}

/** The number of earlier refusals in the history. */
export const countRefusals = ({ history }: Pick<ModelRequest, "history">, opening: string): number =>
  history.filter((entry) => entry.type === "assistant" && getText(entry).startsWith(opening)).length;

/** Tool names with a common prefix are assumed to come from one server if there are at least this many. */
const minShared = 3;

/** The display name of a tool, without the prefix of its server. */
export function formatSpokenName(name: string, tools: readonly ToolSpec[]): string {
  const own = name.split("__").at(-1) || name;
  if (own !== name) return formatName(own);
  const parts = splitName(name).map((part) => part.toLowerCase());
  const others = tools.map((tool) => splitName(tool.name).map((part) => part.toLowerCase()));
  let from = 0;
  while (from < parts.length - 1) {
    const shared = others.filter((other) => parts.slice(0, from + 1).every((part, at) => other[at] === part));
    const part = parts[from] ?? "";
    // "Search letters" and "search songs" share a verb, not a server.
    if (shared.length < minShared || verbs.has(part) || isSideEffectVerb(part) || part === "get") break;
    from++;
  }
  return parts.slice(from).join(" ");
}
