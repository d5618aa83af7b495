import { AgentError, defineTool, type Tool, type ToolReturn } from "capstan";
import { createMapHint, createPin } from "../map-hint.ts";
import { describeAccuracy } from "../venue/distances.ts";
import { computeRank, type PlaceQuery, type SearchResult, searchPlaces } from "../venue/search-places.ts";
import { formatLocation, listLevelNames, type Place, type Venue } from "../venue/venue.ts";
import { explainNoResults } from "./explain-no-results.ts";
import {
  getPlace,
  type PlaceSummary,
  sortByDistance,
  summarizePlace,
  type VenueContext,
} from "./venue-context.ts";

const maxResults = 10;
/** The studio shows at most six reply buttons. */
const maxReplies = 6;

/** Finds places by text and filters. */
export function search(venueContext: VenueContext): Tool {
  const { venue } = venueContext;
  const categories = [...new Set(venue.places.map(({ category }) => category))];
  const buildings = venue.buildings.flatMap(({ name, areas }) => [name, ...areas]);
  return defineTool({
    name: "search",
    description: `Searches places at the ${venue.kind} by name, category, food or goods; returns at most 10, best match first. With near, sorts by distance and adds it in metres. To look up a gate or another place, search for its name.`,
    input: {
      type: "object",
      properties: {
        term: {
          type: "string",
          description: "What to search for: a name (Gate D15), a kind of place, food or goods",
        },
        near: {
          type: "object",
          description: "Sort by distance from this place, given by its poiId from an earlier search",
          properties: { poiId: { type: "number" } },
          required: ["poiId"],
          additionalProperties: false,
        },
        categoryId: { type: "string", enum: categories, description: "Only places of this kind" },
        buildingId: {
          type: "string",
          ...(buildings.length > 0 && { enum: buildings }),
          description: `Only places in this ${venue.kind === "airport" ? "terminal or concourse" : "building or area"}`,
        },
        level: { type: "string", enum: listLevelNames(venue), description: "Only places on this level" },
        security: {
          type: "string",
          enum: ["before", "after"],
          description: "Only places on this side of security",
        },
      },
      additionalProperties: false,
    },
    examples: [
      { phrase: "find {term}" },
      { phrase: "where can I get {term}" },
      { phrase: "somewhere to get {term}" },
      { phrase: "somewhere to get {term} near {near}" },
      { phrase: "any {term}" },
      { phrase: "is there a {term}" },
      { phrase: "is there {term} near {near}" },
      { phrase: "is there {term} in {buildingId}" },
      { phrase: "are there {term} in {buildingId}" },
      { phrase: "what {term} are there" },
      { phrase: "what {term} are there in {buildingId}" },
      { phrase: "where can I find {term}" },
      { phrase: "where can I {term}" },
      { phrase: "where can I {term} near {near}" },
      { phrase: "where can I {term} in {buildingId}" },
      { phrase: "where can I {term} {security} security" },
      { phrase: "where can I {term} {security} security in {buildingId}" },
      { phrase: "I would like {term}" },
      { phrase: "I need {term}" },
      { phrase: "nearest {term} near {near}" },
      { phrase: "nearest {term} to {near}" },
      { phrase: "{term} near {near}" },
      { phrase: "which {term} is closest to {near}" },
      { phrase: "I'm at {near}, where is the closest {term}" },
      { phrase: "I'm at {near}, where is the nearest {term}" },
      { phrase: "I'm at {near} and need {term}" },
      { phrase: "I'm at {near} and want {term}" },
      { phrase: "I'm at {near} and I need {term}" },
      { phrase: "I am at {near} and need {term}" },
      { phrase: "find {term} in {buildingId}" },
      { phrase: "{term} on {level}" },
      { phrase: "{term} on {level} in {buildingId}" },
      { phrase: "{term} {security} security" },
      { phrase: "{term} in {buildingId}" },
      { phrase: "{term} in {buildingId} {security} security" },
      { phrase: "somewhere for {term}" },
      { phrase: "somewhere to {term}" },
      { phrase: "somewhere for {term} in {buildingId}" },
      { phrase: "somewhere for {term} in {buildingId} {security} security" },
      { phrase: "which {kind} are {term}", input: { term: "{term} {kind}" } },
      { phrase: "which {kind} have {term}", input: { term: "{term} {kind}" } },
      { phrase: "I'm {term}" },
      { phrase: "I feel {term}" },
      { phrase: "I have a {term}" },
      { phrase: "my {term} is about to {state}" },
      { phrase: "my {term} is nearly {state}" },
    ],
    effects: "none",
    reads: [venueContext.reads],
    execute: (input) => runSearch(venueContext, input),
  });
}

function runSearch(
  venueContext: VenueContext,
  { near, ...query }: PlaceQuery & { near?: { poiId: number } },
): ToolReturn {
  if (Object.keys(query).length === 0) throw new AgentError("bad_arguments", "Provide a term or a filter.");
  const { venue } = venueContext;
  const from = near ? getPlace(venueContext, near.poiId) : venueContext.kiosk;
  const result = searchPlaces(venue, query);
  const places = from
    ? rankByDistance(venueContext, result.places, { from, term: result.query.term })
    : result.places.map((place) => summarizePlace(place));
  if (places.length === 0) return explainNoResults(venue, result.query);
  if (isAmbiguous(result)) return askWhichPlace(venue, result.places, places);
  const notes = [
    result.match === "partial" && "No place matches all of the words.",
    from && describeAccuracy(venue),
  ];
  const note = notes.filter(Boolean).join(" ");
  const where = from ? ` near ${from.name}` : "";
  return {
    message:
      places.length === 1
        ? `${formatSummary(places[0])}.`
        : `${places.length} places found${where}. The first is ${formatSummary(places[0])}.`,
    data: {
      places: places.slice(0, maxResults),
      ...(places.length > maxResults && { total: places.length }),
      ...(note !== "" && { note }),
    },
  };
}

const formatSummary = (place: PlaceSummary | undefined): string =>
  place ? `${place.name}, ${place.walk ? `${place.walk} away, ` : ""}${place.location}` : "";

type Origin = { readonly from: Place; readonly term: string | undefined };

/** Better matches come first; equal matches are sorted by distance. */
function rankByDistance(
  { venue }: VenueContext,
  places: readonly Place[],
  { from, term }: Origin,
): PlaceSummary[] {
  const groups = Map.groupBy(places, (place) => computeRank(place, term));
  return [...groups]
    .sort(([left], [right]) => right - left)
    .flatMap(([, group]) => sortByDistance(venue, group, from));
}

/** The searched name matches places with different names. */
const isAmbiguous = ({ match, places }: SearchResult): boolean =>
  match === "exact" && new Set(places.map(({ name }) => name)).size > 1;

/** Asks the user to choose, with a reply button for each place. */
function askWhichPlace(
  venue: Venue,
  places: readonly Place[],
  summaries: readonly PlaceSummary[],
): ToolReturn {
  const shortNames = [...new Set(places.map(({ aliases, name }) => aliases[1] ?? name))];
  const question = `Which one do you mean: ${shortNames.join(" or ")}?`;
  const descriptions = places.map((place) => `${place.name} (${formatLocation(place)})`).join(" and ");
  return {
    message: `This could be ${descriptions}. ${question}`,
    data: { places: summaries.slice(0, maxResults), question },
    ui: createMapHint(venue, {
      pins: places.map((place) => createPin(place)),
      replies: shortNames.slice(0, maxReplies),
    }),
  };
}
