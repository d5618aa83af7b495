import { join } from "node:path";
import type { DataLoader } from "@capstan/server";
import type { Model } from "capstan";
import { parseInWorker } from "../import/parse-in-worker.ts";
import { airport } from "./agent.ts";
import { fileBookmarks } from "./bookmarks.ts";
import { readVenueFiles } from "./read-venue-files.ts";
import type { BuiltVenue } from "./venue/build-venue.ts";
import { listTopics } from "./venue/list-topics.ts";
import type { Venue } from "./venue/venue.ts";

const limits = { timeoutMs: 60_000, memoryMb: 1024 };

export type VenueLoaderOptions = { readonly model?: Model | string };

/** Opens the assistant on the user's own venue: an IMDF archive or folder. */
export function venueLoader(options: VenueLoaderOptions = {}): DataLoader {
  return {
    description: "venues in Apple's Indoor Mapping Data Format (IMDF): a .zip archive or a folder",
    extensions: [".zip", ".geojson"],
    acceptsFolders: true,
    async load({ name, title, locations, folder, signal, onProgress }) {
      onProgress({ done: 0, item: title });
      const { files, skipped: missing } = await readVenueFiles(locations, signal);
      const parser = new URL("./venue/parse-venue.ts", import.meta.url);
      const built = await parseInWorker<BuiltVenue>(parser, files, { limits, signal });
      const venue = files.has("venue.geojson") ? built.venue : { ...built.venue, name: title };
      onProgress({ done: venue.places.length, total: venue.places.length });
      const bookmarks = fileBookmarks(join(folder, "bookmarks"));
      const skipped = [...missing, ...built.skipped, ...explainRoutes(venue)];
      return {
        agents: [await airport({ ...options, name, venue, bookmarks })],
        profile: {
          title,
          description: `Finds places at ${venue.name}, shows them on a map and gives directions.`,
          suggestions: suggestQuestions(venue),
          topics: listTopics(venue),
        },
        report: () => ({ counts: countFeatures(venue), skipped }),
      };
    },
  };
}

const explainRoutes = ({ walking }: Venue) =>
  walking
    ? []
    : [{ item: "opening.geojson", reason: "No doors are recorded, so distances are straight lines." }];

function countFeatures({ places, levels, buildings, walking }: Venue): Record<string, number> {
  return {
    places: places.length,
    levels: levels.length,
    buildings: buildings.length,
    ...(walking && { connections: walking.connections.length }),
  };
}

/** Questions that this venue can answer. */
function suggestQuestions({ places, kind }: Venue): readonly string[] {
  const named = places.filter(({ aliases }) => aliases.length > 0);
  const start = named.find(({ category }) => category === "gate") ?? named[0];
  const end = named.findLast(({ category, name }) => category !== "gate" && name !== start?.name);
  const hasRestroom = places.some(({ category }) => category === "restroom");
  return [
    ...(start && hasRestroom ? [`Where is the nearest restroom near ${start.name}?`] : []),
    ...(start && end ? [`Directions from ${start.name} to ${end.name}`] : []),
    "What kinds of places are there?",
    `Which levels does the ${kind} have?`,
  ];
}
