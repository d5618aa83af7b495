/** A passage that contains some of the query's words. */
export type Candidate = {
  readonly row: number;
  readonly document: string;
  /** BM25 score; lower is better. */
  readonly score: number;
  /** Number of matching words. */
  readonly words: number;
  /** Contains the rarest word, which usually carries the meaning of the question. */
  readonly hasRarest: boolean;
  readonly text: string;
};

/** Shorter passages, such as a heading with little text, are ranked lower. */
const minTextLength = 80;

/** Default share of the query's words that a passage must exceed. */
export const defaultMinShare = 0.5;

type RankOptions = { readonly words: readonly string[]; readonly minShare: number };

/**
 * Returns the relevant candidates, best first: passages with enough matching words, with a bonus for documents named in the
 * query. Several named documents alternate, so that a comparison gets passages of each.
 */
export function rankPassages(
  candidates: readonly Candidate[],
  { words, minShare }: RankOptions,
): readonly Candidate[] {
  // Packages are named "open" and "retry": in a longer question such a word alone does not name the document.
  const isNamed = (candidate: Candidate) =>
    words.includes(candidate.document.toLowerCase()) && (words.length <= 3 || candidate.words >= 2);
  // A wider search accepts anything; a normal one prefers no result over an irrelevant candidate.
  const isRelevant = (candidate: Candidate) => candidate.hasRarest || minShare < defaultMinShare;
  const getWorth = (candidate: Candidate) => computeWorth(candidate, words, isNamed(candidate));
  const good = candidates
    .filter(
      (candidate) =>
        (candidate.words > words.length * minShare && isRelevant(candidate)) || isNamed(candidate),
    )
    .toSorted((left, right) => getWorth(right) - getWorth(left) || left.row - right.row);
  const named = Map.groupBy(good.filter(isNamed), ({ document }) => document);
  return named.size < 2
    ? good
    : [...interleave([...named.values()]), ...good.filter((candidate) => !isNamed(candidate))];
}

function computeWorth(
  { score, words: matchedCount, text }: Candidate,
  words: readonly string[],
  isNamed: boolean,
): number {
  const share = matchedCount / words.length;
  const plain = text.toLowerCase();
  // Prefer exact words: "compact" has the stem of "compaction" but another meaning.
  const exact = words.filter((word) => plain.includes(word)).length / words.length;
  return -score * (isNamed ? 3 * share : share ** 2) * (1 + exact) * (text.length < minTextLength ? 0.5 : 1);
}

function interleave<Item>(lists: readonly (readonly Item[])[]): readonly Item[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}
