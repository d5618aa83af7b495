import { escapeControls } from "../escape-text.ts";
import type { Fact } from "../event.ts";
import { toPlainText } from "../history.ts";

const longestTitle = 60;
const longestName = 200;

/** What a session is called: by the person who named it, else by the first words that were said in it. */
export function titleOf(facts: readonly Fact[], given: string | undefined): string {
  if (given) return escapeControls(given).replaceAll(/\s+/g, " ").slice(0, longestName).toWellFormed();
  const start = facts.find((fact) => fact.type === "run_start");
  return firstWords(start ? askedIn(start) : "") || "Untitled";
}

/** What a person said to begin a run. */
export function askedIn({ input }: Extract<Fact, { type: "run_start" }>): string {
  const asked = input.findLast((entry) => entry.type === "user");
  if (!asked) return "";
  // Of words with attachments, the words.
  const words =
    typeof asked.content === "string" ? undefined : asked.content.find((part) => part.type === "text");
  return words?.text || toPlainText(asked.content);
}

/** The beginning of a text, in one line and cut at a word. */
export function firstWords(text: string, most: number = longestTitle): string {
  const line = escapeControls(text.slice(0, most * 8))
    .replaceAll(/\s+/g, " ")
    .trim();
  if (line.length <= most) return line;
  const cut = line.slice(0, most).toWellFormed();
  const space = cut.lastIndexOf(" ");
  return `${(space > most / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}

const mark = " (fork)";

/** The title of a fork. */
export function forkTitle(title: string): string {
  return title.endsWith(mark) ? title : `${title}${mark}`;
}
