import {
  type Agent,
  type Clock,
  defineAgent,
  type InstructionsInput,
  type Model,
  type PolicyOverrides,
  systemClock,
} from "capstan";
import { defaultModel } from "capstan/models";
import { type Bookmarks, fileBookmarks } from "./bookmarks.ts";
import { harbor, loadVenue } from "./load-venue.ts";
import { bookmark, clearBookmarks, getBookmarks } from "./tools/bookmark.ts";
import { type Concierge, placeNamed } from "./tools/concierge.ts";
import { getSecurityWaitTimes } from "./tools/get-security-wait-times.ts";
import { getPOIDetails, showPOI } from "./tools/places.ts";
import { search } from "./tools/search.ts";
import { searchNearby } from "./tools/search-nearby.ts";
import { showDirections } from "./tools/show-directions.ts";
import { getBuildingsAndLevels, getCategories } from "./tools/venue-facts.ts";
import { locationOf } from "./venue/venue.ts";

export const about = {
  title: "Airport assistant",
  description:
    "Finds places at Harbor International, a fictional airport, shows them on a map and leads the way, also without stairs.",
  suggestions: [
    "Where's the nearest bathroom near Gate 15?",
    "Directions from the Terminal 2 checkpoint to D15",
    "Find sushi",
    "How long is the wait at security?",
  ],
} as const;

/** At most ten turns, a note in the last ones, no tools in the very last; then it asks for more to go on. */
export const policy: PolicyOverrides = {
  maxTurns: 10,
  wrapUpAt: 2,
  finalTurn: "no-tools",
  onLimit: ["clarify"],
  toolExecution: "parallel",
  retry: { maxAttempts: 1 },
  onAllToolsFailed: "continue",
  memory: "session",
  requireToolFirst: false,
};

export type AirportOptions = {
  readonly model?: Model | string;
  /** A folder with an IMDF venue. By default Harbor International, which is fictional. */
  readonly venue?: string;
  /** The name of the place where the agent stands: then everything is near it unless said otherwise. */
  readonly kiosk?: string;
  /** Where bookmarks are kept. By default files in the data folder. */
  readonly bookmarks?: Bookmarks;
  /** What the simulated waiting times are made from. */
  readonly clock?: Pick<Clock, "now">;
};

export async function airport(options: AirportOptions = {}): Promise<Agent> {
  const { venue: folder = harbor, kiosk, bookmarks = fileBookmarks(), clock = systemClock } = options;
  const venue = await loadVenue(folder);
  const concierge: Concierge = { venue, ...(kiosk !== undefined && { here: placeNamed(venue, kiosk) }) };
  return defineAgent({
    name: "airport",
    model: options.model ?? (await defaultModel()),
    instructions: (input) => instructionsFor(concierge, input),
    tools: [
      search(concierge),
      searchNearby(concierge),
      getPOIDetails(concierge),
      showPOI(concierge),
      showDirections(concierge),
      getBuildingsAndLevels(concierge),
      getCategories(concierge),
      getSecurityWaitTimes(concierge, clock),
      bookmark(concierge, bookmarks),
      getBookmarks(concierge, bookmarks),
      clearBookmarks(bookmarks),
    ],
    policy,
  });
}

function instructionsFor({ venue, here }: Concierge, { tools }: Pick<InstructionsInput, "tools">): string {
  return [
    `You are the assistant of ${venue.name}. You help travellers to find places, to get there, and to know the airport.`,
    ...(here
      ? [
          `You are a kiosk at ${here.name} (${locationOf(here)}): "here" is this place, and searches are near it.`,
        ]
      : []),
    [
      "- Be friendly and concise.",
      "- Act before you ask: search first. Ask only when a result says that several places are meant; then ask which one.",
      "- When you name a place, tell how far it is, in metres, and where it is.",
      "- When someone asks where something is or for the nearest one, show the first place found with showPOI.",
      "- Pass on what is simulated or not recorded as just that. Never say that something does not exist because it is not recorded.",
      "- Never show ids to a person: they are for the tools.",
    ].join("\n"),
    `You have these tools: ${tools.map(({ name }) => name).join(", ")}.`,
  ].join("\n\n");
}
