import { defineTool, type Tool } from "capstan";
import { describeAccuracy } from "../venue/distances.ts";
import { getPlace, sortByDistance, type VenueContext } from "./venue-context.ts";

const maxResults = 10;

/** Lists places of any category around a place. */
export function searchNearby(venueContext: VenueContext): Tool {
  return defineTool({
    name: "searchNearby",
    description:
      "Lists places around a place, nearest first, with the distance in metres. Gates are omitted.",
    input: {
      type: "object",
      properties: {
        poiId: { type: "number", description: "The place, by its poiId from an earlier search" },
        withinMetres: { type: "number", description: "Search radius in metres; defaults to 150", minimum: 1 },
      },
      required: ["poiId"],
      additionalProperties: false,
    },
    examples: [
      { phrase: "what is near {poiId}" },
      { phrase: "what is around {poiId}" },
      { phrase: "what can I find close to {poiId}" },
      { phrase: "what is within {withinMetres} metres of {poiId}" },
      { phrase: "what is within {withinMetres} m of {poiId}" },
    ],
    effects: "none",
    reads: [venueContext.reads],
    execute({ poiId, withinMetres = 150 }) {
      const { venue } = venueContext;
      const from = getPlace(venueContext, poiId);
      const others = venue.places.filter(({ category }) => category !== "gate");
      const nearby = sortByDistance(venue, others, from).filter(
        ({ distance = Number.POSITIVE_INFINITY }) => distance <= withinMetres,
      );
      const note = describeAccuracy(venue);
      return {
        message: `${nearby.length} ${nearby.length === 1 ? "place" : "places"} within ${withinMetres} metres of ${from.name}.`,
        data: { nearby: from.name, places: nearby.slice(0, maxResults), ...(note !== "" && { note }) },
      };
    },
  });
}
