import type { Entry } from "../history.ts";

type JoinedHistory = { readonly count: number; readonly last: Entry | undefined; readonly text: string };

/**
 * Serializes a history, joined by commas. A history grows at its end, so the text of the previous turn is reused and
 * only new entries are appended. Each entry is serialized once, whichever list contains it.
 */
export function createHistoryJoiner(
  write: (entry: Entry, position: { readonly history: readonly Entry[]; readonly at: number }) => string,
): (history: readonly Entry[]) => string {
  const serialized = new WeakMap<Entry, string>();
  const joined = new WeakMap<readonly Entry[], JoinedHistory>();

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
    let text = isGrown ? known.text : "";
    for (let at = isGrown ? known.count : 0; at < history.length; at++)
      text += text === "" ? serializeEntry(history, at) : `,${serializeEntry(history, at)}`;
    joined.set(history, { count: history.length, last: history.at(-1), text });
    return text;
  };
}
