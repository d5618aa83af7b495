import { type Item, nameOf } from "./known-results.ts";
import { fillers } from "./meanings.ts";
import { isNear, stemOf, type Word, wordsOf } from "./words.ts";

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

export const isPointer = ({ stem }: Word): boolean =>
  pronouns.has(stem) || ordinals.includes(stem) || stem === "last";

export const isOrdinal = ({ stem }: Word): boolean => ordinals.includes(stem) || stem === "last";

export const refersBack = (words: readonly Word[]): boolean => words.some(isPointer);

/** "That one", "the second place": nothing but a pointer to what was there before. */
export function onlyRefersBack(words: readonly Word[]): boolean {
  const rest = words.filter((word) => !isPointer(word) && !fillers.has(word.stem));
  return (
    refersBack(words) && rest.every(({ stem }) => /^(?:place|item|result|thing|other|entry)$/u.test(stem))
  );
}

/** A verb and a pointer: "show me the second one". */
export const onlyPoints = (words: readonly Word[]): boolean =>
  words.filter((word) => !isPointer(word) && !fillers.has(word.stem)).length <= 1;

/** The things whose names the words have. */
const namedBy = (items: readonly Item[], words: readonly Word[]): readonly Item[] =>
  items.filter((item) => {
    const name = nameOf(item);
    const parts = name === undefined ? [] : wordsOf(name).map(({ stem }) => stem);
    return parts.length > 0 && parts.every((part) => words.some(({ stem }) => isNear(stem, part)));
  });

/**
 * As `pointedAt`, where a mistake cannot be undone: "it" is not the first of several things, and a pointer beside
 * other words may mean something else.
 */
export function surelyPointedAt(items: readonly Item[], words: readonly Word[]): readonly Item[] {
  const named = namedBy(items, words);
  if (named.length > 0 || !onlyPoints(words)) return named;
  const placed = placedAt(items, words);
  if (placed !== undefined) return placed ? [placed] : [];
  const isPlural = words.some(({ stem }) => plurals.has(stem));
  return isPlural || (items.length === 1 && refersBack(words)) ? items : [];
}

/** The things that the words mean: by name, by their place in the list, or by a pronoun. */
export function pointedAt(items: readonly Item[], words: readonly Word[]): readonly Item[] | undefined {
  const named = namedBy(items, words);
  if (named.length > 0) return named;
  const placed = placedAt(items, words);
  if (placed !== undefined) return placed ? [placed] : undefined;
  if (words.some(({ stem }) => plurals.has(stem))) return items;
  return words.some(({ stem }) => pronouns.has(stem)) ? items.slice(0, 1) : undefined;
}

/** "The first one" is the first of several: a list comes before a single thing that was spoken of later. */
export const inOrderOf = <Known extends { readonly items: readonly Item[] }>(
  words: readonly Word[],
  results: readonly Known[],
): readonly Known[] =>
  words.some(isOrdinal)
    ? results.toSorted((left, right) => Number(left.items.length < 2) - Number(right.items.length < 2))
    : results;

/** The thing at the place that the words name; `false` when there is none at it. */
export function placedAt(items: readonly Item[], words: readonly Word[]): Item | false | undefined {
  const place = ordinals.findIndex((ordinal) => words.some(({ stem }) => stem === stemOf(ordinal)));
  if (place >= 0) return items[place] ?? false;
  return words.some(({ stem }) => stem === "last") ? (items.at(-1) ?? false) : undefined;
}
