import { type Entry, plainText } from "./history.ts";

/**
 * Whether a person has named the target in their own words: as a whole, not as a part of something longer, or else
 * "example.co" would be named by "example.com".
 */
export function isNamedBy(history: readonly Entry[], target: string): boolean {
  const wanted = normal(target);
  return history.some(
    (entry) =>
      entry.type === "user" && tokensOf(plainText(entry.content)).some((token) => normal(token) === wanted),
  );
}

function tokensOf(text: string): string[] {
  return text.split(/[\s"'`<>()[\]{}|,;]+/).flatMap((token) => [token, token.replace(/[.:!?]+$/, "")]);
}

/** A URL in the one way that parsers write it; anything else without regard to case. */
function normal(text: string): string {
  return URL.canParse(text) ? new URL(text).href : text.trim().toLowerCase();
}
