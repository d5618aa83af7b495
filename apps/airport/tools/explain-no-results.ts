import type { ToolReturn } from "capstan";
import { getTopicWords } from "../venue/normalize-words.ts";
import { type PlaceQuery, searchPlaces } from "../venue/search-places.ts";
import { formatLocation, type Place, type Venue } from "../venue/venue.ts";

const maxAlternatives = 3;

/** Repeats the query and suggests alternatives. */
export function explainNoResults(venue: Venue, query: PlaceQuery): ToolReturn {
  const { term, ...filters } = query;
  const what = term === undefined ? "Nothing" : `Nothing for "${term}"`;
  const where = Object.values(filters).map((value) => securityLabels[value] ?? value);
  const place = where.length > 0 ? ` (${where.join(", ")})` : "";
  const hint = suggestGates(venue, term ?? "") || (where.length > 0 ? suggestElsewhere(venue, term) : "");
  return { message: `${what} is recorded${place}.${hint}`, data: { places: [] } };
}

const securityLabels: { readonly [value: string]: string } = {
  before: "before security",
  after: "after security",
};

function suggestElsewhere(venue: Venue, term: string | undefined): string {
  if (term === undefined) return "";
  const { places, match } = searchPlaces(venue, { term });
  if (match === "partial" || places.length === 0) return "";
  const named = places.slice(0, maxAlternatives).map((place) => `${place.name} (${formatLocation(place)})`);
  const more = places.length - named.length;
  return ` Elsewhere: ${named.join("; ")}${more > 0 ? `; and ${more} more` : ""}.`;
}

/** The user may have misread the gate number: "The gates of Concourse B are B30 to B51." */
function suggestGates({ places }: Venue, term: string): string {
  const [, letter] = /^(?:gate )?([a-z]?)\d+$/u.exec(getTopicWords(term).join(" ")) ?? [];
  if (letter === undefined) return "";
  const gates = places.filter(({ category }) => category === "gate");
  const gatesByArea = [...Map.groupBy(gates, ({ area, building }) => area || building)];
  const matchingAreas = gatesByArea.filter(
    ([, [first]]) => letter !== "" && getGateCode(first).startsWith(letter.toUpperCase()),
  );
  const [only] = matchingAreas;
  if (only && matchingAreas.length === 1) return ` The gates of ${only[0]} are ${formatRange(only[1])}.`;
  return gatesByArea.length === 0
    ? ""
    : ` The gates are ${gatesByArea.map(([, some]) => formatRange(some)).join(", ")}.`;
}

function formatRange(gates: readonly Place[]): string {
  const codes = [...new Set(gates.map(getGateCode))].toSorted(
    (left, right) => parseGateNumber(left) - parseGateNumber(right),
  );
  return codes.length > 1 ? `${codes[0]} to ${codes.at(-1)}` : `${codes[0]}`;
}

/** "B30" for "Gate B30". */
const getGateCode = (place: Place | undefined): string => place?.name.split(" ").at(-1) ?? "";
const parseGateNumber = (code: string): number => Number(/\d+/u.exec(code)?.[0] ?? 0);
