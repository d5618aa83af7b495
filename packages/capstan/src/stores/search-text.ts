import type { FactBody } from "../kernel/event.ts";
import { type Entry, getAnswerText, toPlainText } from "../kernel/history.ts";

const maxTextLength = 20_000;

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
