import {
  areInterchangeable,
  computeSimilarity,
  isFiller,
  isLeadIn,
  isPolite,
  isTrailing,
  synonymScore,
  verbs,
} from "../language/synonyms.ts";
import { isSimilar, joinWords, type Word } from "../language/words.ts";
import { type Example, type Piece, uncountedWords } from "./parse-examples.ts";

/** The slot values of a match, the weight of the template words that matched, and the overall closeness. */
export type TemplateMatch = {
  readonly slots: ReadonlyMap<string, string>;
  readonly matchedWeight: number;
  readonly closeness: number;
};

/** What a slot accepts. */
export type SlotRules = {
  readonly accepts: (slot: string, value: string) => boolean;
  /** True for free text, in which every word counts, including articles. */
  readonly isProse: (slot: string) => boolean;
  /** True for numbers. */
  readonly isNumber: (slot: string) => boolean;
  /** Removes words around free text that do not belong to it. */
  readonly trimDictation: (words: readonly Word[], before: Piece | undefined) => readonly Word[];
};

const templatePronouns = new Set("it them those these this that both".split(" "));

const persons = new Set("i you we one".split(" "));

/** Scores a word against a template word: identical, interchangeable, or a synonymous verb. */
function scoreWord(piece: string, { stem: word, raw, gap }: Word): number {
  // A name within a sentence is not a typo: "from Finn" does not mean "find".
  const isName = /^\p{Lu}\p{Ll}/u.test(raw) && gap !== "" && !/[.!?]/u.test(gap);
  if (word === piece || (!isName && isSimilar(word, piece))) return 1;
  // "How do you get there" equals "how do I get there".
  if (persons.has(piece) && persons.has(word)) return 1;
  // "Which files" equals "what files", and "make it blue" equals "make them blue".
  if ((piece === "what" && word === "which") || (piece === "which" && word === "what")) return 1;
  if (piece === "them" && templatePronouns.has(word)) return 1;
  if (areInterchangeable(piece, word)) return 0.9;
  return verbs.has(piece) && verbs.has(word) && computeSimilarity(piece, word) === synonymScore ? 0.5 : 0;
}

type MatchContext = {
  readonly pieces: readonly Piece[];
  readonly words: readonly Word[];
  readonly rules: SlotRules;
  /** Positions from which nothing matches. Without them, several slots take exponential time. */
  readonly failedPositions: Set<number>;
};

/**
 * Matches a sentence against a template. Leading words and function words in between are ignored, typos are tolerated,
 * and every slot takes at least one word.
 */
export function matchTemplate(
  { pieces }: Example,
  words: readonly Word[],
  rules: SlotRules,
): TemplateMatch | undefined {
  const needed = pieces.filter((piece) => "stem" in piece && !piece.isOptional);
  const isCovered = (piece: Piece) =>
    "stem" in piece &&
    words.some(
      (word) =>
        scoreWord(piece.stem, word) > 0 ||
        isImpliedPreposition(piece.stem, word.stem) ||
        (textMarkers.has(piece.stem) && textMarkers.has(word.stem)),
    );
  if (!needed.every(isCovered)) return undefined;
  const context = { pieces, words, rules, failedPositions: new Set<number>() };
  const firstContentIndex = words.findIndex((word, at) => !isLeadIn(word) && !isMeasure(words, at));
  const [first] = pieces;
  // A leading number may follow any words: "I weigh 70 kilos".
  const numberIndex =
    first && "slot" in first && rules.isNumber(first.slot)
      ? words.findIndex(({ raw }) => /^\d/u.test(raw))
      : -1;
  const starts =
    numberIndex >= 0
      ? [numberIndex]
      : Array.from({ length: Math.max(0, firstContentIndex) + 1 }, (_, at) => at);
  // A leading slot must not take "where can I" as part of its value.
  const isOpen = first !== undefined && "slot" in first && !rules.isProse(first.slot);
  for (const start of isOpen ? starts.toReversed() : starts) {
    const found = matchFrom(context, 0, start);
    if (found) return buildMatch(found, rules);
  }
  return undefined;
}

/** A value with a preposition may be two values, so a template with slots for both is closer. */
function buildMatch({ slots, matchedWeight }: PartialMatch, { isProse }: SlotRules): TemplateMatch {
  const isLoose = slots.some(([slot, value]) => !isProse(slot) && prepositionPattern.test(value));
  // Name slots expect a capital letter, other slots do not.
  const misnamedCount = slots.filter(([slot, value]) => isNameSlot(slot) !== /^\p{Lu}/u.test(value)).length;
  return {
    slots: new Map(slots),
    matchedWeight,
    closeness: matchedWeight - (isLoose ? 1.5 : 0) - misnamedCount / 10,
  };
}

