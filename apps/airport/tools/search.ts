import { AgentError, defineTool, type Tool, type ToolReturn } from "capstan";
import { mapHint, pinOf } from "../map-hint.ts";
import { distanceNote } from "../venue/distances.ts";
import { type Found, rankOf, searchPlaces, type Wanted } from "../venue/search-places.ts";
import { locationOf, type Place, type Venue } from "../venue/venue.ts";
import { byDistance, type Concierge, knownPlace, type Listed, listed } from "./concierge.ts";
import { nothingFound } from "./nothing-found.ts";

const most = 10;
/** More buttons than these the studio does not show. */
const mostReplies = 6;

/** Finds places by words and filters. */
export function search(concierge: Concierge): Tool {
  const { venue } = concierge;
  const categories = [...new Set(venue.places.map(({ category }) => category))];
  const buildings = venue.buildings.flatMap(({ name, areas }) => [name, ...areas]);
  return defineTool({
    name: "search",
    description:
      "Searches places of the airport by name, kind, food or goods, best first, at most 10. With near, the nearest come first, with the distance in metres. To look up a gate or another place, search for its name.",
    input: {
      type: "object",
      properties: {
        term: {
          type: "string",
          description: "What is looked for: a name (Gate D15), a kind of place, food or goods",
        },
        near: {
          type: "object",
          description: "The place to be near, by its poiId from an earlier search",
          properties: { poiId: { type: "number" } },
          required: ["poiId"],
          additionalProperties: false,
        },
        categoryId: { type: "string", enum: categories, description: "Only places of this kind" },
        buildingId: {
          type: "string",
          enum: buildings,
          description: "Only places in this terminal or concourse",
        },
        level: {
          type: "string",
          enum: venue.levels.map(({ name }) => name),
          description: "Only places on this level",
        },
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
    ],
    effects: "none",
    reads: ["public"],
    execute: (input) => found(concierge, input as Wanted & { near?: { poiId: number } }),
  });
}

function found(concierge: Concierge, { near, ...wanted }: Wanted & { near?: { poiId: number } }): ToolReturn {
  if (Object.keys(wanted).length === 0)
    throw new AgentError("bad_arguments", "Say what to look for: a term or a filter.");
  const { venue } = concierge;
  const from = near ? knownPlace(concierge, near.poiId) : concierge.here;
  const result = searchPlaces(venue, wanted);
  const places = from
    ? nearestFirst(concierge, result.places, { from, term: result.meant.term })
    : result.places.map((place) => listed(place));
  if (places.length === 0) return nothingFound(venue, result.meant);
  if (isAmbiguous(result)) return whichOne(venue, result.places, places);
  const notes = [result.how === "partly" && "No place has all of these words.", from && distanceNote(venue)];
  const note = notes.filter((one) => one).join(" ");
  const where = from ? ` near ${from.name}` : "";
  return {
    message:
      places.length === 1
        ? `${said(places[0])}.`
        : `${places.length} places found${where}. The first is ${said(places[0])}.`,
    data: {
      places: places.slice(0, most),
      ...(places.length > most && { total: places.length }),
      ...(note !== "" && { note }),
    },
  };
}

const said = (place: Listed | undefined): string =>
  place ? `${place.name}, ${place.walk ? `${place.walk} away, ` : ""}${place.location}` : "";

type From = { readonly from: Place; readonly term: string | undefined };

/** What fits better comes first; among equals, the nearer one. */
function nearestFirst({ venue }: Concierge, places: readonly Place[], { from, term }: From): Listed[] {
  const groups = Map.groupBy(places, (place) => rankOf(place, term));
  return [...groups]
    .sort(([left], [right]) => right - left)
    .flatMap(([, group]) => byDistance(venue, group, from));
}

/** One name that means places of different names. */
const isAmbiguous = ({ how, places }: Found): boolean =>
  how === "named" && new Set(places.map(({ name }) => name)).size > 1;

/** The person has to say which one is meant. */
function whichOne(venue: Venue, meant: readonly Place[], items: readonly Listed[]): ToolReturn {
  const short = [...new Set(meant.map(({ aliases, name }) => aliases[1] ?? name))];
  const question = `Which one do you mean: ${short.join(" or ")}?`;
  const described = meant.map((place) => `${place.name} (${locationOf(place)})`).join(" and ");
  return {
    message: `That can be ${described}. ${question}`,
    data: { places: items.slice(0, most), question },
    ui: mapHint(venue, { pins: meant.map((place) => pinOf(place)), replies: short.slice(0, mostReplies) }),
  };
}
