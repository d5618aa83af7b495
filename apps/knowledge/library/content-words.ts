const wordPattern = /[@\p{L}\p{N}](?:[\p{L}\p{N}_@/.-]*[\p{L}\p{N}_])?/gu;
const maxWords = 16;

const stopWords: ReadonlySet<string> = new Set(
  (
    "a about also am an and any are as at be been being but by can could did do does for from get give had has have how i " +
    "if in into is it its just let like many may me might much must my not of on or our out please really say says shall should " +
    "show so some tell than that the their them then there these they this to too us very want was we were what when " +
    "where which who why will with would you your"
  ).split(" "),
);

/** Words that only measure after "how": "How far is the hotel?" */
const measureWords = /\bhow (?:big|far|fast|large|long|often|old|soon)\b/g;

/** Returns the lowercase words without stop words and duplicates, or all words if only stop words are left. */
export function getContentWords(text: string): readonly string[] {
  const words = (
    text
      .toLowerCase()
      .replace(/['’]s\b/g, "")
      .replace(measureWords, "how")
      .match(wordPattern) ?? []
  ).map((found) => found.replace(/^@(?=[^/]*$)/u, ""));
  const contentWords = words.filter((found) => !stopWords.has(found));
  return [...new Set(contentWords.length > 0 ? contentWords : words)].slice(0, maxWords);
}
