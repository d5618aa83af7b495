import type { Json } from "capstan";
import type { SlotRules } from "../matching/match-template.ts";
import type { Piece } from "../matching/parse-examples.ts";
import type { Property } from "../matching/properties.ts";
import { hasPointer, isPointerPhrase } from "./pointers.ts";
import { fillers, isFiller, verbs } from "./synonyms.ts";
import { computeDistance, isQuoted, isSimilar, tokenize, toNameStems, toStem, type Word } from "./words.ts";

const numberWords = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");

const colors: { readonly [name: string]: string } = {
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

/** True for the name of a basic color or a hex color. */
export const isColor = (word: string): boolean =>
  Object.hasOwn(colors, word) || /^#[0-9a-f]{3,8}$/iu.test(word);

/** True for a path, a file name or a URL. */
export const isAddress = (word: string): boolean => /[\w-]\.\w{1,8}$|\//u.test(word);

export function parseNumber(word: string): number | undefined {
  if (/^-?\d+(?:\.\d+)?$/u.test(word)) return Number(word);
  const index = numberWords.indexOf(word.toLowerCase());
  return index < 0 ? undefined : index;
}

/** Finds the choice that the phrase names, exactly or with typos, and the words that name it. */
export function findChoice(
  words: readonly Word[],
  choices: readonly Json[],
): { readonly choice: Json; readonly used: readonly Word[] } | undefined {
  for (const maxTypos of [0, 1, 2]) {
    for (const choice of choices) {
      const parts = toNameStems(String(choice));
      // "TopTen" equals "top ten".
      const used =
        findNameWords(words, parts, maxTypos) ?? findNameWords(words, [toStem(parts.join(""))], maxTypos);
      if (used) return { choice, used };
    }
  }
  return undefined;
}

function findNameWords(
  words: readonly Word[],
  parts: readonly string[],
  maxTypos: number,
): Word[] | undefined {
  if (parts.length === 0) return undefined;
  const used: Word[] = [];
  for (const part of parts) {
    // A typo in a short word or a number is likely to be another one.
    const allowed =
      part.length < 4 || /\d/u.test(part) ? 0 : part.length < 6 ? Math.min(1, maxTypos) : maxTypos;
    const word = words.find(
      ({ stem }) =>
        !used.some((other) => other.stem === stem) &&
        // "Show" is a word, not a typo for "shop".
        (stem === part || (computeDistance(stem, part) <= allowed && !verbs.has(stem) && !fillers.has(stem))),
    );
    if (!word) return undefined;
    used.push(word);
  }
  return used;
}

export const isColorName = (name: string): boolean => /colou?r$|^fill$|^stroke$/iu.test(name);
export const isPathName = (name: string): boolean => /path|file|url|uri|folder|directory/iu.test(name);

/** True for arguments that hold free text. */
export const isProseName = (name: string): boolean =>
  /text|content|message|body|note|prompt|comment|description/iu.test(name);

/** True for one plain word that is not a verb: "create files" is not about files with the extension "create". */
const isSuffix = ([word, ...others]: readonly Word[]): boolean =>
  word !== undefined && others.length === 0 && /^[\p{L}\p{N}_-]+$/u.test(word.raw) && !verbs.has(word.stem);

/** True for a path, or for a file in words: "config file". */
const isPathPhrase = (value: string, words: readonly Word[]): boolean =>
  !/\s/u.test(value)
    ? !words.every(isFiller) || isAddress(value) || isPointerPhrase(words)
    : words.length === 2 && /^(?:file|script|document|one|program)$/u.test(words[1]?.raw.toLowerCase() ?? "");

/** True for words without a value, as in "only the ones older than 4". */
const isEmpty = (word: Word): boolean => isFiller(word) || word.stem === "only";

/** Creates the rules for the slots of an example. */
export function createSlotRules(
  properties: readonly Property[],
  input: { readonly [key: string]: Json },
  toolNameStems: readonly string[],
): SlotRules {
  // A slot that is the whole value of a reference argument is a reference.
  const referenceSlots = new Set(
    properties.flatMap(({ name, isReference }) => (isReference ? [input[name] ?? null].flat() : [])),
  );
  const inputText = JSON.stringify(input).replace(/\\[nrt]/gu, " ");
  // A slot embedded in a word, as in `*.{ending}`, accepts one word.
  const isEmbedded = (slot: string) =>
    new RegExp(`[\\w*.]\\{${slot}\\}|\\{${slot}\\}[\\w*.]`, "u").test(inputText);
  // A slot after a sign, as in `age > {age}`, is a number.
  const isCompared = (slot: string) => new RegExp(`[<>]=?\\s*\\{${slot}\\}`, "u").test(inputText);
  const propertiesByName = new Map(properties.map((property) => [property.name, property]));
  const accepts = (slot: string, value: string): boolean => {
    const words = tokenize(value);
    const property = propertiesByName.get(slot);
    if (referenceSlots.has(`{${slot}}`)) return !words.every(isFiller) || hasPointer(words);
    if (!property && isCompared(slot)) return parseNumber(value) !== undefined;
    if (!property && isPathName(slot)) return isAddress(value) && !/\s/u.test(value);
    if (!property)
      return (!isEmbedded(slot) || isSuffix(words)) && !words.every(isEmpty) && !isPointerPhrase(words);
    if (property.isReference) return !words.every(isFiller) || hasPointer(words);
    if (property.choices.length > 0) return words.length <= 4 && readValue(value, property) !== undefined;
    if (property.type === "number") return parseNumber(value) !== undefined;
    if (isColorName(slot)) return isColor(toStem(value));
    if (isPathName(slot)) return isPathPhrase(value, words);
    // "He" means the person that the last answer was about.
    const isPerson = /^(?:s?he|they)$/iu.test(value);
    return isQuoted(value) || isPerson || (!words.every(isFiller) && !isPointerPhrase(words));
  };
  return {
    accepts,
    isProse: (slot) => isProseName(slot),
    isNumber: (slot) => (propertiesByName.get(slot)?.type ?? (isCompared(slot) && "number")) === "number",
    trimDictation: createDictationParser(toolNameStems),
  };
}

/** Parses text as the value of an argument. Undefined if the text is not a valid value. */
export function readValue(text: string, property: Property): Json | undefined {
  const value = text.trim();
  if (property.type === "array") {
    const members = value.split(/\s*,\s*|\s+and\s+/u).filter((member) => member !== "");
    if (property.choices.length === 0) return members.length > 0 ? members : undefined;
    const chosen = members.flatMap((member) => findChoice(tokenize(member), property.choices)?.choice ?? []);
    return chosen.length > 0 ? chosen : undefined;
  }
  if (property.choices.length > 0) return findChoice(tokenize(value), property.choices)?.choice;
  if (property.type === "number") {
    const found = tokenize(value)
      .map(({ raw }) => parseNumber(raw))
      .find((number) => number !== undefined);
    return found === undefined || (property.isInteger && !Number.isInteger(found)) ? undefined : found;
  }
  if (property.type === "boolean") return !/^(?:no|not|false|off|without)\b/iu.test(value);
  if (property.type === "object" || value === "") return undefined;
  const name = toStem(value);
  return property.wantsHex && Object.hasOwn(colors, name) ? colors[name] : value;
}

const contentNouns = new Set("content text word message following".split(" "));

/** Strips a noun that announces free text: "with the content hello" becomes "hello". */
function stripContentNoun(words: readonly Word[], before: Piece | undefined): readonly Word[] {
  if (!before || !("stem" in before) || before.stem !== "with") return words;
  const start = words[0]?.stem === "the" ? 1 : 0;
  const length = words.slice(start).findIndex(({ stem }) => !contentNouns.has(stem));
  return length > 0 && (start > 0 || words[length]?.gap.includes(":")) ? words.slice(start + length) : words;
}

/** Strips a destination that names the tool: "buy bread to my list" becomes "buy bread". */
export function stripDestination(words: readonly Word[], toolNameStems: readonly string[]): readonly Word[] {
  const at = words.findLastIndex(({ stem }) => /^(?:to|in|into|on|onto)$/u.test(stem));
  const [, determiner, ...destination] = at > 0 ? words.slice(at) : [];
  const isOwn =
    destination.length > 0 &&
    destination.every(({ stem }) => toolNameStems.some((part) => isSimilar(part, stem)));
  return isOwn && /^(?:my|the|our|your)$/u.test(determiner?.stem ?? "") ? words.slice(0, at) : words;
}

/** Creates a function that strips words around free text. `toolNameStems` are the stems of the tool's name. */
export const createDictationParser =
  (toolNameStems: readonly string[]) =>
  (words: readonly Word[], before: Piece | undefined): readonly Word[] =>
    stripDestination(stripContentNoun(words, before), toolNameStems);