/** "Much" in "how much does it cost" belongs to the question. */
const isMeasure = (words: readonly Word[], at: number): boolean =>
  words[at - 1]?.stem === "how" && /^(?:much|many|long|old|far|often)$/u.test(words[at]?.stem ?? "");

const isNameSlot = (slot: string): boolean => /name/iu.test(slot);

const prepositionPattern =
  /\s(?:near|from|to|in|at|on|via|by|with|without|before|after|and|of|is|are|was|were)\s/iu;

type PartialMatch = {
  readonly slots: readonly (readonly [string, string])[];
  readonly matchedWeight: number;
};

function matchFrom(context: MatchContext, pieceIndex: number, wordIndex: number): PartialMatch | undefined {
  const position = pieceIndex * 100 + wordIndex;
  if (context.failedPositions.has(position)) return undefined;
  const found = matchPiece(context, pieceIndex, wordIndex);
  if (!found) context.failedPositions.add(position);
  return found;
}

function matchPiece(context: MatchContext, pieceIndex: number, wordIndex: number): PartialMatch | undefined {
  const { pieces, words } = context;
  const piece = pieces[pieceIndex];
  const word = words[wordIndex];
  if (!piece) return words.slice(wordIndex).every(isTrailing) ? { slots: [], matchedWeight: 0 } : undefined;
  if ("slot" in piece) return matchSlot(context, piece.slot, { at: pieceIndex, from: wordIndex });
  const score = word ? Math.max(scoreWord(piece.stem, word), scoreTextMarker(context, pieceIndex, word)) : 0;
  if (score > 0) {
    const found = matchFrom(context, pieceIndex + 1, wordIndex + 1);
    if (found)
      return { ...found, matchedWeight: found.matchedWeight + (uncountedWords.has(piece.stem) ? 0 : score) };
  }
  if (piece.isOptional || (word && isImpliedPreposition(piece.stem, word.stem))) {
    const found = matchFrom(context, pieceIndex + 1, wordIndex);
    if (found) return found;
  }
  return word && isFiller(word) ? matchFrom(context, pieceIndex, wordIndex + 1) : undefined;
}

const textMarkers = new Set("with containing contain saying say".split(" "));

/** "With …", "containing …" and "that says …" are equivalent before free text. */
function scoreTextMarker({ pieces, rules }: MatchContext, at: number, { stem }: Word): number {
  const [piece, next] = pieces.slice(at);
  const isText = next !== undefined && "slot" in next && rules.isProse(next.slot);
  return isText && piece && "stem" in piece && textMarkers.has(piece.stem) && textMarkers.has(stem) ? 0.9 : 0;
}

/** In "how do I get there" the preposition "to" is implied. */
const isImpliedPreposition = (piece: string, word: string): boolean => piece === "to" && word === "there";

function matchSlot(
  context: MatchContext,
  slot: string,
  { at, from }: { readonly at: number; readonly from: number },
): PartialMatch | undefined {
  const { pieces, words, rules } = context;
  const isLast = at === pieces.length - 1;
  for (let end = from + 1; end <= words.length; end++) {
    // The last slot takes all remaining words except polite ones.
    if (isLast && !words.slice(end).every(isPolite)) continue;
    const taken = words.slice(from, end);
    const value = rules.isProse(slot)
      ? joinWords(rules.trimDictation(taken, pieces[at - 1]))
      : rules.isNumber(slot)
        ? stripUnit(stripArticle(taken))
        : stripArticle(taken);
    if (value === "" || !rules.accepts(slot, value)) continue;
    const found = matchFrom(context, at + 1, end);
    if (found) return { slots: [[slot, value], ...found.slots], matchedWeight: found.matchedWeight };
  }
  return undefined;
}

/** "5 euros" is the number 5 unless the template takes a unit. */
const stripUnit = (text: string): string =>
  text.replace(/(?<=^\S+)\s+(?:euros?|dollars?|pounds?|years?(?:\s+old)?)$/iu, "");

const leadingArticles = new Set("a an the all any some every me my of al do does did".split(" "));

function stripArticle(words: readonly Word[]): string {
  const first = words.findIndex(({ stem }) => !leadingArticles.has(stem));
  return first < 0 ? "" : joinWords(words.slice(first));
}
