/** A word as written, its normalized stem, and the text between it and the previous word. */
export type Word = { readonly raw: string; readonly stem: string; readonly gap: string };

const wordPattern =
  /"[^"]*"|“[^”]*”|`[^`]*`|(?<![\p{L}\p{N}])'[^']+'(?![\p{L}\p{N}])|[\p{L}\p{N}#_/.\\@:+*-]+(?:['’][\p{L}]+)?/gu;

/** Splits a sentence into words. Quoted text, a path, a code or a URL is one word. */
export function tokenize(text: string): Word[] {
  const words: Word[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(wordPattern)) {
    const bare = isQuoted(found) ? found : found.replace(/^[:*-]+(?=\p{L})|[.:*-]+$/gu, "");
    if (bare === "") continue;
    const start = index + found.indexOf(bare);
    const contracted = /^i['’]m$/iu.test(bare) ? "I" : findContractedQuestion(bare);
    const gap = text.slice(end, start);
    // "Am" is a verb after "I", and half of a day after a number.
    const isVerb = bare.toLowerCase() === "am" && words.at(-1)?.stem === "i";
    words.push({ raw: contracted ?? bare, stem: isVerb ? "be" : toStem(contracted ?? bare), gap });
    if (contracted !== undefined)
      words.push(
        contracted === "I" ? { raw: "am", stem: "be", gap: " " } : { raw: "is", stem: "is", gap: " " },
      );
    end = start + bare.length;
  }
  return words;
}

/** The question word of a contraction such as "what's", also with a typo. */
function findContractedQuestion(word: string): string | undefined {
  const found = /^(\p{L}+)['’]s$|^(what|where|who|how|when)s$/iu.exec(word)?.slice(1).find(Boolean);
  const isQuestion = (asked: string) => found !== undefined && isSimilar(found.toLowerCase(), asked);
  return ["what", "where", "who", "how", "when", "that", "there"].some(isQuestion) ? found : undefined;
}

/** Lower case, singular, without a possessive. */
export function toStem(word: string): string {
  const plain = word.toLowerCase().replace(/['’](?:s|re|m|ll|d|ve)$/u, "");
  if (/[^\p{L}]/u.test(plain) || plain.length < 4 || plain === "this" || plain === "does") return plain;
  if (plain.endsWith("ies")) return `${plain.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh|z)es$/u.test(plain)) return plain.slice(0, -2);
  return /[^su]s$/u.test(plain) ? plain.slice(0, -1) : plain;
}

/** Splits a name such as `sendLetter`, `send_letter` or `getPDFPages` into words. */
export function splitName(name: string): string[] {
  return name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== "");
}

export const toNameStems = (name: string): string[] => splitName(name).map(toStem);

/** Formats a name such as `styledCount` as "styled count". */
export const formatName = (name: string): string => splitName(name).join(" ").toLowerCase();

/** True for equal words and typos: at most one wrong letter, or two in long words. */
export function isSimilar(left: string, right: string): boolean {
  if (left === right) return true;
  const shorter = Math.min(left.length, right.length);
  if (left.length === 3 && right.length === 3) return hasSwappedLetters(left, right);
  // Codes such as B9 and C9 differ by one letter and are not typos.
  if (shorter < 4 || left[0] !== right[0] || /[^\p{L}]/u.test(left + right)) return false;
  return computeDistance(left, right) <= (shorter < 7 ? 1 : 2);
}

/** In short words only swapped letters count as a typo: "hwo" for "how". */
const hasSwappedLetters = (left: string, right: string): boolean =>
  left.charAt(0) === right.charAt(0) &&
  left.charAt(1) === right.charAt(2) &&
  left.charAt(2) === right.charAt(1);

/** Damerau-Levenshtein distance, capped at 3. */
export function computeDistance(left: string, right: string): number {
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

export const unquote = (raw: string): string => raw.replace(/^["“`'](.*)["”`']$/su, "$1");

/** Joins words as they were written. A single word loses its quotes. */
export function joinWords(words: readonly Word[]): string {
  const [first, ...others] = words;
  if (!first) return "";
  return others.length === 0
    ? unquote(first.raw)
    : first.raw + others.map(({ gap, raw }) => (gap === "" ? " " : gap) + raw).join("");
}
