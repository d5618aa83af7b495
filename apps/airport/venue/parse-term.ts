import { isTopic, normalizeWords } from "./normalize-words.ts";
import type { PlaceQuery } from "./search-places.ts";
import { listLevelNames, type Venue } from "./venue.ts";

type Filter = Omit<PlaceQuery, "term" | "categoryId">;

/** Turns location phrases in the term into filters: "lounge in concourse B" becomes a lounge, in Concourse B. */
export function parseTerm(venue: Venue, query: PlaceQuery): PlaceQuery {
  let words = normalizeWords(query.term ?? "");
  const filters: Filter[] = [];
  for (const { phrase, filter } of buildFilterPhrases(venue)) {
    const start = findPhrase(phrase, words);
    const isGiven = Object.keys(filter).some((name) => name in query);
    const rest = words.toSpliced(start, phrase.length);
    // A term that consists of a location only stays a term.
    if (start < 0 || isGiven || !rest.some(isTopic)) continue;
    filters.push(filter);
    words = rest;
  }
  if (filters.length === 0) return query;
  return { ...Object.assign({}, ...filters.toReversed()), ...query, term: words.filter(isTopic).join(" ") };
}

type FilterPhrase = { readonly phrase: readonly string[]; readonly filter: Filter };

function buildFilterPhrases(venue: Venue): FilterPhrase[] {
  const names = venue.buildings.flatMap(({ name, areas }) => [...areas, name]);
  return [
    ...names.map((buildingId) => ({ phrase: normalizeWords(buildingId), filter: { buildingId } })),
    ...listLevelNames(venue).map((level) => ({ phrase: normalizeWords(level), filter: { level } })),
    { phrase: ["before", "security"], filter: { security: "before" } },
    { phrase: ["after", "security"], filter: { security: "after" } },
    { phrase: ["past", "security"], filter: { security: "after" } },
  ];
}

/** Index of the first word of the phrase, or -1. */
const findPhrase = (phrase: readonly string[], words: readonly string[]): number =>
  phrase.length === 0
    ? -1
    : words.findIndex((_, start) => phrase.every((word, index) => words[start + index] === word));
