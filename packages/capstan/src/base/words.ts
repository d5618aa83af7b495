import { createLazyPattern } from "./lazy.ts";

const maxWordLength = 500; // Postgres allows 2046 bytes

export const getWordPattern: () => RegExp = createLazyPattern(() => String.raw`[\p{L}\p{N}\p{M}]+`, "gu");

/** Splits a text into words without case and accents, as they are indexed and searched. */
export function splitWords(text: string): string[] {
  return foldText(text).match(getWordPattern())?.map(truncateWord) ?? [];
}

function truncateWord(word: string): string {
  return word.length > maxWordLength ? word.slice(0, maxWordLength).toWellFormed() : word;
}

/** Removes the differences of case, accent and presentation: "É", "e\u0301" and "e" are equal, so are "ß" and "SS". */
export function foldText(text: string): string {
  const lower = text.toLowerCase();
  if (/^[\0-\x7f]*$/.test(lower)) return lower;
  // Upper case first: it expands "ß", and lower case alone would keep "ı" apart from "i".
  const folded = text
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]/g, "")
    .toUpperCase()
    .toLowerCase();
  return folded
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]/g, "")
    .replaceAll("ς", "σ");
}
