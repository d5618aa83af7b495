import type { Entry } from "../../kernel/history.ts";

/** How much of each history has been searched. A history only grows, so that no entry is searched twice. */
const searches = new WeakMap<readonly Entry[], { readonly entries: number; readonly hasMedia: boolean }>();

export function hasMedia(history: readonly Entry[]): boolean {
  let known = searches.get(history);
  if (!known || known.entries > history.length) known = { entries: 0, hasMedia: false };
  const search = { entries: history.length, hasMedia: known.hasMedia };
  for (let at = known.entries; at < history.length && !search.hasMedia; at++)
    search.hasMedia = isWithMedia(history[at] as Entry);
  searches.set(history, search);
  return search.hasMedia;
}

function isWithMedia(entry: Entry): boolean {
  if (entry.type === "assistant") return entry.parts.some(({ type }) => type === "media");
  if (entry.type === "summary" || typeof entry.content === "string") return false;
  return entry.content.some(({ type }) => type !== "text");
}
