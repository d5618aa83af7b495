/** Formats a count with its noun: "1 case", "2,000 entries". */
export function formatCount(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : toPlural(noun)}`;
}

/** Formats counts by their nouns in the plural, which a loader chooses: "1 level, 340 places". */
export function formatCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([nouns, count]) => `${count.toLocaleString("en")} ${count === 1 ? toSingular(nouns) : nouns}`)
    .join(", ");
}

const toPlural = (noun: string): string => `${noun.replace(/(?<![aeiou])y$/, "ie")}s`;

/** Returns the singular of a regular plural. */
export const toSingular = (nouns: string): string =>
  /(?<!s)s$/.test(nouns) ? nouns.replace(/(?:(?<=ch|sh|x|ss)es|s)$/, "").replace(/ie$/, "y") : nouns;
