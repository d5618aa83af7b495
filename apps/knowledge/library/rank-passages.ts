/** A passage that contains some of the query's words. */
export type Candidate = {
  readonly row: number;
  readonly document: string;
  /** BM25 score; lower is better. */
  readonly score: number;
  /** Number of matching words. */
  readonly words: number;
  /** Share of the query that the matching words make up, from 0 to 1. Rare words count more than common ones. */
  readonly relevance: number;
  readonly text: string;
};

/** Shorter passages, such as a heading with little text, are ranked lower. */
const minTextLength = 80;

/** In a short query nearly every word matters; a long question has words that its answer need not repeat. */
const getMinRelevance = (words: readonly string[]): number => Math.min(0.6, 2.4 / words.length);

export type RankOptions = {
  readonly words: readonly string[];
  /** Accepts passages with any of the words. */
  readonly isWide: boolean;
};

/**
 * Returns the relevant candidates, best first: passages that cover enough of the query, with a bonus for documents named in the
 * query. Several named documents alternate, so that a comparison gets passages of each.
 */
export function rankPassages(
  candidates: readonly Candidate[],
  { words, isWide }: RankOptions,
): readonly Candidate[] {
  // Packages are named "open" and "retry": in a longer question such a word alone does not name the document.
  const isNamed = (candidate: Candidate) =>
    words.includes(candidate.document.toLowerCase()) && (words.length <= 3 || candidate.words >= 2);
  // One word of several says little: prefer no result over a passage that happens to contain it.
  const isRelevant = (candidate: Candidate) =>
    candidate.relevance >= getMinRelevance(words) && candidate.words >= Math.min(2, words.length);
  const getWorth = (candidate: Candidate) => computeWorth(candidate, words, isNamed(candidate));
  const good = candidates
    .filter((candidate) => isWide || isRelevant(candidate) || isNamed(candidate))
    .toSorted((left, right) => getWorth(right) - getWorth(left) || left.row - right.row);
  const named = Map.groupBy(good.filter(isNamed), ({ document }) => document);
  return named.size < 2
    ? good
    : [...interleave([...named.values()]), ...good.filter((candidate) => !isNamed(candidate))];
}

function computeWorth(
  { score, relevance, text }: Candidate,
  words: readonly string[],
  isNamed: boolean,
): number {
  const plain = text.toLowerCase();
  // Prefer exact words: "compact" has the stem of "compaction" but another meaning.
  const exact = words.filter((word) => plain.includes(word)).length / words.length;
  return (
    -score *
    (isNamed ? 3 * relevance : relevance ** 2) *
    (1 + exact) *
    (text.length < minTextLength ? 0.5 : 1)
  );
}

function interleave<Item>(lists: readonly (readonly Item[])[]): readonly Item[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}
