import type { Json } from "capstan";
import { dictatedBy } from "./dictated.ts";
import type { SlotRules } from "./match-template.ts";
import { fillers, isFiller, verbs } from "./meanings.ts";
import type { Property } from "./properties.ts";
import { onlyRefersBack, refersBack } from "./refer-back.ts";
import { distance, isQuoted, nameWords, stemOf, type Word, wordsOf } from "./words.ts";

const numberWords = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");

const colours: { readonly [name: string]: string } = {
  red: "#ff0000",
  green: "#008000",
  blue: "#0000ff",
  yellow: "#ffff00",
  orange: "#ffa500",
  purple: "#800080",
  pink: "#ffc0cb",
  black: "#000000",
  white: "#ffffff",
  gray: "#808080",
  grey: "#808080",
  brown: "#a52a2a",
  cyan: "#00ffff",
  teal: "#008080",
  gold: "#ffd700",
};

/** A basic colour, by name or by its number. */
export const isColour = (word: string): boolean =>
  Object.hasOwn(colours, word) || /^#[0-9a-f]{3,8}$/iu.test(word);

/** A path, a file name or a web address. */
export const isAddress = (word: string): boolean => /[\w-]\.\w{1,8}$|\//u.test(word);

export function numberIn(word: string): number | undefined {
  if (/^-?\d+(?:\.\d+)?$/u.test(word)) return Number(word);
  const index = numberWords.indexOf(word.toLowerCase());
  return index < 0 ? undefined : index;
}

/** The choice that some words name, exactly or with a slip of the pen, and which words these are. */
export function choiceIn(
  words: readonly Word[],
  choices: readonly Json[],
): { readonly choice: Json; readonly used: readonly Word[] } | undefined {
  for (const slip of [0, 1, 2]) {
    for (const choice of choices) {
      const parts = nameWords(String(choice));
      // "TopTen" and "top ten" are the same name.
      const used = wordsFor(words, parts, slip) ?? wordsFor(words, [stemOf(parts.join(""))], slip);
      if (used) return { choice, used };
    }
  }
  return undefined;
}

function wordsFor(words: readonly Word[], parts: readonly string[], slip: number): Word[] | undefined {
  if (parts.length === 0) return undefined;
  const used: Word[] = [];
  for (const part of parts) {
    // Short words are too easily another word.
    const allowed = part.length < 4 ? 0 : part.length < 6 ? Math.min(1, slip) : slip;
    const word = words.find(
      ({ stem }) =>
        !used.some((other) => other.stem === stem) &&
        // "Show" is a word of its own, not a slip for "shop".
        (stem === part || (distance(stem, part) <= allowed && !verbs.has(stem) && !fillers.has(stem))),
    );
    if (!word) return undefined;
    used.push(word);
  }
  return used;
}

export const isColourName = (name: string): boolean => /colou?r$|^fill$|^stroke$/iu.test(name);
export const isPathName = (name: string): boolean => /path|file|url|uri|folder|directory/iu.test(name);

/** A text that people dictate. */
export const isProseName = (name: string): boolean =>
  /text|content|message|body|note|prompt|comment|description/iu.test(name);

/** One plain word that is no verb: "create files" is not about files that end in "create". */
const isEnding = ([word, ...others]: readonly Word[]): boolean =>
  word !== undefined && others.length === 0 && /^[\p{L}\p{N}_-]+$/u.test(word.raw) && !verbs.has(word.stem);

/** What may stand at the places of the slots of a tool's examples. */
export function slotRules(
  properties: readonly Property[],
  input: { readonly [key: string]: Json },
  own: readonly string[],
): SlotRules {
  // A slot that is the whole value of an argument with ids stands for one.
  const ids = new Set(
    properties.flatMap(({ name, isReference }) => (isReference ? [input[name] ?? null].flat() : [])),
  );
  const written = JSON.stringify(input).replace(/\\[nrt]/gu, " ");
  // In `*.{ending}` there is room for one word; in quotes, for more.
  const isPart = (slot: string) => new RegExp(`[\\w*.]\\{${slot}\\}|\\{${slot}\\}[\\w*.]`, "u").test(written);
  const named = new Map(properties.map((property) => [property.name, property]));
  const fits = (slot: string, value: string): boolean => {
    const words = wordsOf(value);
    const property = named.get(slot);
    if (ids.has(`{${slot}}`)) return !words.every(isFiller) || refersBack(words);
    if (!property && isPathName(slot)) return isAddress(value) && !/\s/u.test(value);
    if (!property)
      return (!isPart(slot) || isEnding(words)) && !words.every(isFiller) && !onlyRefersBack(words);
    if (property.isReference) return !words.every(isFiller) || refersBack(words);
    if (property.choices.length > 0) return words.length <= 4 && readValue(value, property) !== undefined;
    if (property.type === "number") return numberIn(value) !== undefined;
    if (isColourName(slot)) return isColour(stemOf(value));
    if (isPathName(slot)) return !/\s/u.test(value);
    return isQuoted(value) || (!words.every(isFiller) && !onlyRefersBack(words));
  };
  return { fits, isProse: (slot) => isProseName(slot), dictated: dictatedBy(own) };
}

/** A text as the value of an argument; nothing when it cannot be one. */
export function readValue(text: string, property: Property): Json | undefined {
  const value = text.trim();
  if (property.type === "array") {
    const members = value.split(/\s*,\s*|\s+and\s+/u).filter((member) => member !== "");
    if (property.choices.length === 0) return members.length > 0 ? members : undefined;
    const chosen = members.flatMap((member) => choiceIn(wordsOf(member), property.choices)?.choice ?? []);
    return chosen.length > 0 ? chosen : undefined;
  }
  if (property.choices.length > 0) return choiceIn(wordsOf(value), property.choices)?.choice;
  if (property.type === "number") {
    const found = wordsOf(value)
      .map(({ raw }) => numberIn(raw))
      .find((number) => number !== undefined);
    return found === undefined || (property.isInteger && !Number.isInteger(found)) ? undefined : found;
  }
  if (property.type === "boolean") return !/^(?:no|not|false|off|without)\b/iu.test(value);
  if (property.type === "object" || value === "") return undefined;
  const name = stemOf(value);
  return property.wantsHex && Object.hasOwn(colours, name) ? colours[name] : value;
}
