const irregular: ReadonlyMap<string, string> = new Map([
  ["people", "person"],
  ["men", "man"],
  ["women", "woman"],
  ["children", "child"],
  ["mice", "mouse"],
]);

/** Words for the same kind of thing. */
const synonyms: readonly ReadonlySet<string>[] = [
  "human person",
  "house home",
  "company firm organization",
  "film movie",
  "price cost",
].map((words) => new Set(words.split(" ")));

/** Accepts singular, plural and a synonym: "people" means `human`. */
export function isSameKind(left: string, right: string): boolean {
  const [first, second] = [toSingular(left.toLowerCase()), toSingular(right.toLowerCase())];
  return first === second || synonyms.some((group) => group.has(first) && group.has(second));
}

/** "companies" becomes "company", "people" becomes "person". */
export const toSingular = (word: string): string =>
  irregular.get(word.toLowerCase()) ??
  word
    .replace(/ies$/iu, "y")
    .replace(/(ss|x|ch|sh)es$/iu, "$1")
    .replace(/(?<![su])s$/iu, "");
