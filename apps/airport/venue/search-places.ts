import { wordsFor } from "./categories.ts";
import { isSlip, plainWords, topicWords } from "./plain-words.ts";
import { readTerm } from "./read-term.ts";
import type { Place, SecuritySide, Venue } from "./venue.ts";

export type Wanted = {
  readonly term?: string;
  readonly categoryId?: string;
  readonly buildingId?: string;
  readonly level?: string;
  readonly security?: SecuritySide;
};

/** `named`: the term is the very name of these places. `partly`: no place has all of the words. */
export type Found = {
  readonly places: readonly Place[];
  readonly how: "named" | "matching" | "partly";
  /** What was looked for: where the term says where, that has become a filter. */
  readonly meant: Wanted;
};

/** The places that fit, best first; the order of equals is that of the venue. */
export function searchPlaces(venue: Venue, wanted: Wanted): Found {
  const asked = topicWords(wanted.term ?? "").join(" ");
  const named = venue.places.filter(
    (place) => passes(place, wanted) && place.aliases.some((alias) => topicWords(alias).join(" ") === asked),
  );
  if (named.length > 0) return { places: named, how: "named", meant: wanted };
  const meant = readTerm(venue, wanted);
  return { ...matching(venue, meant), meant };
}

function matching(venue: Venue, wanted: Wanted): Omit<Found, "meant"> {
  const places = venue.places.filter((place) => passes(place, wanted));
  const words = topicWords(wanted.term ?? "");
  if (words.length === 0) return { places, how: "matching" };
  const rated = places.map((place) => ({ place, ...rate(place, words) })).filter(({ said }) => said > 0);
  const most = Math.max(0, ...rated.map(({ said }) => said));
  // A number that is nowhere must not be passed over: gate Z99 is not just any gate.
  const isNumbered = words.some((word) => /\d/.test(word));
  if (isNumbered && most < words.length) return { places: [], how: "matching" };
  const best = rated.filter(({ said }) => said === most).sort((left, right) => right.rank - left.rank);
  // "Gate" is a slip of "game" only where nobody has a gate.
  const sure = best.filter(({ rank }) => rank > slip);
  const chosen = sure.length > 0 ? sure : best;
  return { places: chosen.map(({ place }) => place), how: most === words.length ? "matching" : "partly" };
}

function passes(place: Place, { categoryId, buildingId, level, security }: Wanted): boolean {
  return (
    (categoryId === undefined || place.category === categoryId) &&
    (buildingId === undefined || place.building === buildingId || place.area === buildingId) &&
    (level === undefined || place.level === level) &&
    (security === undefined || place.security === security)
  );
}

/** How many of the words a place has. The rank is coarse on purpose: among like places the nearest comes first. */
function rate(place: Place, words: readonly string[]): { readonly said: number; readonly rank: number } {
  const scores = words.map((word) => scoreOf(place, word));
  return {
    said: scores.filter((score) => score > 0).length,
    rank: Math.min(...scores.filter((score) => score > 0)),
  };
}

const slip = 0.5;

/** 3: it is that or has that. 2: it is there. 1: the description has the word. Less: half a word or a slip of the pen. */
function scoreOf(place: Place, word: string): number {
  const known = [place.category, ...wordsFor(place.category), ...place.aliases, ...place.keywords].flatMap(
    plainWords,
  );
  if (known.includes(word)) return 3;
  if ([place.building, place.area, place.level].flatMap(plainWords).includes(word)) return 2;
  if (plainWords(place.description).includes(word)) return 1;
  const isBeginning = word.length >= 4 && known.some((one) => one.startsWith(word));
  return isBeginning || known.some((one) => isSlip(word, one)) ? slip : 0;
}

/** The rank of the best words that a place was found by: those of the first come before all others. */
export function rankOf(place: Place, term: string | undefined): number {
  const words = topicWords(term ?? "");
  return words.length === 0 ? 0 : rate(place, words).rank;
}
