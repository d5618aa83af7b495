/** Dampens the lead of the first ranks; the value of the paper that introduced reciprocal rank fusion. */
const rankOffset = 60;

/** Merges rankings by reciprocal rank fusion: an item counts more the higher and the more often it is ranked. */
export function fuseRankings<Item>(
  rankings: readonly (readonly Item[])[],
  getId: (item: Item) => string,
): readonly Item[] {
  const scores = new Map<string, { readonly item: Item; score: number }>();
  for (const ranking of rankings)
    for (const [index, item] of ranking.entries()) {
      const entry = scores.get(getId(item)) ?? { item, score: 0 };
      entry.score += 1 / (rankOffset + index + 1);
      scores.set(getId(item), entry);
    }
  return [...scores.values()].toSorted((left, right) => right.score - left.score).map(({ item }) => item);
}
