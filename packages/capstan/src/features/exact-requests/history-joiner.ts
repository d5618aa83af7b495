import type { Entry } from "../../kernel/history.ts";

/** A history as text. */
export type JoinedHistory = {
  readonly text: string;
  /** The texts of the entries, with the commas before them. The list grows with the history. */
  readonly entries: readonly string[];
  /** How many of them are in `text`. */
  readonly count: number;
};

type KnownHistory = JoinedHistory & { readonly entries: string[]; readonly last: Entry | undefined };

/**
 * Serializes a history, joined by commas. A history grows at its end, so the text of the previous turn is reused and
 * only new entries are appended. Each entry is serialized once, whichever list contains it.
 */
export function createHistoryJoiner(
  write: (entry: Entry, position: { readonly history: readonly Entry[]; readonly at: number }) => string,
): (history: readonly Entry[]) => JoinedHistory {
  const serialized = new WeakMap<Entry, string>();
  const joined = new WeakMap<readonly Entry[], KnownHistory>();

  function serializeEntry(history: readonly Entry[], at: number): string {
    const entry = history[at] as Entry;
    let text = serialized.get(entry);
    if (text === undefined) {
      text = write(entry, { history, at });
      serialized.set(entry, text);
    }
    return text;
  }
  return (history) => {
    const known = joined.get(history);
    const isGrown = known && known.count <= history.length && history[known.count - 1] === known.last;
    const entries = isGrown ? known.entries : [];
    let text = isGrown ? known.text : "";
    for (let at = entries.length; at < history.length; at++) {
      const added = text === "" ? serializeEntry(history, at) : `,${serializeEntry(history, at)}`;
      entries.push(added);
      text += added;
    }
    const grown = { text, entries, count: entries.length, last: history.at(-1) };
    joined.set(history, grown);
    return grown;
  };
}
