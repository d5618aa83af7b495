import { defineTool, type Tool } from "capstan";
import { createMapHint, createPin } from "../map-hint.ts";
import { createDistanceMeter, formatWalk } from "../venue/distances.ts";
import { formatLocation, type Place } from "../venue/venue.ts";
import { getPlace, type VenueContext } from "./venue-context.ts";

const poiInput = {
  type: "object",
  properties: { poiId: { type: "number", description: "The place, by its poiId from an earlier search" } },
  required: ["poiId"],
  additionalProperties: false,
} as const;

/** A plain lookup without side effects. */
export function getPOIDetails(venueContext: VenueContext): Tool {
  return defineTool({
    name: "getPOIDetails",
    description: "Returns everything known about one place: category, location, opening hours, description.",
    input: poiInput,
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
    reads: [venueContext.reads],
    execute: ({ poiId }) => ({ data: describePlace(venueContext, getPlace(venueContext, poiId)) }),
  });
}

/** Shows a place on the map and returns its details. */
export function showPOI(venueContext: VenueContext): Tool {
  return defineTool({
    name: "showPOI",
    description:
      "Shows a place on the map with a pin. Call it with the first search result when the user asks where something is or for the nearest one.",
    input: poiInput,
    examples: [
      { phrase: "where is {poiId}" },
      { phrase: "show {poiId} on the map" },
      { phrase: "show me {poiId}" },
    ],
    effects: "ui",
    reads: [venueContext.reads],
    execute({ poiId }) {
      const place = getPlace(venueContext, poiId);
      const { venue, kiosk } = venueContext;
      const pins = [createPin(place), ...(kiosk ? [createPin(kiosk, "here")] : [])];
      return {
        message: `${place.name} is on the map: ${formatLocation(place)}.`,
        data: describePlace(venueContext, place),
        ui: createMapHint(venue, { pins }),
      };
    },
  });
}

function describePlace({ venue, kiosk }: VenueContext, place: Place): object {
  const { poiId, name, description, hours, category } = place;
  const metres = kiosk && createDistanceMeter(venue, kiosk)(place);
  return {
    poiId,
    name,
    location: formatLocation(place),
    ...(metres !== undefined && { walk: formatWalk(metres), distance: metres }),
    category,
    ...(description !== "" && { description }),
    ...(hours !== undefined && { hours }),
    building: place.building,
  };
}
