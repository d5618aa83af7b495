import { AgentError, suggestName } from "capstan";
import { distancesFrom, inWords } from "../venue/distances.ts";
import { locationOf, type Place, placeOf, type Venue } from "../venue/venue.ts";

/** What the tools of the airport work with. */
export type Concierge = {
  readonly venue: Venue;
  /** Where the agent stands, when it is a kiosk. */
  readonly here?: Place;
};

/** The place with an id, or an error that tells the model what to do. */
export function knownPlace({ venue }: Concierge, poiId: number): Place {
  const place = placeOf(venue, poiId);
  if (!place)
    throw new AgentError(
      "not_found",
      `No place has the id ${poiId}. Take ids from a search, never guess them.`,
    );
  return place;
}

/** A place by its name, for those who set the app up. */
export function placeNamed(venue: Venue, name: string): Place {
  const found = venue.places.filter(({ aliases }) =>
    aliases.some((alias) => alias.toLowerCase() === name.toLowerCase()),
  );
  const [place] = found;
  if (place && found.length === 1) return place;
  const known = suggestName(
    name,
    venue.places.map((one) => one.name),
  );
  throw new AgentError(
    "invalid_input",
    place
      ? `"${name}" means several places: ${found.map((one) => `${one.name} (${locationOf(one)})`).join(", ")}.`
      : `No place of ${venue.name} is named "${name}".${known}`,
  );
}

/** A place as a model gets to read it: what people want to know first, then what tools need. */
export type Listed = {
  readonly poiId: number;
  readonly name: string;
  /** How far it is, in words, when it is known from where. */
  readonly walk?: string;
  readonly location: string;
  readonly category: string;
  readonly keywords?: readonly string[];
  /** In metres. */
  readonly distance?: number;
};

export function listed(place: Place, metres?: number): Listed {
  const { poiId, name, category, keywords } = place;
  return {
    poiId,
    name,
    ...(metres !== undefined && { walk: inWords(metres) }),
    location: locationOf(place),
    category,
    ...(keywords.length > 0 && { keywords }),
    ...(metres !== undefined && { distance: metres }),
  };
}

/** Places with their distance from one of them, nearest first. Those that no way leads to come last. */
export function byDistance(venue: Venue, places: readonly Place[], from: Place): Listed[] {
  const distance = distancesFrom(venue, from);
  return places
    .filter((place) => place !== from)
    .map((place) => listed(place, distance(place)))
    .sort(
      (left, right) =>
        (left.distance ?? Number.POSITIVE_INFINITY) - (right.distance ?? Number.POSITIVE_INFINITY),
    );
}
