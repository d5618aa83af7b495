import { getItemName, type Item } from "../dialog/collect-results.ts";
import { fillers } from "./synonyms.ts";
import { isSimilar, tokenize, toStem, type Word } from "./words.ts";

const ordinals = "first second third fourth fifth sixth seventh eighth ninth tenth".split(" ");
const pronouns = new Set([
  "he",
  "she",
  "it",
  "them",
  "that",
  "those",
  "these",
  "this",
  "one",
  "they",
  "there",
  "both",
]);

const plurals = new Set(["them", "those", "these", "they", "both"]);

export const isPointer = (word: Word): boolean => pronouns.has(word.stem) || isOrdinal(word);

/** "Seconds" are a unit. */
export const isOrdinal = ({ raw, stem }: Word): boolean =>
  (ordinals.includes(stem) && !/s$/iu.test(raw)) || stem === "last";

export const hasPointer = (words: readonly Word[]): boolean => words.some(isPointer);

/** True if the phrase only points to an earlier item: "that one", "the second place". */
export function isPointerPhrase(words: readonly Word[]): boolean {
  const rest = words.filter((word) => !isPointer(word) && !fillers.has(word.stem));
  return (
    hasPointer(words) && rest.every(({ stem }) => /^(?:place|item|result|thing|other|entry)$/u.test(stem))
  );
}

/** True for a verb with a pointer: "show me the second one". */
export const isPointerRequest = (words: readonly Word[]): boolean =>
  words.filter((word) => !isPointer(word) && !fillers.has(word.stem)).length <= 1;

/** The items whose full name occurs in the phrase. */
const findNamed = (items: readonly Item[], words: readonly Word[]): readonly Item[] =>
  items.filter((item) => {
    const name = getItemName(item);
    const parts = name === undefined ? [] : tokenize(name).map(({ stem }) => stem);
    return parts.length > 0 && parts.every((part) => words.some(({ stem }) => isSimilar(stem, part)));
  });

/**
 * Like `findPointed`, for removals, where a mistake cannot be undone: "it" never means the first of several items, and a
 * pointer next to other words may mean something else.
 */
export function findPointedStrictly(items: readonly Item[], words: readonly Word[]): readonly Item[] {
  const named = findNamed(items, words);
  if (named.length > 0 || !isPointerRequest(words)) return named;
  const ordinalItem = findByOrdinal(items, words);
  if (ordinalItem !== undefined) return ordinalItem ? [ordinalItem] : [];
  const isPlural = words.some(({ stem }) => plurals.has(stem));
  return isPlural || (items.length === 1 && hasPointer(words)) ? items : [];
}

/** The items that the phrase refers to: by name, by position in the list, or by a pronoun. */
export function findPointed(items: readonly Item[], words: readonly Word[]): readonly Item[] | undefined {
  const named = findNamed(items, words);
  if (named.length > 0) return named;
  const ordinalItem = findByOrdinal(items, words);
  if (ordinalItem !== undefined) return ordinalItem ? [ordinalItem] : undefined;
  if (words.some(({ stem }) => plurals.has(stem))) return items;
  return words.some(({ stem }) => pronouns.has(stem)) ? items.slice(0, 1) : undefined;
}

/** Moves lists before single items for ordinals: "the first one" refers to a list even if a single item came later. */
export const orderResults = <Known extends { readonly items: readonly Item[] }>(
  words: readonly Word[],
  results: readonly Known[],
): readonly Known[] =>
  words.some(isOrdinal)
    ? results.toSorted((left, right) => Number(left.items.length < 2) - Number(right.items.length < 2))
    : results;

/** The item at the position that the phrase names, `false` if the list is too short, undefined without an ordinal. */
export function findByOrdinal(items: readonly Item[], words: readonly Word[]): Item | false | undefined {
  const index = ordinals.findIndex((ordinal) => words.some(({ stem }) => stem === toStem(ordinal)));
  if (index >= 0) return items[index] ?? false;
  return words.some(({ stem }) => stem === "last") ? (items.at(-1) ?? false) : undefined;
}
