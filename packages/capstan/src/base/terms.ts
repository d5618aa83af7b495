// Words that carry the content of a text, for comparisons without a model. Deterministic and independent of the language,
// apart from the list of English function words.

import { createLazyPattern } from "./lazy.ts";

const functionWords = new Set(
  (
    "a about after all also an and any are as at be been before but by can could did do does for from get got had has " +
    "have here how i if in into is it its just like may me might more most my no not of on one only or other our out " +
    "over please said say says see she should so some such tell than that the their them then there these they this " +
    "those to too under up upon us use used uses using very was we were what when where which while who whom whose why " +
    "will with would yes you your"
  ).split(" "),
);

/** Scripts without spaces between words: pairs of characters count as words. */
const getUnspacedText = createLazyPattern(
  () =>
    String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]+`,
  "gu",
);

/**
 * Returns the content words of a text without duplicates, each shortened to a stem. Numbers are not words. Look for a
 * term with `includes` in a text from `foldCase`.
 */
export function listTerms(text: string): readonly string[] {
  const { words, pairs } = splitTerms(text);
  return [
    ...new Set([...pairs, ...words.filter((word) => !/^\d/.test(word)).map((word) => ` ${toStem(word)}`)]),
  ];
}

/** Splits a text into its content words and numbers, and into pairs of characters where a script has no spaces. */
export function splitTerms(text: string): {
  readonly words: readonly string[];
  readonly pairs: readonly string[];
} {
  const folded = foldCase(text);
  const pairs: string[] = [];
  for (const [characters] of folded.matchAll(getUnspacedText()))
    for (let at = 0; at === 0 || at < characters.length - 1; at++) pairs.push(characters.slice(at, at + 2));
  const words = folded.replace(getUnspacedText(), " ").split(" ");
  const isContent = (word: string) => (word.length > 1 || /\d/.test(word)) && !functionWords.has(word);
  return { words: words.filter(isContent), pairs };
}

/** Drops a plural "s" or an ending of up to three letters, and keeps at least four. */
function toStem(word: string): string {
  const singular = word.length > 3 && word.endsWith("s") ? word.slice(0, -1) : word;
  return singular.slice(0, Math.max(4, word.length - 3));
}

const getMarks = createLazyPattern(() => String.raw`\p{M}`, "gu");
const getSeparators = createLazyPattern(() => String.raw`[^\p{L}\p{N}]+`, "gu");

/** Returns the words of a text in lower case and without accents, each after one space. */
export function foldCase(text: string): string {
  const plain = text.normalize("NFKD").replace(getMarks(), "").toLowerCase();
  return ` ${plain.replace(getSeparators(), " ")}`;
}
