import { defineTool, type Tool } from "capstan";
import { distanceNote } from "../venue/distances.ts";
import { byDistance, type Concierge, knownPlace } from "./concierge.ts";

const most = 10;

/** What is around a place, whatever it is. */
export function searchNearby(concierge: Concierge): Tool {
  return defineTool({
    name: "searchNearby",
    description:
      "Lists what is around a place, nearest first, with the distance in metres. Gates are left out.",
    input: {
      type: "object",
      properties: {
        poiId: { type: "number", description: "The place, by its poiId from an earlier search" },
        withinMetres: { type: "number", description: "How far to look; 150 when left out", minimum: 1 },
      },
      required: ["poiId"],
      additionalProperties: false,
    },
    examples: [
      { phrase: "what is near {poiId}" },
      { phrase: "what is around {poiId}" },
      { phrase: "what can I find close to {poiId}" },
    ],
    effects: "none",
    reads: ["public"],
    execute({ poiId, withinMetres = 150 }) {
      const { venue } = concierge;
      const from = knownPlace(concierge, poiId);
      const others = venue.places.filter(({ category }) => category !== "gate");
      const near = byDistance(venue, others, from).filter(
        ({ distance = Number.POSITIVE_INFINITY }) => distance <= withinMetres,
      );
      const note = distanceNote(venue);
      return {
        message: `${near.length} ${near.length === 1 ? "place" : "places"} within ${withinMetres} metres of ${from.name}.`,
        data: { near: from.name, places: near.slice(0, most), ...(note !== "" && { note }) },
      };
    },
  });
}
