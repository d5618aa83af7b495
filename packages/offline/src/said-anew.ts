import type { Json } from "capstan";
import { isFiller } from "./meanings.ts";
import { propertiesOf } from "./properties.ts";
import { isColour, isColourName, isProseName, numberIn } from "./read-value.ts";
import { isOrdinal, isPointer } from "./refer-back.ts";
import type { Scene } from "./resolve-reference.ts";
import { fill, type Wish } from "./understand.ts";
import { type Word, wordsOf } from "./words.ts";

const adverbs = new Set("back again away home instead likewise else too".split(" "));

/** A part of a sentence that has a kind of its own: "the second one", "blue", "7". */
type Part = {
  readonly kind: "pointer" | "colour" | "number";
  readonly from: number;
  readonly length: number;
};

/** The parts of a sentence that have a kind, in their order. */
function partsOf(words: readonly Word[]): Part[] {
  const parts: Part[] = [];
  for (let from = 0; from < words.length; from++) {
    const length = pointerLength(words.slice(from));
    const word = words[from];
    if (length > 0) parts.push({ kind: "pointer", from, length });
    else if (isColour(word?.stem ?? "")) parts.push({ kind: "colour", from, length: 1 });
    else if (numberIn(word?.raw ?? "") !== undefined) parts.push({ kind: "number", from, length: 1 });
    if (length > 1) from += length - 1;
  }
  return parts;
}

/** How many words from the first on are a pointer, with its article: "the second one", "it". */
function pointerLength(words: readonly Word[]): number {
  const end = words.findIndex((word) => !isPointer(word) && !/^(?:the|both|of)$/u.test(word.stem));
  const run = words.slice(0, end < 0 ? words.length : end);
  return run.some((word) => isPointer(word) && word.stem !== "one") ? run.length : 0;
}

/**
 * "And the first one blue" after "make the second one red": each part takes the place of the one of its kind. Nothing
 * where it says anything else, or where the sentence before has no such part, or several.
 */
export function saidAnew(previous: string, fresh: string): string | undefined {
  const words = wordsOf(previous);
  const said = wordsOf(fresh);
  const parts = partsOf(said);
  const isCovered = (at: number) => parts.some(({ from, length }) => at >= from && at < from + length);
  if (parts.length === 0 || !said.every((word, at) => isCovered(at) || isFiller(word))) return undefined;
  const places = partsOf(words);
  let changed: readonly Word[] = words;
  for (const part of parts.toReversed()) {
    const [place, another] = places.filter(({ kind }) => kind === part.kind);
    if (!place || another || parts.filter(({ kind }) => kind === part.kind).length > 1) return undefined;
    const marks = words.slice(place.from, place.from + place.length);
    const [first] = marks;
    const at = first ? changed.indexOf(first) : 0;
    changed = changed.toSpliced(at, marks.length, ...said.slice(part.from, part.from + part.length));
  }
  return changed.map(({ raw }) => raw).join(" ");
}

/** Nothing in it but pointers and adverbs: by itself it asks for nothing. */
export const onlyPointsOn = (text: string): boolean => {
  const words = wordsOf(text);
  return (
    words.length > 0 && words.every((word) => isFiller(word) || isPointer(word) || adverbs.has(word.stem))
  );
};

/** A pointer, an adverb, or a colour beside a colour's own argument has become a part of a text or of a name. */
export function isNonsense(wish: Wish, fresh: string, scene: Scene): boolean {
  const { input, phrases } = fill(wish, scene);
  const said = wordsOf(fresh);
  const takesColour = propertiesOf(wish.match.tool).some(({ name }) => isColourName(name));
  const weak = new Set(
    said.flatMap((word, at) => {
      const isPlace = isOrdinal(word) && (!said[at + 1] || said[at + 1]?.stem === "one");
      const isWeak = isPlace || isPronoun(word) || adverbs.has(word.stem);
      return isWeak || (takesColour && isColour(word.stem)) ? word.stem : [];
    }),
  );
  const isIn = (text: string, stems: ReadonlySet<string>) =>
    wordsOf(text.replace(/["']/gu, " ")).some(({ stem }) => stems.has(stem));
  return (
    phrases.some((phrase) => isIn(phrase, adverbs) && isIn(fresh, adverbs)) ||
    Object.entries(input).some(
      ([name, value]) =>
        !isColourName(name) && !isProseName(name) && textsIn(value).some((text) => isIn(text, weak)),
    )
  );
}

const isPronoun = (word: Word): boolean => isPointer(word) && !isOrdinal(word) && word.stem !== "one";

const textsIn = (value: Json): string[] => {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
};
