import { isRecord, type Json } from "capstan";
import { findPointed, findPointedStrictly, hasPointer, orderResults } from "../language/pointers.ts";
import { isFiller } from "../language/synonyms.ts";
import { isSimilar, tokenize, type Word } from "../language/words.ts";
import type { Property } from "../matching/properties.ts";
import type { Item } from "./collect-results.ts";
import { type DialogContext, findIdKey, wrapId } from "./resolve-reference.ts";

/** The value of an argument from earlier results, if the phrase points to it or an earlier step looked it up. */
export function findInResults(
  property: Property,
  words: readonly Word[],
  context: DialogContext,
): Json | undefined {
  for (const { data, items, at } of orderResults(words, context.results)) {
    // The next step is about the results of the current run.
    const isOwn = property.required && at > context.runStart;
    const whole = isRecord(data) ? (data[property.name] as Json | undefined) : undefined;
    const isWhole = !context.isStrict || hasPointer(words);
    if (isWhole && property.type === "array" && Array.isArray(whole) && whole.length > 0 && property.required)
      return whole;
    const key = findIdKey(property, items);
    if (!key) continue;
    if (context.isStrict) {
      const ids = findIntendedStrictly(items, words, isOwn).flatMap((item) => item[key] ?? []);
      if (ids.length === 0) continue;
      if (property.type === "array") return ids;
      return ids.length === 1 && ids[0] !== undefined ? wrapId(ids[0], property) : undefined;
    }
    const pointed = findPointed(items, words);
    // For all of them, a list with the name of the argument is complete; the items may be some of many.
    if (property.type === "array" && pointed?.length === items.length && Array.isArray(whole)) return whole;
    if (!pointed && !isOwn && !(key === property.name && property.required)) continue;
    const values = (pointed ?? items).flatMap((item) => item[key] ?? []);
    if (property.type === "array") return values.length > 0 ? values : undefined;
    const [first] = values;
    if (first !== undefined) return wrapId(first, property);
  }
  return undefined;
}

/** The items pointed to, or the only item found if it shares a word with the sentence. */
function findIntendedStrictly(
  items: readonly Item[],
  words: readonly Word[],
  isOwn: boolean,
): readonly Item[] {
  const pointed = findPointedStrictly(items, words);
  const [only, another] = items;
  if (pointed.length > 0 || !isOwn || !only || another) return pointed;
  const known = tokenize(Object.values(only).join(" "));
  const isAbout = words.some(
    (word) => !isFiller(word) && known.some(({ stem }) => isSimilar(stem, word.stem)),
  );
  return isAbout ? items : [];
}

/**
 * The value of a pointer for a non-id argument: the newest value under that name in a result or in the input of its
 * call.
 */
export function findLastValue(
  property: Property,
  text: string,
  { results }: DialogContext,
): Json | undefined {
  const words = tokenize(text);
  for (const { items, input } of results) {
    const named = items.filter((item) => item[property.name] !== undefined);
    const [pointed] = findPointed(named, words) ?? [];
    const value = pointed?.[property.name] ?? input[property.name];
    if (value !== undefined) return value;
  }
  return undefined;
}
