import { type Entry, toPlainText } from "capstan";

const prefix = "Scheduled message: ";

/** Returns the words of a scheduled message that ends the history; undefined if it ends with anything else. */
export function findScheduledMessage(history: readonly Entry[]): string | undefined {
  const last = history.at(-1);
  if (last?.type !== "user" || last.provenance === undefined) return undefined;
  const text = toPlainText(last.content);
  return text.startsWith(prefix) ? text.slice(prefix.length) : undefined;
}

/** Removes what marks messages as scheduled, so that the rules read the words of the request. */
export function withoutSchedulePrefix(history: readonly Entry[]): readonly Entry[] {
  const isScheduled = (entry: Entry) =>
    entry.type === "user" && entry.provenance !== undefined && toPlainText(entry.content).startsWith(prefix);
  if (!history.some(isScheduled)) return history;
  return history.map((entry) =>
    entry.type === "user" && isScheduled(entry)
      ? { ...entry, content: toPlainText(entry.content).slice(prefix.length) }
      : entry,
  );
}
