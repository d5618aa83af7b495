import { isRecord } from "../json.ts";

/** Gives a text without what must not be read in it. */
export type Mask = (text: string) => string;

// What a terminal obeys or hides instead of showing it, and what some programs take for the end of a line: control,
// format and lone surrogate characters, and the separators of Unicode. Joiners stay: letters and emoji need them.
const unseen = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A text in which every character can be seen. */
export function withoutUnseen(text: string): string {
  return text.replace(unseen, unicodeEscape);
}

/** One character as \u escapes; those beyond the first 65,536 need two. */
export function unicodeEscape(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/**
 * A value as JSON of one line, so that no text from outside can forge a line or move a cursor. Throws for what JSON
 * cannot hold. `mask` is asked about every string, key and number before they are written, so that what it puts in
 * their place cannot break the JSON; a number that it changes becomes a string.
 */
export function jsonText(value: unknown, mask?: Mask): string {
  return withoutUnseen(JSON.stringify(value, mask && masking(mask)) ?? "null");
}

function masking(mask: Mask): (key: string, value: unknown) => unknown {
  return (_, value) => {
    if (typeof value === "string") return mask(value);
    if (typeof value === "number") return mask(`${value}`) === `${value}` ? value : mask(`${value}`);
    return isRecord(value) ? withMaskedKeys(value, mask) : value;
  };
}

function withMaskedKeys(record: object, mask: Mask): object {
  if (Object.keys(record).every((key) => mask(key) === key)) return record;
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [mask(key), value]));
}
