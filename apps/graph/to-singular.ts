const irregular: ReadonlyMap<string, string> = new Map([
  ["people", "person"],
  ["men", "man"],
  ["women", "woman"],
  ["children", "child"],
  ["mice", "mouse"],
]);

/** "companies" becomes "company", "people" becomes "person". */
export const toSingular = (word: string): string =>
  irregular.get(word.toLowerCase()) ??
  word
    .replace(/ies$/iu, "y")
    .replace(/(ss|x|ch|sh)es$/iu, "$1")
    .replace(/(?<![su])s$/iu, "");
