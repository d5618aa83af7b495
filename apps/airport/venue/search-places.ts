import { getSynonyms } from "./categories.ts";
import { getTopicWords, isTypo, normalizeWords } from "./normalize-words.ts";
import { parseTerm } from "./parse-term.ts";
import type { Place, SecuritySide, Venue } from "./venue.ts";

export type PlaceQuery = {
  readonly term?: string;
  readonly categoryId?: string;
  readonly buildingId?: string;
  readonly level?: string;
  readonly security?: SecuritySide;
};

/** `exact`: the term is the name of these places. `partial`: no place matches all words. */
export type SearchResult = {
  readonly places: readonly Place[];
  readonly match: "exact" | "full" | "partial";
  /** The query as understood: location phrases of the term have become filters. */
  readonly query: PlaceQuery;
};

/** Returns the matching places, best first; equal matches keep the order of the venue. */
export function searchPlaces(venue: Venue, query: PlaceQuery): SearchResult {
  const searchedName = getTopicWords(query.term ?? "").join(" ");
  const named = venue.places.filter(
    (place) =>
      matchesFilters(place, query) &&
      [place.name, ...place.aliases].some((alias) => getTopicWords(alias).join(" ") === searchedName),
  );
  if (named.length > 0) return { places: named, match: "exact", query };
  const parsedQuery = parseTerm(venue, query);
  return { ...matchWords(venue, parsedQuery), query: parsedQuery };
}

function matchWords(venue: Venue, query: PlaceQuery): Omit<SearchResult, "query"> {
  const places = venue.places.filter((place) => matchesFilters(place, query));
  const words = getTopicWords(query.term ?? "");
  if (words.length === 0) return { places, match: "full" };
  const ratedPlaces = places
    .map((place) => ({ place, ...ratePlace(place, words) }))
    .filter(({ matchedWords }) => matchedWords > 0);
  const maxMatched = Math.max(0, ...ratedPlaces.map(({ matchedWords }) => matchedWords));
  // A number must match: gate Z99 is not just any gate.
  const isNumbered = words.some((word) => /\d/.test(word));
  if (isNumbered && maxMatched < words.length) return { places: [], match: "full" };
  const best = ratedPlaces
    .filter(({ matchedWords }) => matchedWords === maxMatched)
    .sort((left, right) => right.rank - left.rank);
  // Accept a typo ("gate" for "game") only if no place matches exactly.
  const certain = best.filter(({ rank }) => rank > typoScore);
  const chosen = certain.length > 0 ? certain : best;
  return {
    places: chosen.map(({ place }) => place),
    match: maxMatched === words.length ? "full" : "partial",
  };
}

function matchesFilters(place: Place, { categoryId, buildingId, level, security }: PlaceQuery): boolean {
  return (
    (categoryId === undefined || place.category === categoryId) &&
    (buildingId === undefined || place.building === buildingId || place.area === buildingId) &&
    (level === undefined || place.level === level) &&
    (security === undefined || place.security === security)
  );
}

/** Counts the matching words. The rank is coarse on purpose, so that distance decides among similar places. */
function ratePlace(
  place: Place,
  words: readonly string[],
): { readonly matchedWords: number; readonly rank: number } {
  const scores = words.map((word) => scoreWord(place, word));
  return {
    matchedWords: scores.filter((score) => score > 0).length,
    rank: Math.min(...scores.filter((score) => score > 0)),
  };
}

const typoScore = 0.5;

/** 3: category, name or keyword. 2: location. 1: description. Less: prefix or typo. */
function scoreWord(place: Place, word: string): number {
  const ownWords = [
    place.category,
    ...getSynonyms(place.category),
    ...place.aliases,
    ...place.keywords,
  ].flatMap(normalizeWords);
  if (ownWords.includes(word)) return 3;
  if ([place.building, place.area, place.level].flatMap(normalizeWords).includes(word)) return 2;
  if (normalizeWords(place.description).includes(word)) return 1;
  const isPrefix = word.length >= 4 && ownWords.some((ownWord) => ownWord.startsWith(word));
  return isPrefix || ownWords.some((ownWord) => isTypo(word, ownWord)) ? typoScore : 0;
}

/** Rank of a place for a term, for sorting by match before distance. */
export function computeRank(place: Place, term: string | undefined): number {
  const words = getTopicWords(term ?? "");
  return words.length === 0 ? 0 : ratePlace(place, words).rank;
}
