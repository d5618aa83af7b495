import { isRecord, type Json } from "capstan";
import { type Item, type KnownResult, nameOf } from "./known-results.ts";
import { isFiller } from "./meanings.ts";
import { isIdName, type Property } from "./properties.ts";
import { inOrderOf, onlyRefersBack, placedAt, pointedAt, surelyPointedAt } from "./refer-back.ts";
import { isNear, type Word, wordsOf } from "./words.ts";

/** What is known when arguments are filled: the results, where this run begins, and what was said to our questions. */
export type Scene = {
  readonly results: readonly KnownResult[];
  readonly runFrom: number;
  readonly hints: readonly (readonly Word[])[];
  /** Something is to be taken away: then a thing is meant for certain, or it is asked which. */
  readonly isCareful?: boolean;
};

/** What a name stands for, or why that is not known. */
export type Resolution =
  | { readonly type: "found"; readonly value: Json }
  | { readonly type: "unclear"; readonly candidates: readonly Item[] }
  | { readonly type: "unknown" }
  /** It was searched for, and there is none. */
  | { readonly type: "nothing" };

/** The id, or the ids, of what people call by a name. */
export function resolveReference(phrase: string, property: Property, scene: Scene): Resolution {
  const words = wordsOf(phrase);
  const wantsMany = property.type === "array";
  const lists = inOrderOf(words, scene.results).flatMap(({ items, input, at }) => {
    const key = keyFor(property, items);
    return key === undefined
      ? []
      : [{ items: items.filter((item) => item[key] !== undefined), key, input, at }];
  });
  const found = (items: readonly Item[], key: string): Resolution => {
    const ids = items.flatMap((item) => item[key] ?? []);
    const [first] = ids;
    if (first === undefined) return { type: "nothing" };
    return { type: "found", value: wantsMany ? ids : wrapped(first, property) };
  };
  if (onlyRefersBack(words)) {
    for (const { items, key } of lists) {
      const pointed = pointedAt(items, words);
      if (!pointed) continue;
      const only = scene.isCareful && !wantsMany ? onlyOne(items, words, scene) : pointed;
      return only ? found(only, key) : { type: "unclear", candidates: items };
    }
    return { type: "unknown" };
  }
  for (const { items, key } of lists) {
    const same = items.find((item) => String(item[key]).toLowerCase() === phrase.toLowerCase());
    if (same) return found([same], key);
  }
  const searched = lists.find(({ input }) => isSearchFor(phrase, input));
  if (searched && wantsMany) return found(searched.items, searched.key);
  if (searched) {
    const only = chosen(searched.items, words, scene);
    return Array.isArray(only)
      ? { type: "unclear", candidates: only }
      : only
        ? found([only], searched.key)
        : { type: "nothing" };
  }
  for (const { items, key } of lists) {
    const [known, another] = distinct(byName(items, words, "whole"), key);
    if (known && (!another || wantsMany))
      return found(wantsMany ? byName(items, words, "whole") : [known], key);
  }
  const isSearched = scene.results.some(({ input }) => isSearchFor(phrase, input));
  return { type: isSearched ? "nothing" : "unknown" };
}

/** The one thing that is pointed at, or that our question was answered with. */
function onlyOne(
  items: readonly Item[],
  words: readonly Word[],
  { hints }: Scene,
): readonly Item[] | undefined {
  const sure = surelyPointedAt(items, words);
  const hinted = hintedAt(items, hints);
  return sure.length === 1 ? sure : hinted && [hinted];
}

function hintedAt(candidates: readonly Item[], hints: Scene["hints"]): Item | undefined {
  for (const hint of hints) {
    const placed = placedAt(candidates, hint);
    const [only, another] = placed ? [placed] : byName(candidates, hint, "about");
    if (only && !another) return only;
  }
  return undefined;
}

