const wordPattern = /[@\p{L}\p{N}](?:[\p{L}\p{N}_@/.-]*[\p{L}\p{N}_])?/gu;
const maxWords = 16;

const stopWords: ReadonlySet<string> = new Set(
  (
    "a an and any are as at be but by can could did do does for from get give had has have how i in into is it its me " +
    "my of on or our out please should show so some tell that the their them then there these they this to us was we " +
    "were what when where which who why will with would you your about not say says"
  ).split(" "),
);

/** Returns the lowercase words without stop words and duplicates, or all words if only stop words are left. */
export function getContentWords(text: string): readonly string[] {
  const words = (
    text
      .toLowerCase()
      .replace(/['’]s\b/g, "")
      .match(wordPattern) ?? []
  ).map((found) => found.replace(/^@(?=[^/]*$)/u, ""));
  const contentWords = words.filter((found) => !stopWords.has(found));
  return [...new Set(contentWords.length > 0 ? contentWords : words)].slice(0, maxWords);
}
