import stringWidth from "fast-string-width";
import { wrapAnsi } from "fast-wrap-ansi";

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The characters of a text as people count them. */
export function splitCharacters(text: string): string[] {
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}

/** How many columns a text takes; styles take none. */
export function measureWidth(text: string): number {
  return stringWidth(text);
}

/** A styled text in lines of so many columns, cut between words where that is possible. */
export function wrapText(text: string, columns: number): string[] {
  return wrapAnsi(text, Math.max(1, columns), { hard: true, trim: true }).split("\n");
}

/** The same for what must keep its spaces, such as code: cut anywhere. */
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

/** The same for what a program wrote: between words, with its spaces. */
export function wrapPreservingSpaces(text: string, columns: number): string[] {
  return wrapAnsi(text, Math.max(1, columns), { hard: true, trim: false }).split("\n");
}

/** Plain text in one line of at most so many columns, with … where it is cut. */
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

/** The first line begins with `first`, the others with `then`; both are of the same width. */
export function indentHanging(lines: readonly string[], first: string, then: string): string[] {
  return lines.map((line, index) => `${index === 0 ? first : then}${line}`);
}
