import type { FactBody } from "../event.ts";
import { type Entry, getAnswerText, toPlainText } from "../history.ts";
import { splitWords, wordPattern } from "../words.ts";

const maxTextLength = 20_000;
const maxQueryWords = 100;

/** Returns the searchable text of a fact: messages and tool results. Empty for other facts. */
export function toSearchText(fact: FactBody): string {
  switch (fact.type) {
    case "run_start":
      return fact.input.map(getEntryText).join("\n").slice(0, maxTextLength).toWellFormed();
    case "message":
      return getAnswerText(fact.entry).slice(0, maxTextLength).toWellFormed();
    case "steered":
      return getEntryText(fact.entry).slice(0, maxTextLength).toWellFormed();
    case "tool_call_result":
      return toPlainText(fact.result).slice(0, maxTextLength).toWellFormed();
    default:
      return "";
  }
}

function getEntryText(entry: Entry): string {
  if (entry.type === "assistant") return getAnswerText(entry);
  return entry.type === "summary" ? entry.text : toPlainText(entry.content);
}

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
  for (const match of text.matchAll(wordPattern))
    if (splitWords(match[0]).some((word) => queryWords.some((queryWord) => word.startsWith(queryWord))))
      return match.index;
  return text.length;
}
