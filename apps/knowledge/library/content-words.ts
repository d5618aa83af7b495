const word = /[@\p{L}\p{N}](?:[\p{L}\p{N}_@/.-]*[\p{L}\p{N}_])?/gu;
const mostWords = 16;

const little: ReadonlySet<string> = new Set(
  (
    "a an and any are as at be but by can could did do does for from get give had has have how i in into is it its me " +
    "my of on or our out please should show so some tell that the their them then there these they this to us was we " +
    "were what when where which who why will with would you your about not say says"
  ).split(" "),
);

/** The words of a text that say what it is about, in lower case, each once. Of a text of little words, all of them. */
export function contentWords(text: string): readonly string[] {
  const words = (
    text
      .toLowerCase()
      .replace(/['’]s\b/g, "")
      .match(word) ?? []
  ).map((found) => found.replace(/^@(?=[^/]*$)/u, ""));
  const telling = words.filter((found) => !little.has(found));
  return [...new Set(telling.length > 0 ? telling : words)].slice(0, mostWords);
}
