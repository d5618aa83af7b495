const little = new Set(
  "a an the of for to in at on by near nearest closest next me my some any please find where is are there number no i we would like want need get have can buy anything something somewhere".split(
    " ",
  ),
);

/** Lower case, without accents and plurals: "Cafés" and "cafe" are one word. "T2" is "terminal 2". */
export function plainWords(text: string): string[] {
  return text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/\bt(\d)\b/g, "terminal $1")
    .replace(/['’]s\b/g, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .map(singular);
}

export const isTopic = (word: string): boolean => !little.has(word);

/** The words of a question that tell what is looked for. */
export function topicWords(text: string): string[] {
  const words = plainWords(text);
  const topic = words.filter(isTopic);
  return topic.length > 0 ? topic : words;
}

const singular = (word: string): string =>
  word.length > 3 && /[^siu]s$/.test(word) ? word.slice(0, -1) : word;

/** Whether one word is the other with a slip of the pen: short words are too easily another word. */
export function isSlip(left: string, right: string): boolean {
  const shorter = Math.min(left.length, right.length);
  if (shorter < 4 || left[0] !== right[0] || /\d/.test(left + right)) return false;
  return editDistance(left, right) <= (shorter < 7 ? 1 : 2);
}

function editDistance(left: string, right: string): number {
  let before: number[] = [];
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
        isSwap ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    before = row;
    row = next;
  }
  return row[right.length] ?? 0;
}
