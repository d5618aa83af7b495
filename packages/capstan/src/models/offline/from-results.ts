import { isRecord, type Json } from "../../json.ts";
import type { Property } from "./properties.ts";
import { pointedAt } from "./refer-back.ts";
import { keyFor, type Scene, wrapped } from "./resolve-reference.ts";
import { type Word, wordsOf } from "./words.ts";

/** The value of an argument from what earlier results hold, when the words point at it or an earlier step was for it. */
export function fromResults(property: Property, words: readonly Word[], scene: Scene): Json | undefined {
  for (const { data, items, at } of scene.results) {
    // What this very run found is what its next step is about.
    const isOwn = property.required && at > scene.runFrom;
    const whole = isRecord(data) ? (data[property.name] as Json | undefined) : undefined;
    if (property.type === "array" && Array.isArray(whole) && whole.length > 0 && property.required)
      return whole;
    const key = keyFor(property, items);
    if (!key) continue;
    const pointed = pointedAt(items, words);
    if (!pointed && !isOwn && !(key === property.name && property.required)) continue;
    const values = (pointed ?? items).flatMap((item) => item[key] ?? []);
    if (property.type === "array") return values.length > 0 ? values : undefined;
    const [first] = values;
    if (first !== undefined) return wrapped(first, property);
  }
  return undefined;
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
