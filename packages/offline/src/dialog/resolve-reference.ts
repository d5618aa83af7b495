import { isRecord, type Json } from "capstan";
import {
  findByOrdinal,
  findPointed,
  findPointedStrictly,
  isPointerPhrase,
  orderResults,
} from "../language/pointers.ts";
import { isFiller } from "../language/synonyms.ts";
import { isSimilar, tokenize, type Word } from "../language/words.ts";
import { isIdName, type Property } from "../matching/properties.ts";
import { getItemName, type Item, type KnownResult } from "./collect-results.ts";

/**
 * The dialog state used to fill arguments: known results, the index at which this run starts, and replies to our
 * questions.
 */
export type DialogContext = {
  readonly results: readonly KnownResult[];
  readonly runStart: number;
  readonly hints: readonly (readonly Word[])[];
  /** Set for removals: a reference must be unambiguous, otherwise the model asks the user. */
  readonly isStrict?: boolean;
};

/** The value of a reference, or why it could not be resolved. */
export type Resolution =
  | { readonly type: "found"; readonly value: Json }
  | { readonly type: "unclear"; readonly candidates: readonly Item[] }
  | { readonly type: "unknown" }
  /** A search found nothing. */
  | { readonly type: "nothing" };

/** Resolves a name to the id, or ids, of known items. */
export function resolveReference(phrase: string, property: Property, context: DialogContext): Resolution {
  const words = tokenize(phrase);
  const wantsMany = property.type === "array";
  const lists = orderResults(words, context.results).flatMap(({ items, input, at }) => {
    const key = findIdKey(property, items);
    return key === undefined
      ? []
      : [{ items: items.filter((item) => item[key] !== undefined), key, input, at }];
  });
  const toResolution = (items: readonly Item[], key: string): Resolution => {
    const ids = items.flatMap((item) => item[key] ?? []);
    const [first] = ids;
    if (first === undefined) return { type: "nothing" };
    return { type: "found", value: wantsMany ? ids : wrapId(first, property) };
  };
  if (isPointerPhrase(words)) {
    for (const { items, key } of lists) {
      const pointed = findPointed(items, words);
      if (!pointed) continue;
      const only = context.isStrict && !wantsMany ? findOnlyCandidate(items, words, context) : pointed;
      return only ? toResolution(only, key) : { type: "unclear", candidates: items };
    }
    return { type: "unknown" };
  }
  for (const { items, key } of lists) {
    const same = items.find((item) => String(item[key]).toLowerCase() === phrase.toLowerCase());
    if (same) return toResolution([same], key);
  }
  const searched = lists.find(({ input }) => matchesSearch(phrase, input));
  if (searched && wantsMany) return toResolution(searched.items, searched.key);
  if (searched) {
    const only = chooseCandidates(searched.items, words, context);
    return Array.isArray(only)
      ? { type: "unclear", candidates: only }
      : only
        ? toResolution([only], searched.key)
        : { type: "nothing" };
  }
  for (const { items, key } of lists) {
    const [known, another] = dedupeBy(findByName(items, words, "whole"), key);
    if (known && (!another || wantsMany))
      return toResolution(wantsMany ? findByName(items, words, "whole") : [known], key);
  }
  const isSearched = context.results.some(({ input }) => matchesSearch(phrase, input));
  return { type: isSearched ? "nothing" : "unknown" };
}

/** The only item that the phrase or a reply points to. */
function findOnlyCandidate(
  items: readonly Item[],
  words: readonly Word[],
  { hints }: DialogContext,
): readonly Item[] | undefined {
  const pointed = findPointedStrictly(items, words);
  const hinted = findHinted(items, hints);
  return pointed.length === 1 ? pointed : hinted && [hinted];
}

function findHinted(candidates: readonly Item[], hints: DialogContext["hints"]): Item | undefined {
  for (const hint of hints) {
    const placed = findByOrdinal(candidates, hint);
    const [only, another] = placed ? [placed] : findByName(candidates, hint, "about");
    if (only && !another) return only;
  }
  return undefined;
}

