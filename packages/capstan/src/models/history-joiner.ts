import type { Entry } from "../history.ts";

type Joined = { readonly count: number; readonly last: Entry | undefined; readonly text: string };

/**
 * The texts of a history, joined by commas. A history grows at its end, so what was joined for the turn before is kept
 * and only what is new is added: turn n costs the entries of turn n. Each entry is written once, whichever list it is in.
 */
export function joinedHistory(
  write: (entry: Entry, place: { readonly history: readonly Entry[]; readonly at: number }) => string,
): (history: readonly Entry[]) => string {
  const written = new WeakMap<Entry, string>();
  const joined = new WeakMap<readonly Entry[], Joined>();

  function textOf(history: readonly Entry[], at: number): string {
    const entry = history[at] as Entry;
    let text = written.get(entry);
    if (text === undefined) {
      text = write(entry, { history, at });
      written.set(entry, text);
    }
    return text;
  }
  return (history) => {
    const known = joined.get(history);
    const isGrown = known && known.count <= history.length && history[known.count - 1] === known.last;
    let text = isGrown ? known.text : "";
    for (let at = isGrown ? known.count : 0; at < history.length; at++)
      text += text === "" ? textOf(history, at) : `,${textOf(history, at)}`;
    joined.set(history, { count: history.length, last: history.at(-1), text });
    return text;
  };
}
