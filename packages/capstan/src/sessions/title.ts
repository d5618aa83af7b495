import { escapeControls } from "../escape-text.ts";
import type { Fact } from "../event.ts";
import { toPlainText } from "../history.ts";

const maxTitleLength = 60;
const maxStoredTitleLength = 200;

/** What a session is called: by the person who named it, else by the first words that were said in it. */
export function getTitle(facts: readonly Fact[], storedTitle: string | undefined): string {
  if (storedTitle)
    return escapeControls(storedTitle).replaceAll(/\s+/g, " ").slice(0, maxStoredTitleLength).toWellFormed();
  const start = facts.find((fact) => fact.type === "run_start");
  return truncateTitle(start ? getUserText(start) : "") || "Untitled";
}

/** What a person said to begin a run. */
export function getUserText({ input }: Extract<Fact, { type: "run_start" }>): string {
  const lastUser = input.findLast((entry) => entry.type === "user");
  if (!lastUser) return "";
  // Of words with attachments, the words.
  const textPart =
    typeof lastUser.content === "string" ? undefined : lastUser.content.find((part) => part.type === "text");
  return textPart?.text || toPlainText(lastUser.content);
}

/** The beginning of a text, in one line and cut at a word. */
export function truncateTitle(text: string, limit: number = maxTitleLength): string {
  const line = escapeControls(text.slice(0, limit * 8))
    .replaceAll(/\s+/g, " ")
    .trim();
  if (line.length <= limit) return line;
  const cut = line.slice(0, limit).toWellFormed();
  const space = cut.lastIndexOf(" ");
  return `${(space > limit / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}

const forkSuffix = " (fork)";

/** The title of a fork. */
export function addForkSuffix(title: string): string {
  return title.endsWith(forkSuffix) ? title : `${title}${forkSuffix}`;
}
