import { isRecord } from "../base/json.ts";
import { createLazyPattern } from "../base/lazy.ts";

/** Returns a text without its secrets. */
export type MaskText = (text: string) => string;

// Characters that a terminal interprets or hides, or that some programs read as a line end: control, format and lone
// surrogate characters, and Unicode separators. Joiners are excluded, because scripts and emoji need them.
const getUnseenCharacters = createLazyPattern(
  () => String.raw`(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]`,
  "gu",
);

/** Escapes invisible characters. */
export function escapeUnseen(text: string): string {
  return text.replace(getUnseenCharacters(), toUnicodeEscape);
}

/** Returns the \u escapes of a character; supplementary characters need two. */
export function toUnicodeEscape(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/**
 * Serializes a value to one line of JSON, so that untrusted text cannot forge a line or move the cursor. Throws for
 * values that JSON cannot represent. `mask` is applied to every string, key and number before serialization, so that it
 * cannot break the JSON; a changed number becomes a string.
 */
export function toJsonLine(value: unknown, mask?: MaskText): string {
  return escapeUnseen(JSON.stringify(value, mask && createReplacer(mask)) ?? "null");
}

function createReplacer(mask: MaskText): (key: string, value: unknown) => unknown {
  return (_, value) => {
    if (typeof value === "string") return mask(value);
    if (typeof value === "number") return mask(`${value}`) === `${value}` ? value : mask(`${value}`);
    return isRecord(value) ? withMaskedKeys(value, mask) : value;
  };
}

function withMaskedKeys(record: object, mask: MaskText): object {
  if (Object.keys(record).every((key) => mask(key) === key)) return record;
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [mask(key), value]));
}
