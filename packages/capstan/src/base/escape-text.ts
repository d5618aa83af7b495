import { createLazyPattern } from "./lazy.ts";

// Characters without a visible glyph: controls, direction marks, joiners, variation selectors, tags. Includes line
// breaks and tabs, because approval cards render them as spaces.
const getInvisible = createLazyPattern(
  () =>
    String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Variation_Selector}]|\u034f|[\u115f\u1160\u17b4\u17b5\u3164\uffa0]`,
  "gu",
);
const spaces = /[^\S \n\t]/gu;

/** Escapes invisible characters as `\u{…}`, so that users see exactly what they approve. */
export function escapeInvisible(text: string): string {
  return text.replace(getInvisible(), toEscape).replace(spaces, toEscape);
}

function toEscape(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

// The straight ones are part of most arguments.
const getQuotationMarks = createLazyPattern(() => String.raw`(?!["'])\p{Quotation_Mark}`, "gu");

/**
 * Quotes a text of unknown origin within a sentence of the runtime. It cannot end the quotation or hide characters; the
 * middle of a long text is omitted.
 */
export function quoteUntrusted(text: string, maxLength: number): string {
  const characters = [...escapeInvisible(text).replace(getQuotationMarks(), toEscape)];
  if (characters.length <= maxLength) return `“${characters.join("")}”`;
  const half = Math.floor((maxLength - 1) / 2);
  return `“${characters.slice(0, half).join("")}…${characters.slice(-half).join("")}”`;
}

export const lineMark = "> ";

/** Marks every line of a text, so that no line can imitate the end of the block and continue as another speaker. */
export function quoteLines(heading: string, text: string): string {
  return [heading, ...text.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => lineMark + line)].join("\n");
}

const maxInputLength = 4000;

/** Formats the arguments of a call for display: invisible characters escaped, long input truncated. */
export function formatInput(input: unknown): string {
  const text = JSON.stringify(input, undefined, 2) ?? "";
  const lines = text.split("\n").map(escapeInvisible).join("\n");
  if (lines.length <= maxInputLength) return lines;
  return `${lines.slice(0, maxInputLength)}\n… and ${lines.length - maxInputLength} more characters`;
}

// Invisible characters of ordinary text: line breaks, tabs, non-breaking spaces, and joiners inside emoji and in scripts
// that need them. They cannot hide or reorder text.
const getOrdinaryInvisible = createLazyPattern(
  () =>
    String.raw`(\n|\t|\u00a0|\u202f|(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d(?=\p{Extended_Pictographic})|(?<=[\p{Extended_Pictographic}\d#*])\ufe0f|(?<=[\p{L}\p{M}])[\u200c\u200d](?=[\p{L}\p{M}]))`,
  "u",
);

/** Escapes control characters, escape sequences and direction marks, but keeps line breaks, tabs and emoji. */
export function escapeControls(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .split(getOrdinaryInvisible())
    .map((piece, index) => (index % 2 === 1 ? piece : escapeInvisible(piece)))
    .join("");
}
