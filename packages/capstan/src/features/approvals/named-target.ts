import { createLazyPattern } from "../../base/lazy.ts";
import { type Entry, toPlainText } from "../../kernel/history.ts";
import { getProvenance } from "../../kernel/provenance.ts";

/** Shorter values occur in ordinary sentences by chance. */
const minTargetLength = 3;

/**
 * Whether the user has named the target in their own words: as a whole value, since "example.com" does not name
 * "example.co", and not as an ordinary word, which a sentence contains by chance. A value of letters and spaces counts
 * only in quotation marks. Letters that merely look alike differ.
 */
export function isNamedBy(history: readonly Entry[], target: string): boolean {
  if (target.trim().length < minTargetLength) return false;
  const wanted = normalizeValue(target);
  const list = isPlainText(target) ? listQuotedValues : listValues;
  return history.some(
    (entry) =>
      entry.type === "user" &&
      getProvenance(entry) === "user" &&
      list(toPlainText(entry.content)).some((value) => normalizeValue(value) === wanted),
  );
}

const getPlainText = createLazyPattern(() => String.raw`^[\p{L}\p{M}\s]*$`, "u");

/** Whether a target consists of letters and spaces only, so that it must be quoted to be named. */
export function isPlainText(target: string): boolean {
  return getPlainText().test(target);
}

// A single quotation mark inside a word is an apostrophe.
const getQuotedValue = createLazyPattern(
  () =>
    [
      '"([^"\\n]+)"',
      "(?<![\\p{L}\\p{N}])'([^'\\n]+)'(?![\\p{L}\\p{N}])",
      "`([^`\\n]+)`",
      "“([^”\\n]+)”",
      "‘([^’\\n]+)’",
      "«([^»\\n]+)»",
    ].join("|"),
  "gu",
);

function listQuotedValues(text: string): string[] {
  return [...text.matchAll(getQuotedValue())].map((match) => match.slice(1).find((value) => value) ?? "");
}

function listValues(text: string): string[] {
  const words = text.split(/[\s"`<>“”«»]+/);
  // A URL may contain commas; elsewhere they separate values.
  const tokens = words.flatMap((word) => (word.includes("://") ? word : word.split(/[,;|]+/)));
  return [...tokens, ...tokens.map(trimPunctuation), ...listQuotedValues(text)];
}

/** Removes the brackets around a value and the punctuation after it, but no bracket that belongs to the value. */
function trimPunctuation(token: string): string {
  const start = token.replace(/^['‘([{]+/, "");
  return start.replace(/[([{]/.test(start) ? /['’.,:;!?]+$/ : /['’.,:;!?)\]}]+$/, "");
}

/** Normalizes a URL. In other values only the case of ASCII letters does not matter. */
function normalizeValue(text: string): string {
  return URL.canParse(text)
    ? new URL(text).href
    : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
