const stopWords = new Set(
  "a an the of for to in at on by near nearest closest next me my some any please find where is are there number no i we would like want need get have can buy anything something somewhere".split(
    " ",
  ),
);

/** Lowercases and removes accents and plurals, so "Cafés" matches "cafe". Expands "T2" to "terminal 2". */
export function normalizeWords(text: string): string[] {
  return text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/\bt(\d)\b/g, "terminal $1")
    .replace(/['’]s\b/g, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .map(toSingular);
}

export const isTopic = (word: string): boolean => !stopWords.has(word);

/** Words without stop words, or all words if only stop words are left. */
export function getTopicWords(text: string): string[] {
  const words = normalizeWords(text);
  const topic = words.filter(isTopic);
  return topic.length > 0 ? topic : words;
}

const toSingular = (word: string): string =>
  word.length > 3 && /[^siu]s$/.test(word) ? word.slice(0, -1) : word;

/** Short words and numbers never count as typos: they are too close to other words. */
export function isTypo(left: string, right: string): boolean {
  const shorter = Math.min(left.length, right.length);
  if (shorter < 4 || left[0] !== right[0] || /\d/.test(left + right)) return false;
  return computeEditDistance(left, right) <= (shorter < 7 ? 1 : 2);
}

function computeEditDistance(left: string, right: string): number {
  let previousRow: number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let line = 1; line <= left.length; line++) {
    const next = [line];
    for (let column = 1; column <= right.length; column++) {
      const same = left[line - 1] === right[column - 1] ? 0 : 1;
      const isSwap = left[line - 1] === right[column - 2] && left[line - 2] === right[column - 1];
      next[column] = Math.min(
        (row[column - 1] ?? 0) + same,
        (row[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        isSwap ? (previousRow[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    previousRow = row;
    row = next;
  }
  return row[right.length] ?? 0;
}
