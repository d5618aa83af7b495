import { escapeControls } from "../base/escape-text.ts";
import type { Fact } from "../kernel/event.ts";
import { toPlainText } from "../kernel/history.ts";

const maxTitleLength = 60;
const maxStoredTitleLength = 200;

/** Returns the session's title: the stored one, or the start of the first message. */
export function getTitle(facts: readonly Fact[], storedTitle: string | undefined): string {
  if (storedTitle)
    return escapeControls(storedTitle).replaceAll(/\s+/g, " ").slice(0, maxStoredTitleLength).toWellFormed();
  const start = facts.find((fact) => fact.type === "run_start");
  return truncateTitle(start ? getUserText(start) : "") || "Untitled";
}

/** Returns the text of the user message that started a run. */
export function getUserText({ input }: Pick<Extract<Fact, { type: "run_start" }>, "input">): string {
  const lastUser = input.findLast((entry) => entry.type === "user");
  if (!lastUser) return "";
  // Skip attachments if there is text.
  const textPart =
    typeof lastUser.content === "string" ? undefined : lastUser.content.find((part) => part.type === "text");
  return textPart?.text || toPlainText(lastUser.content);
}

/** Returns the start of a text on one line, cut at a word boundary. */
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

/** Adds the fork suffix, once. */
export function addForkSuffix(title: string): string {
  return title.endsWith(forkSuffix) ? title : `${title}${forkSuffix}`;
}
