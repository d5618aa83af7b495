/** A word as it stands in a text, and in the form in which words are compared. */
export type Word = { readonly raw: string; readonly stem: string };

const wordPattern = /"[^"]*"|“[^”]*”|[\p{L}\p{N}#_/.\\@:+*-]+(?:['’][\p{L}]+)?/gu;

/** The words of a sentence. What is in quotes is one word, and so is a path, a code or an address. */
export function wordsOf(text: string): Word[] {
  return (text.match(wordPattern) ?? [])
    .map((found) => found.replace(/^[.:*-]+(?=[\p{L}\p{N}])/u, (lead) => (lead.startsWith(".") ? lead : "")))
    .map((found) => found.replace(/[.:*-]+$/u, ""))
    .filter((raw) => raw !== "")
    .map((raw) => ({ raw, stem: stemOf(raw) }));
}

/** Lower case, singular, without a possessive. */
export function stemOf(word: string): string {
  const plain = word.toLowerCase().replace(/['’](?:s|re|m|ll|d|ve)$/u, "");
  if (/[^\p{L}]/u.test(plain) || plain.length < 4) return plain;
  if (plain.endsWith("ies")) return `${plain.slice(0, -3)}y`;
  if (/(?:s|x|ch|sh|z)es$/u.test(plain)) return plain.slice(0, -2);
  return /[^su]s$/u.test(plain) ? plain.slice(0, -1) : plain;
}

/** The words of a name such as `searchNearby`, `read_file` or `getPOIDetails`, as stems. */
export function nameWords(name: string): string[] {
  return name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== "")
    .map(stemOf);
}

/** The same word, or a slip of the pen: the longer the word, the more may be wrong, at most two letters. */
export function isNear(left: string, right: string): boolean {
  if (left === right) return true;
  const shorter = Math.min(left.length, right.length);
  // Two codes such as A15 and D15 differ by one letter and are not a slip.
  if (shorter < 4 || /[^\p{L}]/u.test(left + right)) return false;
  return distance(left, right) <= (shorter < 6 ? 1 : 2) && left[0] === right[0];
}

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

const set = (words: string): ReadonlySet<string> => new Set(words.split(" "));

/** Words that carry no topic. */
export const fillers: ReadonlySet<string> = set(
  "a an the all any some every each of my your our me i we you us please just kindly now also that which who " +
    "is are was were be been do doe does did can could would will should there here it them they those these " +
    "this one and or then so for to in on at with about from by into as what where when how why want need like let " +
    "have has get got give tell know whole ok okay hey hi hello",
);

const synonyms: readonly (readonly string[])[] = [
  ["find", "search", "look", "locate", "seek"],
  ["show", "display", "highlight", "draw"],
  ["style", "color", "colour", "paint", "make", "turn"],
  ["read", "open", "view", "content"],
  ["list", "enumerate"],
  ["count", "many", "number"],
  ["delete", "remove", "erase"],
  ["write", "create", "save"],
  ["edit", "change", "modify", "replace"],
  ["direction", "route", "way", "path"],
  ["near", "nearby", "nearest", "closest", "around", "close"],
  ["detail", "info", "information", "describe"],
  ["example", "sample"],
];

/** How much two stems mean the same: 1 for the same word, less for a slip or another word for it, 0 for none. */
export function likeness(left: string, right: string): number {
  if (left === right) return 1;
  if (synonyms.some((group) => group.includes(left) && group.includes(right))) return 0.7;
  return isNear(left, right) ? 0.8 : 0;
}

export const isFiller = ({ stem }: Word): boolean => fillers.has(stem);

/** Without the quotes around it. */
export const unquoted = (raw: string): string => raw.replace(/^["“](.*)["”]$/u, "$1");
