import type { Json } from "capstan";
import { isOrdinal, isPointer } from "../language/pointers.ts";
import { isColor, isColorName, isProseName, parseNumber } from "../language/read-value.ts";
import { isFiller } from "../language/synonyms.ts";
import { tokenize, type Word } from "../language/words.ts";
import { getProperties } from "../matching/properties.ts";
import { fillIntent, type Intent } from "./parse-intents.ts";
import type { DialogContext } from "./resolve-reference.ts";

const contextAdverbs = new Set("back again away home instead likewise else too".split(" "));

/** A pointer, color or number in a sentence: "the second one", "blue", "7". */
type TypedPart = {
  readonly kind: "pointer" | "color" | "number";
  readonly from: number;
  readonly length: number;
};

function findTypedParts(words: readonly Word[]): TypedPart[] {
  const parts: TypedPart[] = [];
  for (let from = 0; from < words.length; from++) {
    const length = countPointerWords(words.slice(from));
    const word = words[from];
    if (length > 0) parts.push({ kind: "pointer", from, length });
    else if (isColor(word?.stem ?? "")) parts.push({ kind: "color", from, length: 1 });
    else if (parseNumber(word?.raw ?? "") !== undefined) parts.push({ kind: "number", from, length: 1 });
    if (length > 1) from += length - 1;
  }
  return parts;
}

/** The number of leading words that form a pointer with its article: "the second one", "it". */
function countPointerWords(words: readonly Word[]): number {
  const end = words.findIndex((word) => !isPointer(word) && !/^(?:the|both|of)$/u.test(word.stem));
  const run = words.slice(0, end < 0 ? words.length : end);
  return run.some((word) => isPointer(word) && word.stem !== "one") ? run.length : 0;
}

/**
 * Replaces parts of the previous sentence with parts of the same kind: "and the first one blue" after "make the second
 * one red". Undefined if the addition contains anything else, or if the previous sentence has no such part or several.
 */
export function replaceParts(previous: string, addition: string): string | undefined {
  const words = tokenize(previous);
  const newWords = tokenize(addition);
  const parts = findTypedParts(newWords);
  const isCovered = (at: number) => parts.some(({ from, length }) => at >= from && at < from + length);
  if (parts.length === 0 || !newWords.every((word, at) => isCovered(at) || isFiller(word))) return undefined;
  const places = findTypedParts(words);
  let changed: readonly Word[] = words;
  for (const part of parts.toReversed()) {
    const [place, another] = places.filter(({ kind }) => kind === part.kind);
    if (!place || another || parts.filter(({ kind }) => kind === part.kind).length > 1) return undefined;
    const replacedWords = words.slice(place.from, place.from + place.length);
    const [first] = replacedWords;
    const at = first ? changed.indexOf(first) : 0;
    changed = changed.toSpliced(
      at,
      replacedWords.length,
      ...newWords.slice(part.from, part.from + part.length),
    );
  }
  return changed.map(({ raw }) => raw).join(" ");
}

/** True if the text consists of pointers and adverbs only and has no meaning by itself. */
export const isBareFollowUp = (text: string): boolean => {
  const words = tokenize(text);
  return (
    words.length > 0 &&
    words.every((word) => isFiller(word) || isPointer(word) || contextAdverbs.has(word.stem))
  );
};

/** True if a pointer, adverb or color ended up inside a text or name argument. */
export function isImplausible(intent: Intent, addition: string, context: DialogContext): boolean {
  const { input, phrases } = fillIntent(intent, context);
  const newWords = tokenize(addition);
  const takesColor = getProperties(intent.match.tool).some(({ name }) => isColorName(name));
  const contextStems = new Set(
    newWords.flatMap((word, at) => {
      const isPlace = isOrdinal(word) && (!newWords[at + 1] || newWords[at + 1]?.stem === "one");
      const isContextWord = isPlace || isPronoun(word) || contextAdverbs.has(word.stem);
      return isContextWord || (takesColor && isColor(word.stem)) ? word.stem : [];
    }),
  );
  const isIn = (text: string, stems: ReadonlySet<string>) =>
    tokenize(text.replace(/["']/gu, " ")).some(({ stem }) => stems.has(stem));
  return (
    phrases.some((phrase) => isIn(phrase, contextAdverbs) && isIn(addition, contextAdverbs)) ||
    Object.entries(input).some(
      ([name, value]) =>
        !isColorName(name) &&
        !isProseName(name) &&
        collectStrings(value).some((text) => isIn(text, contextStems)),
    )
  );
}

const isPronoun = (word: Word): boolean => isPointer(word) && !isOrdinal(word) && word.stem !== "one";

const collectStrings = (value: Json): string[] => {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(collectStrings) : [];
};
