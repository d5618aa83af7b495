import { isColor, parseNumber } from "../language/read-value.ts";
import { isFiller } from "../language/synonyms.ts";
import { computeDistance, joinWords, tokenize, type Word } from "../language/words.ts";
import { parseExamples } from "../matching/parse-examples.ts";
import type { Interpretation } from "./interpretation.ts";
import type { FollowUp } from "./parse-follow-up.ts";

type WordKind = "color" | "number" | "code" | "plain";

const classifyWords = (words: readonly Word[]): WordKind => {
  if (words.some(({ stem }) => isColor(stem))) return "color";
  if (words.some(({ raw }) => parseNumber(raw) !== undefined && words.length === 1)) return "number";
  return words.some(({ raw }) => /\d|[./]/u.test(raw)) ? "code" : "plain";
};

/** A part of a sentence that can be replaced. */
type Span = {
  readonly start: number;
  readonly length: number;
  readonly rank: number;
  readonly isPreferred?: boolean;
};

/** Limits the work: each substitution is matched against all tools. */
const maxSubstitutions = 8;

/** Variants of a sentence with the new words in place of old ones, the most likely first. */
export function listSubstitutions(
  { text, intents }: Pick<Interpretation, "text" | "intents">,
  { addition, replaced, isCorrection }: FollowUp,
): string[] {
  const words = tokenize(text);
  const newWords = tokenize(addition);
  const contentWords = newWords.filter((word) => !isFiller(word));
  if (contentWords.length === 0) return [];
  const preposition = newWords.find(isPreposition)?.stem;
  const kind = classifyWords(contentWords);
  const ranked = [
    ...findSlotSpans(intents, words, preposition),
    ...findParallelSpans(contentWords, words),
    ...findSingleWordSpans(words),
  ].map(({ start, length, rank, isPreferred }) => {
    const isOther = classifyWords(words.slice(start, start + length)) !== kind;
    const isAfter = preposition === undefined || isPreferred || words[start - 1]?.stem === preposition;
    const isWrong =
      isCorrection && resembles(words.slice(start, start + length), replaced ?? joinWords(contentWords));
    return { start, length, rank: rank + (isOther ? 1.5 : 0) + (isAfter ? 0 : 3) - (isWrong ? 5 : 0) };
  });
  // "And in spring?" replaces the last phrase with "in".
  const order = preposition === undefined ? 1 : -1;
  const changes = ranked
    .sort((left, right) => left.rank - right.rank || order * (left.start - right.start))
    .slice(0, maxSubstitutions)
    .map(({ start, length }) => [...words.slice(0, start), ...contentWords, ...words.slice(start + length)])
    .map((changed) => changed.map(({ raw }) => raw).join(" "));
  // A new prepositional phrase such as "without delay" applies to the whole sentence.
  const [first] = newWords;
  const isAdded = first && isPreposition(first) && !words.some(({ stem }) => stem === first.stem);
  return isAdded ? [`${text.replace(/[.!?\s]+$/u, "")} ${addition}`, ...changes] : changes;
}

/** True if a phrase is close to the corrected text. */
function resembles(words: readonly Word[], said: string): boolean {
  const normalize = (some: readonly Word[]) =>
    joinWords(some.filter((word) => !isFiller(word))).toLowerCase();
  const wanted = normalize(tokenize(said));
  const old = normalize(words);
  return old !== "" && (old === wanted || old.split(" ").some((part) => computeDistance(part, wanted) <= 1));
}

/** The spans of the slot values. A slot is preferred if another example has it after the same preposition. */
function findSlotSpans(
  intents: Interpretation["intents"],
  words: readonly Word[],
  preposition: string | undefined,
): Span[] {
  return intents.flatMap(({ match: { tool, example } }) =>
    [...(example?.slots ?? [])].flatMap(([slot, value]) => {
      const isPreferred = parseExamples(tool).some(({ phrase }) =>
        phrase.includes(`${preposition} {${slot}}`),
      );
      return findPhrase(tokenize(value), words).map((place) => ({ ...place, rank: 0, isPreferred }));
    }),
  );
}

/** The spans of single content words and pronouns. */
function findSingleWordSpans(words: readonly Word[]): Span[] {
  return words.flatMap((word, start) => {
    const isPronoun = word.stem === "them" || word.stem === "it";
    return isFiller(word) && !isPronoun ? [] : [{ start, length: 1, rank: isPronoun ? 1 : 2 }];
  });
}

/** The spans with the same structure as the new words and one word in common: "80 pages" replaces "5 pages". */
function findParallelSpans(added: readonly Word[], words: readonly Word[]): Span[] {
  const { length } = added;
  if (length < 2) return [];
  return words.flatMap((_, start) => {
    const window = words.slice(start, start + length);
    const isAlike = window.every(
      (word, at) => classifyWords([word]) === classifyWords(added.slice(at, at + 1)),
    );
    const isShared = window.some(({ stem }) => added.some((word) => word.stem === stem));
    return window.length === length && isAlike && isShared ? [{ start, length, rank: -3 }] : [];
  });
}

const isPreposition = ({ stem }: Word): boolean =>
  /^(?:to|from|near|in|at|with|without|for|by|of|on|via)$/u.test(stem);

function findPhrase(phrase: readonly Word[], words: readonly Word[]): { start: number; length: number }[] {
  const wanted = joinWords(phrase).toLowerCase();
  for (let start = 0; start + phrase.length <= words.length; start++)
    if (joinWords(words.slice(start, start + phrase.length)).toLowerCase() === wanted)
      return [{ start, length: phrase.length }];
  return [];
}
