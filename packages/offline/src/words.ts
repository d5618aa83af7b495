/** A word as it stands in a text, in the form in which words are compared, and what stands between it and the one before. */
export type Word = { readonly raw: string; readonly stem: string; readonly gap: string };

const wordPattern =
  /"[^"]*"|“[^”]*”|`[^`]*`|(?<![\p{L}\p{N}])'[^']+'(?![\p{L}\p{N}])|[\p{L}\p{N}#_/.\\@:+*-]+(?:['’][\p{L}]+)?/gu;

/** The words of a sentence. What is in quotes is one word, and so is a path, a code or an address. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(wordPattern)) {
    const bare = isQuoted(found) ? found : found.replace(/^[:*-]+(?=\p{L})|[.:*-]+$/gu, "");
    if (bare === "") continue;
    const start = index + found.indexOf(bare);
    const contracted = questionIn(bare);
    const gap = text.slice(end, start);
    words.push({ raw: contracted ?? bare, stem: stemOf(contracted ?? bare), gap });
    if (contracted !== undefined) words.push({ raw: "is", stem: "is", gap: " " });
    end = start + bare.length;
  }
  return words;
}

/** The question in "what's", also with a slip. */
function questionIn(word: string): string | undefined {
  const found = /^(\p{L}+)['’]s$/u.exec(word)?.[1];
  const isQuestion = (asked: string) => found !== undefined && isNear(found.toLowerCase(), asked);
  return ["what", "where", "who", "how", "when", "that", "there"].some(isQuestion) ? found : undefined;
}

/** Lower case, singular, without a possessive. */
export function stemOf(word: string): string {
  const plain = word.toLowerCase().replace(/['’](?:s|re|m|ll|d|ve)$/u, "");
  if (/[^\p{L}]/u.test(plain) || plain.length < 4 || plain === "this" || plain === "does") return plain;
  if (plain.endsWith("ies")) return `${plain.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh|z)es$/u.test(plain)) return plain.slice(0, -2);
  return /[^su]s$/u.test(plain) ? plain.slice(0, -1) : plain;
}

/** The words of a name such as `sendLetter`, `send_letter` or `getPDFPages`, as they are written. */
export function nameParts(name: string): string[] {
  return name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== "");
}

/** The words of a name, as stems. */
export const nameWords = (name: string): string[] => nameParts(name).map(stemOf);

/** A name such as `styledCount` in words: "styled count". */
export const inWords = (name: string): string => nameParts(name).join(" ").toLowerCase();

/** The same word, or a slip of the pen: the longer the word, the more may be wrong, at most two letters. */
export function isNear(left: string, right: string): boolean {
  if (left === right) return true;
  const shorter = Math.min(left.length, right.length);
  if (left.length === 3 && right.length === 3) return isSwapped(left, right);
  // Two codes such as B9 and C9 differ by one letter and are not a slip.
  if (shorter < 4 || left[0] !== right[0] || /[^\p{L}]/u.test(left + right)) return false;
  return distance(left, right) <= (shorter < 7 ? 1 : 2);
}

/** "hwo" for "how": of short words only the order may be wrong. */
const isSwapped = (left: string, right: string): boolean =>
  left.charAt(0) === right.charAt(0) &&
  left.charAt(1) === right.charAt(2) &&
  left.charAt(2) === right.charAt(1);

/** Edit distance in which two swapped neighbours count once. */
export function distance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > 2) return 3;
  const rows: number[][] = [Array.from({ length: right.length + 1 }, (_, column) => column)];
  const at = (line: number, column: number) => rows[line]?.[column] ?? 0;
  for (let line = 1; line <= left.length; line++) {
    const row = [line];
    rows.push(row);
    for (let column = 1; column <= right.length; column++) {
      const same = left[line - 1] === right[column - 1];
      const isSwap =
        line > 1 &&
        column > 1 &&
        left[line - 1] === right[column - 2] &&
        left[line - 2] === right[column - 1];
      row[column] = Math.min(
        at(line - 1, column - 1) + (same ? 0 : 1),
        at(line - 1, column) + 1,
        at(line, column - 1) + 1,
        isSwap ? at(line - 2, column - 2) + 1 : 9,
      );
    }
  }
  return at(left.length, right.length);
}

export const isQuoted = (raw: string): boolean => /^["“`]|^'.*'$/u.test(raw);

/** Without the quotes around it. */
export const unquoted = (raw: string): string => raw.replace(/^["“`'](.*)["”`']$/su, "$1");

/** The words as they were written; a single one without its quotes. */
export function joined(words: readonly Word[]): string {
  const [first, ...others] = words;
  if (!first) return "";
  return others.length === 0
    ? unquoted(first.raw)
    : first.raw + others.map(({ gap, raw }) => (gap === "" ? " " : gap) + raw).join("");
}
