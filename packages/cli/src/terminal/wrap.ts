import stringWidth from "fast-string-width";
import { wrapAnsi } from "fast-wrap-ansi";

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Splits a text into graphemes. */
export function splitCharacters(text: string): string[] {
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}

/** Returns the width in columns, ignoring styles. */
export function measureWidth(text: string): number {
  return stringWidth(text);
}

/** Wraps styled text, between words where possible. */
export function wrapText(text: string, columns: number): string[] {
  return wrapAnsi(text, Math.max(1, columns), { hard: true, trim: true }).split("\n");
}

/** Breaks text at any character and keeps all spaces, for code. */
export function breakLines(text: string, columns: number): string[] {
  return text.split("\n").flatMap((line) => {
    const lines = [""];
    let width = 0;
    for (const character of splitCharacters(line)) {
      const own = stringWidth(character);
      if (width + own > Math.max(1, columns) && width > 0) {
        lines.push("");
        width = 0;
      }
      lines[lines.length - 1] += character;
      width += own;
    }
    return lines;
  });
}

/** Wraps between words and keeps spaces, for program output. */
export function wrapPreservingSpaces(text: string, columns: number): string[] {
  return wrapAnsi(text, Math.max(1, columns), { hard: true, trim: false }).split("\n");
}

/** Truncates plain text to one line of at most `columns`, ending in "…". */
export function truncateColumns(text: string, columns: number): string {
  if (text.length <= columns && stringWidth(text) <= columns) return text;
  let line = "";
  let width = 0;
  for (const character of splitCharacters(text.slice(0, columns * 8))) {
    const own = stringWidth(character);
    if (width + own > columns - 1) break;
    line += character;
    width += own;
  }
  return columns < 1 ? "" : `${line}…`;
}

/** Prefixes the first line with `first` and the others with `then`, which have the same width. */
export function indentHanging(lines: readonly string[], first: string, then: string): string[] {
  return lines.map((line, index) => `${index === 0 ? first : then}${line}`);
}
