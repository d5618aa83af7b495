import {
  type Agent,
  type Clock,
  defineAgent,
  type InstructionsInput,
  type Model,
  type ModelSettings,
  type PolicyOverrides,
  systemClock,
} from "capstan";
import { defaultModel } from "capstan/models";
import { type Bookmarks, fileBookmarks } from "./bookmarks.ts";
import { loadVenue } from "./load-venue.ts";
import { bookmark, clearBookmarks, getBookmarks } from "./tools/bookmark.ts";
import { getSecurityWaitTimes } from "./tools/get-security-wait-times.ts";
import { getPOIDetails, showPOI } from "./tools/places.ts";
import { search } from "./tools/search.ts";
import { searchNearby } from "./tools/search-nearby.ts";
import { showDirections } from "./tools/show-directions.ts";
import { getPlaceByName, type VenueContext } from "./tools/venue-context.ts";
import { getBuildingsAndLevels, getCategories } from "./tools/venue-facts.ts";
import { formatLocation, type Venue } from "./venue/venue.ts";

export const about = {
  title: "Airport assistant",
  picture: "map",
  description:
    "Finds places at Harbor International, a fictional airport, shows them on a map and gives directions, including step-free routes.",
  suggestions: [
    "Where's the nearest bathroom near Gate 15?",
    "Directions from the Terminal 2 checkpoint to D15",
    "Find sushi",
    "How long is the wait at security?",
  ],
} as const;

/** At most ten turns: a warning in the last two, no tools in the final one, then a question back to the user. */
export const policy: PolicyOverrides = {
  maxTurns: 10,
  wrapUpAt: 2,
  finalTurn: "no-tools",
  onLimit: ["clarify"],
  toolExecution: "parallel",
  retry: { maxAttempts: 1 },
  onAllToolsFailed: "continue",
  maxToolResultSize: "unlimited",
  textWithCalls: "drop",
  memory: "session",
  requireToolFirst: false,
};

/** Friendly rather than mechanical. Models that reason choose their own sampling and ignore it. */
export const settings: ModelSettings = { temperature: 0.7 };

export type AirportOptions = {
  /** Default: `airport`. */
  readonly name?: string;
  readonly model?: Model | string;
  /** Path of an IMDF folder or `.zip`, or a venue read from one. Defaults to the fictional Harbor International. */
  readonly venue?: string | Venue;
  /** Name of the place where the kiosk stands. Searches and routes start there unless the user says otherwise. */
  readonly kiosk?: string;
  /** Defaults to files in the data folder. */
  readonly bookmarks?: Bookmarks;
  /** Source of time for the simulated wait times. */
  readonly clock?: Pick<Clock, "now">;
};

export async function airport(options: AirportOptions = {}): Promise<Agent> {
  const { name = "airport", kiosk, bookmarks = fileBookmarks(), clock = systemClock } = options;
  const venue = typeof options.venue === "object" ? options.venue : await loadVenue(options.venue);
  const venueContext: VenueContext = {
    venue,
    // Others wrote the files of a venue, so what they say is data and never an order.
    reads: options.venue === undefined ? "public" : "untrusted",
    ...(kiosk !== undefined && { kiosk: getPlaceByName(venue, kiosk) }),
  };
  return defineAgent({
    name,
    model: options.model ?? (await defaultModel()),
    instructions: (input) => buildInstructions(venueContext, input),
    tools: [
      search(venueContext),
      searchNearby(venueContext),
      getPOIDetails(venueContext),
      showPOI(venueContext),
      showDirections(venueContext),
      getBuildingsAndLevels(venueContext),
      getCategories(venueContext),
      // Simulated times fit a fictional airport only.
      ...(options.venue === undefined ? [getSecurityWaitTimes(venueContext, clock)] : []),
      bookmark(venueContext, bookmarks),
      getBookmarks(venueContext, bookmarks),
      clearBookmarks(bookmarks),
    ],
    policy,
    settings,
  });
}

function buildInstructions(
  { venue, kiosk }: VenueContext,
  { tools }: Pick<InstructionsInput, "tools">,
): string {
  return [
    `You are the assistant of ${venue.name}. You help ${venue.kind === "airport" ? "travelers" : "visitors"} find places, get there, and learn about the ${venue.kind}.`,
    ...(kiosk
      ? [
          `You are a kiosk at ${kiosk.name} (${formatLocation(kiosk)}): "here" means this place, and searches start from it.`,
        ]
      : []),
    [
      "- Be friendly and concise.",
      "- Act before you ask: search first. Ask only when a result matches several places; then ask which one is meant.",
      "- When you name a place, say where it is and how far away it is, in metres.",
      "- When the user asks where something is or for the nearest one, show the first result with showPOI.",
      "- Say when data is simulated or not recorded. Never claim that something does not exist because it is not recorded.",
      "- Never show ids to the user: they are for the tools only.",
    ].join("\n"),
    `You have these tools: ${tools.map(({ name }) => name).join(", ")}.`,
  ].join("\n\n");
}