/** The best search result: by name, else the first one. Several if they match equally well. */
function chooseCandidates(
  items: readonly Item[],
  words: readonly Word[],
  context: DialogContext,
): Item | Item[] | undefined {
  const named = findByName(items, words, context.isStrict ? "about" : "codes");
  const candidates = named.length > 0 || context.isStrict ? named : items.slice(0, 1);
  return findHinted(candidates, context.hints) ?? (candidates.length > 1 ? candidates : candidates[0]);
}

const dedupeBy = (items: readonly Item[], key: string): readonly Item[] => [
  ...new Map(items.map((item) => [item[key], item])).values(),
];

/**
 * The items whose names contain every word, with the fewest extra words. With `codes`, "9" also matches B9 and some
 * words may match other properties; with `about`, all of them may.
 */
function findByName(
  items: readonly Item[],
  words: readonly Word[],
  mode: "whole" | "codes" | "about",
): Item[] {
  const contentWords = words.filter((word) => !isFiller(word) && !/^(?:nearest|closest)$/u.test(word.stem));
  if (contentWords.length === 0) return [];
  const hasCode = contentWords.some(({ stem }) => /\d/u.test(stem));
  const scoreItem = (item: Item) => {
    const name = tokenize(getItemName(item) ?? "").filter((word) => !isFiller(word));
    const about = mode !== "whole" ? tokenize(getTexts(item).join(" ")) : [];
    const isIn = (word: Word, others: readonly Word[]) =>
      others.some(
        ({ stem }) => isSimilar(stem, word.stem) || (mode !== "whole" && matchesCode(stem, word.stem)),
      );
    const inName = contentWords.filter((word) => isIn(word, name)).length;
    if (
      (inName === 0 && mode !== "about") ||
      !contentWords.every((word) => isIn(word, name) || isIn(word, about))
    )
      return -1;
    const extra = name.length - inName;
    // A longer name may be another item, unless a code identifies it.
    if (mode === "whole" && extra > 0 && !hasCode) return -1;
    return 100 + 10 * inName - extra;
  };
  const scoredItems = items
    .map((item) => ({ item, scoreItem: scoreItem(item) }))
    .filter((found) => found.scoreItem >= 0);
  const maxScore = Math.max(...scoredItems.map((found) => found.scoreItem));
  return scoredItems.filter((found) => found.scoreItem === maxScore).map(({ item }) => item);
}

const matchesCode = (name: string, said: string): boolean =>
  /^\d+$/u.test(said) && new RegExp(`^\\p{L}+-?${said}$`, "u").test(name);

const getTexts = (item: Item): string[] => Object.values(item).filter((value) => typeof value === "string");

/** True if a call searched for these words, as text or in a selector such as `kind == "boat"`. */
export function matchesSearch(phrase: string, input: Item): boolean {
  const phraseStems = tokenize(phrase).map(({ stem }) => stem);
  return Object.values(input).some((value) => {
    if (typeof value !== "string") return false;
    const stems = tokenize(value.replace(/["']/gu, " ")).map(({ stem }) => stem);
    return (
      phraseStems.every((stem) => stems.includes(stem)) &&
      (stems.length === phraseStems.length || /==|~=|["']/u.test(value))
    );
  });
}

/**
 * The item property for an id argument: the same name (`placeId`), the singular (`nodeIds`), `id`, or any id of the
 * right type.
 */
export function findIdKey(property: Property, items: readonly Item[]): string | undefined {
  const { name, type, inner, member } = property;
  const idName = type === "object" ? (inner.find((part) => isIdName(part.name))?.name ?? name) : name;
  const wanted =
    member?.type ?? (type === "object" ? inner.find((part) => part.name === idName)?.type : type);
  const hasIdType = (value: Json | undefined) =>
    value !== undefined && !isRecord(value) && (wanted === "number") === (typeof value === "number");
  const keys = [idName, idName.replace(/s$/u, ""), "id", ...Object.keys(items[0] ?? {}).filter(isIdName)];
  if (!property.isReference) keys.splice(1);
  return keys.find((key) => items.some((item) => hasIdType(item[key])));
}

/** Wraps an id for object arguments: `{ placeId: 7 }`. */
export function wrapId(id: Json, { type, inner }: Property): Json {
  if (type !== "object") return id;
  const key = inner.find((part) => isIdName(part.name))?.name ?? "id";
  return { [key]: id };
}
