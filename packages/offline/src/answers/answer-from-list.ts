import type { Json } from "capstan";
import type { Item, KnownResult } from "../dialog/collect-results.ts";
import { parseFilter } from "../language/parse-filter.ts";
import type { Limit } from "../language/parse-limit.ts";
import { computeSimilarity, isFiller } from "../language/synonyms.ts";
import { isSimilar, tokenize, toStem, type Word } from "../language/words.ts";
import { describeItem } from "./describe-data.ts";

/** Superlatives, the properties they rank by, and the sort order. */
const superlatives: readonly (readonly [words: RegExp, of: RegExp, order: 1 | -1])[] = [
  [/^(?:fast|quick|short)est$/u, /minute|second|duration|time|wait|distance|met(?:re|er)|length/iu, 1],
  [/^(?:near|clos)est$/u, /distance|met(?:re|er)/iu, 1],
  [/^(?:slow|long)est$/u, /minute|second|duration|time|wait|length|distance|met(?:re|er)/iu, -1],
  [/^(?:far|furth|farth)est$/u, /distance|met(?:re|er)/iu, -1],
  [/^(?:cheap)est$/u, /price|cost|amount/iu, 1],
  [/^(?:young)est$/u, /age/iu, 1],
  [/^(?:old)est$/u, /age/iu, -1],
  [/^(?:small|low)est|fewest|least$/u, /./u, 1],
  [/^(?:big|larg|high|great)g?est|most$/u, /./u, -1],
];

const questionPattern =
  /^(?:and\s+|so\s+)?(?:which|what|who|how many)\b.*\b(?:them|these|those|one|ones)\b/iu;
/**
 * Answers from the most recent list of results: "Which of them are …?", "Which one is the nearest?", "only the red
 * ones", "just those from Genoa".
 */
export function answerFromList(
  text: string,
  results: readonly KnownResult[],
  hideIds: boolean,
): string | undefined {
  const filter = parseFilter(text);
  if (filter === undefined && !questionPattern.test(text)) return undefined;
  const items = findLastList(results);
  const words = tokenize(filter?.text ?? text).filter((word) => !isFiller(word) && word.stem !== "one");
  const found =
    filter === undefined
      ? (findExtreme(items, words) ?? findBestMatches(items, words))
      : filterItems(items, words, filter.limit);
  if (found.length === 0) return undefined;
  const lines = found.map((item) => describeItem(item, { hideIds, maxProperties: 6 }));
  return lines.length === 1 ? `${lines[0]}.` : lines.map((line) => `- ${line}`).join("\n");
}

/** The most recent list, with all its pages. */
function findLastList(results: readonly KnownResult[]): readonly Item[] {
  const last = results.find((result) => result.items.length > 1);
  const isPage = ({ name, input }: KnownResult) =>
    last !== undefined && name === last.name && isSamePageInput(input, last.input);
  return results
    .filter(isPage)
    .toReversed()
    .flatMap(({ items }) => items);
}

/** Pages differ in numbers only. */
const isSamePageInput = (left: Item, right: Item): boolean =>
  [...new Set([...Object.keys(left), ...Object.keys(right)])].every(
    (key) =>
      left[key] === right[key] || [left[key], right[key]].every((value) => typeof (value ?? 0) === "number"),
  );

/** The items that match every word, or whose numbers are within the limit: "at least 5 rooms". */
function filterItems(
  items: readonly Item[],
  words: readonly Word[],
  limit: Limit | undefined,
): readonly Item[] {
  if (limit) {
    const isWithin = (item: Item) =>
      Object.entries(item).some(
        ([key, value]) =>
          typeof value === "number" && isSimilar(toStem(key), limit.stem) && limit.accepts(value),
      );
    return items.filter(isWithin);
  }
  const matches = (item: Item) => {
    const stems = tokenize(collectText(item)).map(({ stem }) => stem);
    return words.every((word) => stems.some((stem) => computeSimilarity(word.stem, stem) >= 0.8));
  };
  return words.length === 0 ? [] : items.filter(matches);
}

function findExtreme(items: readonly Item[], words: readonly Word[]): readonly Item[] | undefined {
  for (const [superlative, of, order] of superlatives) {
    if (!words.some(({ stem }) => superlative.test(stem))) continue;
    const key = Object.keys(items[0] ?? {}).find(
      (name) => of.test(name) && typeof items[0]?.[name] === "number",
    );
    if (key === undefined) return undefined;
    const sorted = items
      .filter((item) => typeof item[key] === "number")
      .toSorted((left, right) => order * (Number(left[key]) - Number(right[key])));
    return sorted.filter((item) => item[key] === sorted[0]?.[key]);
  }
  return undefined;
}

/** The items that match the most words, or none if no item matches. */
function findBestMatches(items: readonly Item[], words: readonly Word[]): readonly Item[] {
  const countMatches = (item: Item) => {
    const stems = tokenize(collectText(item)).map(({ stem }) => stem);
    const found = words.filter((word) => stems.some((stem) => computeSimilarity(word.stem, stem) >= 0.8));
    // A capitalized word is a stronger match than a common word.
    return found.reduce((sum, { raw }) => sum + (/^\p{Lu}/u.test(raw) ? 2 : 1), 0);
  };
  const maxMatches = Math.max(0, ...items.map(countMatches));
  return maxMatches === 0 ? [] : items.filter((item) => countMatches(item) === maxMatches);
}

const collectText = (value: Json): string =>
  typeof value === "object" && value !== null
    ? Object.values(value).map(collectText).join(" ")
    : String(value);
