import { type Entry, plainText, type ResultEntry } from "../../history.ts";
import { isRecord, type Json } from "../../json.ts";
import type { Property } from "./properties.ts";
import { isNear, stemOf, type Word, wordsOf } from "./words.ts";

type Item = { readonly [key: string]: Json };

const ordinals = "first second third fourth fifth sixth seventh eighth ninth tenth".split(" ");
const pronouns = new Set(["it", "them", "that", "those", "these", "this", "one", "they", "there"]);

export const refersBack = (words: readonly Word[]): boolean =>
  words.some(({ stem }) => pronouns.has(stem) || ordinals.includes(stem) || stem === "last");

/** What a result holds: its data, or the JSON that its content is. */
export function dataOf({ data, content }: ResultEntry): Json | undefined {
  if (data !== undefined) return data;
  const text = plainText(content).trim();
  if (!/^[[{]/u.test(text)) return undefined;
  try {
    const parsed = JSON.parse(text) as Json;
    return isRecord(parsed) && parsed.data !== undefined && "message" in parsed
      ? (parsed.data as Json)
      : parsed;
  } catch {
    return undefined; // words that begin with a bracket
  }
}

/** The things in the data: the records of its lists, or the record itself. */
export function itemsIn(data: Json | undefined): Item[] {
  if (Array.isArray(data)) return data.filter(isRecord) as Item[];
  if (!isRecord(data)) return [];
  const listed = Object.values(data).flatMap((value) => (Array.isArray(value) ? value.filter(isRecord) : []));
  return (listed.length > 0 ? listed : [data]) as Item[];
}

export const nameOf = (item: Item): string | undefined => {
  const found = ["name", "title", "label", "path", "id"]
    .map((key) => item[key])
    .find((value) => typeof value === "string");
  return typeof found === "string" ? found : undefined;
};

/** The value of an argument from what earlier results hold, when the words point at it. */
export function fromResults(
  property: Property,
  words: readonly Word[],
  history: readonly Entry[],
): Json | undefined {
  const userAt = history.findLastIndex((entry) => entry.type === "user");
  for (let at = history.length - 1; at >= 0; at--) {
    const entry = history[at];
    if (entry?.type !== "result" || entry.status !== "ok") continue;
    const data = dataOf(entry);
    if (data === undefined) continue;
    const whole = isRecord(data) ? (data[property.name] as Json | undefined) : undefined;
    if (property.type === "array" && Array.isArray(whole) && whole.length > 0 && property.required)
      return whole;
    const items = itemsIn(data);
    const key = keyFor(property, items);
    if (!key) continue;
    const pointed = pointedAt(items, words);
    const sameName = key === property.name && property.required;
    // Results of this very run are what the next step is about.
    if (!pointed && !(property.required && at > userAt) && !sameName) continue;
    const values = (pointed ?? items).flatMap((item) => item[key] ?? []);
    if (property.type === "array") return values.length > 0 ? values : undefined;
    const value = (pointed ?? items)[0]?.[key];
    if (value !== undefined) return value;
  }
  return undefined;
}

/** `poiId` is the `poiId` or the `id` of a thing, `nodeIds` are the `id`s of things. */
function keyFor({ name, type }: Property, items: readonly Item[]): string | undefined {
  const isId = /(?:^i|I|_i)ds?$/u.test(name);
  const single = type === "array" ? name.replace(/s$/u, "") : name;
  const keys = isId ? [name, single, "id"] : [name];
  return keys.find((key) => items.some((item) => item[key] !== undefined && !isRecord(item[key])));
}

/** The things that the words mean: by name, by their place in the list, or by a pronoun. */
export function pointedAt(items: readonly Item[], words: readonly Word[]): readonly Item[] | undefined {
  const named = items.filter((item) => {
    const name = nameOf(item);
    const parts = name === undefined ? [] : wordsOf(name).map(({ stem }) => stem);
    return parts.length > 0 && parts.every((part) => words.some(({ stem }) => isNear(stem, part)));
  });
  if (named.length > 0) return named;
  const place = ordinals.findIndex((ordinal) => words.some(({ stem }) => stem === stemOf(ordinal)));
  const placed =
    place >= 0 ? items[place] : words.some(({ stem }) => stem === "last") ? items.at(-1) : undefined;
  if (placed) return [placed];
  return place < 0 && words.some(({ stem }) => pronouns.has(stem)) ? items : undefined;
}