/** The best of what a search gave: by its name, else the one that the tool put first. Several when they are equally good. */
function chosen(items: readonly Item[], words: readonly Word[], scene: Scene): Item | Item[] | undefined {
  const named = byName(items, words, scene.isCareful ? "about" : "codes");
  const candidates = named.length > 0 || scene.isCareful ? named : items.slice(0, 1);
  return hintedAt(candidates, scene.hints) ?? (candidates.length > 1 ? candidates : candidates[0]);
}

const distinct = (items: readonly Item[], key: string): readonly Item[] => [
  ...new Map(items.map((item) => [item[key], item])).values(),
];

/**
 * The things whose names have all the words, those with the fewest other words. `codes`: "9" is said of B9 too, and
 * some of the words may be in what else is known; `about`: all of them may.
 */
function byName(items: readonly Item[], words: readonly Word[], how: "whole" | "codes" | "about"): Item[] {
  const said = words.filter((word) => !isFiller(word) && !/^(?:nearest|closest)$/u.test(word.stem));
  if (said.length === 0) return [];
  const hasCode = said.some(({ stem }) => /\d/u.test(stem));
  const worth = (item: Item) => {
    const name = wordsOf(nameOf(item) ?? "").filter((word) => !isFiller(word));
    const about = how !== "whole" ? wordsOf(textsOf(item).join(" ")) : [];
    const isIn = (word: Word, others: readonly Word[]) =>
      others.some(
        ({ stem }) => isNear(stem, word.stem) || (how !== "whole" && endsWithCode(stem, word.stem)),
      );
    const inName = said.filter((word) => isIn(word, name)).length;
    if ((inName === 0 && how !== "about") || !said.every((word) => isIn(word, name) || isIn(word, about)))
      return -1;
    const extra = name.length - inName;
    // A name that says more may be another thing, unless a code tells which.
    if (how === "whole" && extra > 0 && !hasCode) return -1;
    return 100 + 10 * inName - extra;
  };
  const rated = items.map((item) => ({ item, worth: worth(item) })).filter((found) => found.worth >= 0);
  const most = Math.max(...rated.map((found) => found.worth));
  return rated.filter((found) => found.worth === most).map(({ item }) => item);
}

const endsWithCode = (name: string, said: string): boolean =>
  /^\d+$/u.test(said) && new RegExp(`^\\p{L}+-?${said}$`, "u").test(name);

const textsOf = (item: Item): string[] => Object.values(item).filter((value) => typeof value === "string");

/** A call with these words as a text, or with one of them in a selector such as `kind == "boat"`. */
export function isSearchFor(phrase: string, input: Item): boolean {
  const said = wordsOf(phrase).map(({ stem }) => stem);
  return Object.values(input).some((value) => {
    if (typeof value !== "string") return false;
    const stems = wordsOf(value.replace(/["']/gu, " ")).map(({ stem }) => stem);
    return (
      said.every((stem) => stems.includes(stem)) &&
      (stems.length === said.length || /==|~=|["']/u.test(value))
    );
  });
}

/** `placeId` is the `placeId` or the `id` of a thing, `nodeIds` are the `id`s of things; else any id of the right type. */
export function keyFor(property: Property, items: readonly Item[]): string | undefined {
  const { name, type, inner, member } = property;
  const own = type === "object" ? (inner.find((part) => isIdName(part.name))?.name ?? name) : name;
  const wanted = member?.type ?? (type === "object" ? inner.find((part) => part.name === own)?.type : type);
  const fits = (value: Json | undefined) =>
    value !== undefined && !isRecord(value) && (wanted === "number") === (typeof value === "number");
  const keys = [own, own.replace(/s$/u, ""), "id", ...Object.keys(items[0] ?? {}).filter(isIdName)];
  if (!property.isReference) keys.splice(1);
  return keys.find((key) => items.some((item) => fits(item[key])));
}

/** An id as the argument wants it: `{ placeId: 7 }` for an argument that is an object. */
export function wrapped(id: Json, { type, inner }: Property): Json {
  if (type !== "object") return id;
  const key = inner.find((part) => isIdName(part.name))?.name ?? "id";
  return { [key]: id };
}
