/** A passage that has some of the words. */
export type Candidate = {
  readonly row: number;
  readonly document: string;
  /** By BM25: the lower, the better. */
  readonly score: number;
  /** How many of the words it has. */
  readonly words: number;
  /** Whether it has the word that the fewest passages have: most of a question is in that one. */
  readonly hasRarest: boolean;
  readonly text: string;
};

/** A heading over next to nothing has the words, and says little. */
const shortest = 80;

/** A passage has more than this share of the words. */
export const usualShare = 0.5;

type Asked = { readonly words: readonly string[]; readonly moreThan: number };

/**
 * The candidates worth reading, best first: those with enough of the words, and more so those of a document that is
 * named. Where several documents are named, they take turns, so that a comparison has something of each.
 */
export function ranked(candidates: readonly Candidate[], { words, moreThan }: Asked): readonly Candidate[] {
  // There are packages named "open" and "retry": in a longer question such a word alone names nothing.
  const isNamed = (one: Candidate) =>
    words.includes(one.document.toLowerCase()) && (words.length <= 3 || one.words >= 2);
  // A wider search takes what it gets; another one would rather find nothing than what nobody has asked for.
  const isAbout = (one: Candidate) => one.hasRarest || moreThan < usualShare;
  const worth = (one: Candidate) => worthOf(one, words, isNamed(one));
  const good = candidates
    .filter((one) => (one.words > words.length * moreThan && isAbout(one)) || isNamed(one))
    .toSorted((left, right) => worth(right) - worth(left) || left.row - right.row);
  const named = Map.groupBy(good.filter(isNamed), ({ document }) => document);
  return named.size < 2 ? good : [...inTurns([...named.values()]), ...good.filter((one) => !isNamed(one))];
}

function worthOf(
  { score, words: held, text }: Candidate,
  words: readonly string[],
  isNamed: boolean,
): number {
  const share = held / words.length;
  const plain = text.toLowerCase();
  // "Compact" has the stem of "compaction", and another meaning.
  const exact = words.filter((word) => plain.includes(word)).length / words.length;
  return -score * (isNamed ? 3 * share : share ** 2) * (1 + exact) * (text.length < shortest ? 0.5 : 1);
}

function inTurns<Item>(lists: readonly (readonly Item[])[]): readonly Item[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}
