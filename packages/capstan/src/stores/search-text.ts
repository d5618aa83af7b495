import type { FactBody } from "../event.ts";
import { type Entry, getText, toPlainText } from "../history.ts";

const maxTextLength = 20_000;

/** Returns the searchable text of a fact: messages and tool results. Empty for other facts. */
export function toSearchText(fact: FactBody): string {
  switch (fact.type) {
    case "run_start":
      return fact.input.map(getEntryText).join("\n").slice(0, maxTextLength).toWellFormed();
    case "message":
      return getText(fact.entry).slice(0, maxTextLength).toWellFormed();
    case "steered":
      return getEntryText(fact.entry).slice(0, maxTextLength).toWellFormed();
    case "tool_call_result":
      return toPlainText(fact.result).slice(0, maxTextLength).toWellFormed();
    default:
      return "";
  }
}

function getEntryText(entry: Entry): string {
  if (entry.type === "assistant") return getText(entry);
  return entry.type === "summary" ? entry.text : toPlainText(entry.content);
}

/** Splits a text into lower-case words, as they are indexed and searched. */
export function splitWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Returns the text around the first match of any word. */
export function buildExcerpt(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const positions = words.map((word) => lower.indexOf(word)).filter((position) => position >= 0);
  const first = positions.reduce((minimum, position) => Math.min(minimum, position), text.length);
  const from = Math.max(0, first - 60);
  const to = first + 100;
  const cut = text.slice(from, to).toWellFormed().replaceAll(/\s+/g, " ");
  return `${from > 0 ? "…" : ""}${cut}${to < text.length ? "…" : ""}`;
}
