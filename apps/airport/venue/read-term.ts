import { isTopic, plainWords } from "./plain-words.ts";
import type { Wanted } from "./search-places.ts";
import type { Venue } from "./venue.ts";

type Filter = Omit<Wanted, "term" | "categoryId">;

/** What a term says about where a thing is, as filters: "lounge in concourse B" is a lounge, in Concourse B. */
export function readTerm(venue: Venue, wanted: Wanted): Wanted {
  let words = plainWords(wanted.term ?? "");
  const filters: Filter[] = [];
  for (const { said, filter } of sayings(venue)) {
    const at = placeOf(said, words);
    const isGiven = Object.keys(filter).some((name) => name in wanted);
    const rest = words.toSpliced(at, said.length);
    // A term that says nothing but where is left as it is.
    if (at < 0 || isGiven || !rest.some(isTopic)) continue;
    filters.push(filter);
    words = rest;
  }
  if (filters.length === 0) return wanted;
  return { ...Object.assign({}, ...filters.toReversed()), ...wanted, term: words.filter(isTopic).join(" ") };
}

type Saying = { readonly said: readonly string[]; readonly filter: Filter };

function sayings({ buildings, levels }: Venue): Saying[] {
  const names = buildings.flatMap(({ name, areas }) => [...areas, name]);
  return [
    ...names.map((buildingId) => ({ said: plainWords(buildingId), filter: { buildingId } })),
    ...levels.map(({ name }) => ({ said: plainWords(name), filter: { level: name } })),
    { said: ["before", "security"], filter: { security: "before" } },
    { said: ["after", "security"], filter: { security: "after" } },
    { said: ["past", "security"], filter: { security: "after" } },
  ];
}

/** From which word on a phrase is said; -1 when it is not. */
const placeOf = (said: readonly string[], words: readonly string[]): number =>
  said.length === 0
    ? -1
    : words.findIndex((_, at) => said.every((word, index) => words[at + index] === word));
