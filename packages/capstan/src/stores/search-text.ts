import type { FactBody } from "../event.ts";
import { type Entry, getText, toPlainText } from "../history.ts";

const longestText = 20_000;

/** What of a fact people search for: what was said, and what tools gave. Empty for all else. */
export function searchableText(fact: FactBody): string {
  switch (fact.type) {
    case "run_start":
      return fact.input.map(entryText).join("\n").slice(0, longestText).toWellFormed();
    case "message":
      return getText(fact.entry).slice(0, longestText).toWellFormed();
    case "steered":
      return entryText(fact.entry).slice(0, longestText).toWellFormed();
    case "tool_call_result":
      return toPlainText(fact.result).slice(0, longestText).toWellFormed();
    default:
      return "";
  }
}

function entryText(entry: Entry): string {
  if (entry.type === "assistant") return getText(entry);
  return entry.type === "summary" ? entry.text : toPlainText(entry.content);
}

/** The words of a question, as they are compared. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Some of the text around the first of the words. */
export function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const first = places.reduce((least, place) => Math.min(least, place), text.length);
  const from = Math.max(0, first - 60);
  const to = first + 100;
  const cut = text.slice(from, to).toWellFormed().replaceAll(/\s+/g, " ");
  return `${from > 0 ? "…" : ""}${cut}${to < text.length ? "…" : ""}`;
}
