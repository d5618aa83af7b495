import { truncateText } from "../../kernel/calls/truncate-text.ts";
import type { ShortenEffect } from "../../kernel/effect.ts";
import type { FactBody } from "../../kernel/event.ts";
import { type ResultEntry, toPlainText } from "../../kernel/history.ts";
import type { Io } from "../../kernel/io.ts";
import { formatReadHint } from "../../kernel/read-result.ts";
import { toModelHistory } from "../citations/model-history.ts";

/** Stores the named results where that has not happened yet, and shortens them. Each can be read by its handle. */
export async function shortenResults(
  { number, results }: ShortenEffect,
  { state, blobs }: Pick<Io, "state" | "blobs">,
): Promise<readonly FactBody[]> {
  const entries = new Map<string, ResultEntry>();
  for (const entry of toModelHistory(state)) if (entry.type === "result") entries.set(entry.callId, entry);
  const shortened = results.map(async ({ callId, maxCharacters }) => {
    const entry = entries.get(callId);
    const text = entry ? toPlainText(entry.content) : "";
    const handle = entry?.handle ?? (await blobs.put({ mediaType: "text/plain", data: text }));
    const readHint = formatReadHint({ handle, ...(entry?.isPartial && { isPartial: true }) });
    return { callId, content: truncateText(text, maxCharacters, readHint), handle };
  });
  return [{ type: "compacted", number, until: 0, results: await Promise.all(shortened) }];
}
