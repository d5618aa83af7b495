import type { ToolReturn } from "capstan";
import { topicWords } from "../venue/plain-words.ts";
import { searchPlaces, type Wanted } from "../venue/search-places.ts";
import { locationOf, type Place, type Venue } from "../venue/venue.ts";

const mostElsewhere = 3;

/** Nothing was found: what was looked for and where, and what there is instead. */
export function nothingFound(venue: Venue, wanted: Wanted): ToolReturn {
  const { term, ...filters } = wanted;
  const what = term === undefined ? "Nothing" : `Nothing for "${term}"`;
  const where = Object.values(filters).map((value) => sides[value] ?? value);
  const place = where.length > 0 ? ` (${where.join(", ")})` : "";
  const hint = gatesThereAre(venue, term ?? "") || (where.length > 0 ? elsewhere(venue, term) : "");
  return { message: `${what} is recorded${place}.${hint}`, data: { places: [] } };
}

const sides: { readonly [value: string]: string } = { before: "before security", after: "after security" };

function elsewhere(venue: Venue, term: string | undefined): string {
  if (term === undefined) return "";
  const { places, how } = searchPlaces(venue, { term });
  if (how === "partly" || places.length === 0) return "";
  const named = places.slice(0, mostElsewhere).map((place) => `${place.name} (${locationOf(place)})`);
  const more = places.length - named.length;
  return ` Elsewhere there is: ${named.join("; ")}${more > 0 ? `; and ${more} more` : ""}.`;
}

/** Whoever asks for a gate that is not there has misread its number: "The gates of Concourse B are B30 to B51." */
function gatesThereAre({ places }: Venue, term: string): string {
  const [, letter] = /^(?:gate )?([a-z]?)\d+$/u.exec(topicWords(term).join(" ")) ?? [];
  if (letter === undefined) return "";
  const gates = places.filter(({ category }) => category === "gate");
  const byArea = [...Map.groupBy(gates, ({ area, building }) => area || building)];
  const own = byArea.filter(([, [first]]) => letter !== "" && codeOf(first).startsWith(letter.toUpperCase()));
  const [only] = own;
  if (only && own.length === 1) return ` The gates of ${only[0]} are ${rangeOf(only[1])}.`;
  return byArea.length === 0
    ? ""
    : ` There are the gates ${byArea.map(([, some]) => rangeOf(some)).join(", ")}.`;
}

function rangeOf(gates: readonly Place[]): string {
  const codes = [...new Set(gates.map(codeOf))].toSorted((left, right) => numberIn(left) - numberIn(right));
  return codes.length > 1 ? `${codes[0]} to ${codes.at(-1)}` : `${codes[0]}`;
}

/** "B30" of "Gate B30". */
const codeOf = (place: Place | undefined): string => place?.name.split(" ").at(-1) ?? "";
const numberIn = (code: string): number => Number(/\d+/u.exec(code)?.[0] ?? 0);
