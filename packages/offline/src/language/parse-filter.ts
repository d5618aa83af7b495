import { type Limit, parseLimit } from "./parse-limit.ts";

/** A request to keep some items of a list: by words, or by a limit on a number. */
export type Filter = { readonly text: string; readonly limit?: Limit };

const opening = String.raw`^(?:(?:and|ok|okay|no|now|but|please|show(?:\s+me)?)[\s,]+)*`;
const wordPattern = new RegExp(
  `${opening}(?:(?:only|just)\\s+(?<after>\\S.*)|(?<before>\\S.*?)\\s+(?:ones\\s+)?only|the\\s+(?<plain>\\S+)\\s+ones)(?:\\s+please)?[\\s.!?]*$`,
  "iu",
);
const limitPattern = new RegExp(`${opening}(?:only|just|those|(?:the\\s+)?(?:\\S+\\s+)?ones)\\b`, "iu");

/** Parses "only the red ones", "just those from Genoa" or "the big ones, at least 5 rooms". */
export function parseFilter(text: string): Filter | undefined {
  const trimmed = text.trim();
  const limit = limitPattern.test(trimmed) ? parseLimit(trimmed) : undefined;
  if (limit) return { text: limit.text, limit };
  const words = Object.values(wordPattern.exec(trimmed)?.groups ?? {}).find(Boolean);
  return words === undefined ? undefined : { text: words };
}
