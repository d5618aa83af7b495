import type { ShortenEffect } from "../effect.ts";
import type { FactBody } from "../event.ts";
import { type ResultEntry, toPlainText } from "../history.ts";
import { formatReadHint } from "../prompt/builtin-tools.ts";
import type { Io } from "./io.ts";
import { truncateText } from "./truncate-text.ts";

/** Stores the named results where that has not happened yet, and shortens them. Each can be read by its handle. */
export async function shortenResults(
  { number, results }: ShortenEffect,
  { state, blobs }: Pick<Io, "state" | "blobs">,
): Promise<readonly FactBody[]> {
  const entries = new Map<string, ResultEntry>();
  for (const entry of state.history) if (entry.type === "result") entries.set(entry.callId, entry);
  const shortened = results.map(async ({ callId, maxCharacters }) => {
    const entry = entries.get(callId);
    const text = entry ? toPlainText(entry.content) : "";
    const handle = entry?.handle ?? (await blobs.put({ mediaType: "text/plain", data: text }));
    const readHint = formatReadHint({ handle, ...(entry?.isPartial && { isPartial: true }) });
    return { callId, content: truncateText(text, maxCharacters, readHint), handle };
  });
  return [{ type: "compacted", number, until: 0, results: await Promise.all(shortened) }];
}
