import { getWordPattern, splitWords } from "./words.ts";

const maxQueryWords = 100;

/** Splits a query into distinct words, limited in number. */
export function splitQuery(text: string): string[] {
  return [...new Set(splitWords(text))].slice(0, maxQueryWords);
}

/**
 * Scores a text against a query; 0 unless every query word starts a word of the text. Whole words count more than
 * beginnings, and a word counts more in a short text.
 */
export function scoreMatch(textWords: readonly string[], queryWords: readonly string[]): number {
  let score = 0;
  for (const queryWord of queryWords) {
    let frequency = 0;
    for (const word of textWords)
      if (word.startsWith(queryWord)) frequency += word.length === queryWord.length ? 2 : 1;
    if (frequency === 0) return 0;
    score += frequency / (frequency + 1 + textWords.length / 50);
  }
  return score;
}

/** Returns the text around the first word that starts with a query word. */
export function buildExcerpt(text: string, queryWords: readonly string[]): string {
  const first = findFirstMatch(text, queryWords);
  const from = Math.max(0, first - 60);
  const to = first + 100;
  const cut = text.slice(from, to).toWellFormed().replaceAll(/\s+/g, " ");
  return `${from > 0 ? "…" : ""}${cut}${to < text.length ? "…" : ""}`;
}

function findFirstMatch(text: string, queryWords: readonly string[]): number {
  for (const match of text.matchAll(getWordPattern()))
    if (splitWords(match[0]).some((word) => queryWords.some((queryWord) => word.startsWith(queryWord))))
      return match.index;
  return text.length;
}
