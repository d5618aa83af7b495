import { defineTool, type Tool } from "capstan";
import { mapHint, pinOf } from "../map-hint.ts";
import { distancesFrom, inWords } from "../venue/distances.ts";
import { locationOf, type Place } from "../venue/venue.ts";
import { type Concierge, knownPlace } from "./concierge.ts";

const byId = {
  type: "object",
  properties: { poiId: { type: "number", description: "The place, by its poiId from an earlier search" } },
  required: ["poiId"],
  additionalProperties: false,
} as const;

/** All that is known about one place: a plain lookup. */
export function getPOIDetails(concierge: Concierge): Tool {
  return defineTool({
    name: "getPOIDetails",
    description:
      "Tells all that is known about one place: what it is, where, when it is open, what it offers.",
    input: byId,
    examples: [
      { phrase: "tell me more about {poiId}" },
      { phrase: "tell me about {poiId}" },
      { phrase: "details of {poiId}" },
      { phrase: "opening hours of {poiId}" },
      { phrase: "when does {poiId} open" },
      { phrase: "when does {poiId} close" },
      { phrase: "is {poiId} open" },
    ],
    effects: "none",
    reads: ["public"],
    execute: ({ poiId }) => ({ data: detailsOf(concierge, knownPlace(concierge, poiId)) }),
  });
}

/** Puts a place on the map, and tells about it. */
export function showPOI(concierge: Concierge): Tool {
  return defineTool({
    name: "showPOI",
    description:
      "Shows a place on the map with a pin. Call it after search when the person asks where something is or for the nearest one, with the first place found.",
    input: byId,
    examples: [
      { phrase: "where is {poiId}" },
      { phrase: "show {poiId} on the map" },
      { phrase: "show me {poiId}" },
    ],
    effects: "ui",
    reads: ["public"],
    execute({ poiId }) {
      const place = knownPlace(concierge, poiId);
      const { venue, here } = concierge;
      const pins = [pinOf(place), ...(here ? [pinOf(here, "here")] : [])];
      return {
        message: `${place.name} is on the map: ${locationOf(place)}.`,
        data: detailsOf(concierge, place),
        ui: mapHint(venue, { pins }),
      };
    },
  });
}

function detailsOf({ venue, here }: Concierge, place: Place): object {
  const { poiId, name, description, hours, category } = place;
  const metres = here && distancesFrom(venue, here)(place);
  return {
    poiId,
    name,
    location: locationOf(place),
    ...(metres !== undefined && { walk: inWords(metres), distance: metres }),
    category,
    ...(description !== "" && { description }),
    ...(hours !== undefined && { hours }),
    building: place.building,
  };
}
