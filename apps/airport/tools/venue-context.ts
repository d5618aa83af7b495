import { AgentError, suggestName } from "capstan";
import { createDistanceMeter, formatWalk } from "../venue/distances.ts";
import { findPlace, formatLocation, type Place, type Venue } from "../venue/venue.ts";

/** Shared context of the airport tools. */
export type VenueContext = {
  readonly venue: Venue;
  /** Label of the results of the tools. */
  readonly reads: "public" | "untrusted";
  /** The agent's own location, if it runs on a kiosk. */
  readonly kiosk?: Place;
};

/** Throws an error that tells the model where ids come from. */
export function getPlace({ venue }: VenueContext, poiId: number): Place {
  const place = findPlace(venue, poiId);
  if (!place)
    throw new AgentError(
      "not_found",
      `No place has the id ${poiId}. Take ids from a search; never guess them.`,
    );
  return place;
}

/** Resolves a name from the app's options. Throws if it is unknown or ambiguous. */
export function getPlaceByName(venue: Venue, name: string): Place {
  const found = venue.places.filter(({ aliases }) =>
    aliases.some((alias) => alias.toLowerCase() === name.toLowerCase()),
  );
  const [place] = found;
  if (place && found.length === 1) return place;
  const suggestion = suggestName(
    name,
    venue.places.map((place) => place.name),
  );
  throw new AgentError(
    "invalid_input",
    place
      ? `"${name}" matches several places: ${found.map((match) => `${match.name} (${formatLocation(match)})`).join(", ")}.`
      : `No place at ${venue.name} is named "${name}".${suggestion}`,
  );
}

/** A place as the model sees it: fields for the answer first, then fields for other tools. */
export type PlaceSummary = {
  readonly poiId: number;
  readonly name: string;
  /** Formatted distance, if the search has a starting point. */
  readonly walk?: string;
  readonly location: string;
  readonly category: string;
  readonly keywords?: readonly string[];
  /** In metres. */
  readonly distance?: number;
};

export function summarizePlace(place: Place, metres?: number): PlaceSummary {
  const { poiId, name, category, keywords } = place;
  return {
    poiId,
    name,
    ...(metres !== undefined && { walk: formatWalk(metres) }),
    location: formatLocation(place),
    category,
    ...(keywords.length > 0 && { keywords }),
    ...(metres !== undefined && { distance: metres }),
  };
}

/** Sorts places by walking distance from `from`, nearest first. Unreachable places come last. */
export function sortByDistance(venue: Venue, places: readonly Place[], from: Place): PlaceSummary[] {
  const measureFrom = createDistanceMeter(venue, from);
  return places
    .filter((place) => place !== from)
    .map((place) => summarizePlace(place, measureFrom(place)))
    .sort(
      (left, right) =>
        (left.distance ?? Number.POSITIVE_INFINITY) - (right.distance ?? Number.POSITIVE_INFINITY),
    );
}
