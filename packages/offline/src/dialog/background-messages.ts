import { type Entry, toPlainText } from "capstan";

const resultHeader = /^The background work "[^"]*" \((.+)\) (is done|stopped|failed|was cancelled)[^\n]*:\n/;
const progressHeader = /^Progress of the background work "/;

/** Returns the text of a message from background work; undefined for any other entry. */
function findBackgroundText(entry: Entry | undefined): string | undefined {
  if (entry?.type !== "user" || entry.provenance !== "external") return undefined;
  const text = toPlainText(entry.content);
  return resultHeader.test(text) || progressHeader.test(text) ? text : undefined;
}

/** Removes the messages of background work, whose words are not the user's. */
export function withoutBackground(history: readonly Entry[]): readonly Entry[] {
  return history.some((entry) => findBackgroundText(entry) !== undefined)
    ? history.filter((entry) => findBackgroundText(entry) === undefined)
    : history;
}

/** Returns the results of background work that end the history, for the user; undefined if the user spoke last. */
export function findBackgroundAnswer(history: readonly Entry[]): string | undefined {
  const answers: string[] = [];
  for (let index = history.length - 1; index >= 0; index--) {
    const text = findBackgroundText(history[index]);
    if (text === undefined) break;
    const [header, name, ending] = resultHeader.exec(text) ?? [];
    if (header !== undefined)
      answers.unshift(
        ending === "is done" ? text.slice(header.length) : `${name} ${ending}: ${text.slice(header.length)}`,
      );
  }
  return answers.length > 0 ? answers.join("\n\n") : undefined;
}
