import { isRecord, type Json } from "capstan";
import type { Item } from "./known-results.ts";
import { isFiller } from "./meanings.ts";
import type { Property } from "./properties.ts";
import { inOrderOf, pointedAt, refersBack, surelyPointedAt } from "./refer-back.ts";
import { keyFor, type Scene, wrapped } from "./resolve-reference.ts";
import { isNear, type Word, wordsOf } from "./words.ts";

/** The value of an argument from what earlier results hold, when the words point at it or an earlier step was for it. */
export function fromResults(property: Property, words: readonly Word[], scene: Scene): Json | undefined {
  for (const { data, items, at } of inOrderOf(words, scene.results)) {
    // What this very run found is what its next step is about.
    const isOwn = property.required && at > scene.runFrom;
    const whole = isRecord(data) ? (data[property.name] as Json | undefined) : undefined;
    const isWhole = !scene.isCareful || refersBack(words);
    if (isWhole && property.type === "array" && Array.isArray(whole) && whole.length > 0 && property.required)
      return whole;
    const key = keyFor(property, items);
    if (!key) continue;
    if (scene.isCareful) {
      const ids = surelyMeant(items, words, isOwn).flatMap((item) => item[key] ?? []);
      if (ids.length === 0) continue;
      if (property.type === "array") return ids;
      return ids.length === 1 && ids[0] !== undefined ? wrapped(ids[0], property) : undefined;
    }
    const pointed = pointedAt(items, words);
    if (!pointed && !isOwn && !(key === property.name && property.required)) continue;
    const values = (pointed ?? items).flatMap((item) => item[key] ?? []);
    if (property.type === "array") return values.length > 0 ? values : undefined;
    const [first] = values;
    if (first !== undefined) return wrapped(first, property);
  }
  return undefined;
}

/** What is pointed at; or the only thing that was found for it, when that has words of the sentence. */
function surelyMeant(items: readonly Item[], words: readonly Word[], isOwn: boolean): readonly Item[] {
  const pointed = surelyPointedAt(items, words);
  const [only, another] = items;
  if (pointed.length > 0 || !isOwn || !only || another) return pointed;
  const known = wordsOf(Object.values(only).join(" "));
  const isAbout = words.some((word) => !isFiller(word) && known.some(({ stem }) => isNear(stem, word.stem)));
  return isAbout ? items : [];
}

/** What "it" is, of an argument that is no id: what the newest result has under that name, or was called with. */
export function lastValueOf(property: Property, text: string, { results }: Scene): Json | undefined {
  const words = wordsOf(text);
  for (const { items, input } of results) {
    const named = items.filter((item) => item[property.name] !== undefined);
    const [pointed] = pointedAt(named, words) ?? [];
    const value = pointed?.[property.name] ?? input[property.name];
    if (value !== undefined) return value;
  }
  return undefined;
}
