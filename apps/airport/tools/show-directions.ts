import { AgentError, defineTool, type Tool, type ToolReturn } from "capstan";
import { mapHint, pinOf, rounded } from "../map-hint.ts";
import { distanceNote, inWords } from "../venue/distances.ts";
import { findRoute, type Leg, orderStops } from "../venue/find-route.ts";
import { tellRoute } from "../venue/tell-route.ts";
import { type Place, placeOf } from "../venue/venue.ts";
import { byDistance, type Concierge, knownPlace } from "./concierge.ts";

/** Finds the way by all stops, draws it, and tells its steps. */
export function showDirections(concierge: Concierge): Tool {
  const least = concierge.here ? 1 : 2;
  return defineTool({
    name: "showDirections",
    description: `Shows the way between places on the map and tells it step by step, with metres and minutes. Search the places first: both searches can be made at once.${
      concierge.here ? " With one place only, the way begins where this kiosk stands." : ""
    }`,
    input: {
      type: "object",
      properties: {
        waypoints: {
          type: "array",
          items: { type: "number" },
          minItems: least,
          maxItems: 12,
          description: "The places to go by, in order, by their poiIds from earlier searches",
        },
        accessible: { type: "boolean", description: "Only step-free ways: without stairs and escalators" },
        shortestOrder: {
          type: "boolean",
          description: "Order the stops between the first and the last so that the way is short",
        },
      },
      required: ["waypoints"],
      additionalProperties: false,
    },
    examples: [
      {
        phrase: "how do I get from {from} to {to} without stairs",
        input: { waypoints: ["{from}", "{to}"], accessible: true },
      },
      {
        phrase: "way from {from} to {to} without stairs",
        input: { waypoints: ["{from}", "{to}"], accessible: true },
      },
      {
        phrase: "step-free route from {from} to {to}",
        input: { waypoints: ["{from}", "{to}"], accessible: true },
      },
      { phrase: "directions from {from} to {to}", input: { waypoints: ["{from}", "{to}"] } },
      { phrase: "how do I get from {from} to {to}", input: { waypoints: ["{from}", "{to}"] } },
      { phrase: "take me from {from} to {to}", input: { waypoints: ["{from}", "{to}"] } },
      { phrase: "how far is it from {from} to {to}", input: { waypoints: ["{from}", "{to}"] } },
      { phrase: "how far is {to} from {from}", input: { waypoints: ["{from}", "{to}"] } },
      { phrase: "i want to go from {from} to {to}", input: { waypoints: ["{from}", "{to}"] } },
      {
        phrase: "how long does it take to walk from {from} to {to}",
        input: { waypoints: ["{from}", "{to}"] },
      },
      { phrase: "the way from {from} to {to}", input: { waypoints: ["{from}", "{to}"] } },
      { phrase: "how do I get to {to} from {from}", input: { waypoints: ["{from}", "{to}"] } },
      { phrase: "way from {from} to {to} via {stop}", input: { waypoints: ["{from}", "{stop}", "{to}"] } },
      ...(concierge.here
        ? [
            { phrase: "how do I get to {to}", input: { waypoints: ["{to}"] } },
            { phrase: "take me to {to}", input: { waypoints: ["{to}"] } },
          ]
        : []),
    ],
    effects: "ui",
    reads: ["public"],
    execute: ({ waypoints, accessible = false, shortestOrder = false }) =>
      directions(concierge, { waypoints, accessible, shortestOrder }),
  });
}

type Asked = {
  readonly waypoints: readonly number[];
  readonly accessible: boolean;
  readonly shortestOrder: boolean;
};

function directions(concierge: Concierge, { waypoints, accessible, shortestOrder }: Asked): ToolReturn {
  const { venue, here } = concierge;
  const named = waypoints.map((poiId) => knownPlace(concierge, poiId));
  const stops = here && named.length === 1 ? [here, ...named] : named;
  if (new Set(stops).size < 2)
    throw new AgentError(
      "bad_arguments",
      "A way needs two different places. Ask where the person is, or where to.",
    );
  const ordered = shortestOrder ? orderStops(venue, stops, { accessible }) : stops;
  const route = findRoute(venue, ordered, { accessible });
  if (route.type === "unknown") return unknownWay(concierge, { ...route, accessible });
  const { steps, metres, minutes } = tellRoute(venue, route.legs);
  const [first, last] = [ordered[0], ordered.at(-1)];
  const walk = inWords(metres, minutes);
  const note = distanceNote(venue);
  return {
    message: `${walk} from ${first?.name} to ${last?.name}.`,
    data: {
      from: first?.name,
      to: last?.name,
      ...(ordered.length > 2 && { via: ordered.slice(1, -1).map(({ name }) => name) }),
      walk,
      steps: steps.map((step, index) => `${index + 1}. ${step}`),
      ...(accessible && { stepFree: true }),
      ...(note !== "" && { note }),
      distance: metres,
      minutes,
    },
    ui: mapHint(venue, {
      pins: ordered.map((place) => pinOf(place, place === here ? "here" : "place")),
      route: { points: route.legs.flatMap((leg) => pointsOf(concierge, leg)), steps },
    }),
  };
}

function pointsOf(
  { venue: { walking } }: Concierge,
  { from, to, hops }: Leg,
): { level: string; at: Place["at"] }[] {
  const between = hops.flatMap(({ to: node }) => walking?.nodes[node] ?? []);
  const spots = [from, ...(between.length > 0 ? between : [to])];
  return spots.map(({ ordinal, at }) => ({ level: String(ordinal), at: rounded(at) }));
}

type Unknown = { readonly from: Place; readonly to: Place; readonly accessible: boolean };

/** What is not recorded may exist all the same: a person at a desk knows. */
function unknownWay({ venue }: Concierge, { from, to, accessible }: Unknown): ToolReturn {
  const desks = venue.places.filter(({ category }) => category === "information");
  const [desk] = byDistance(venue, desks, from);
  const deskPlace = desk && placeOf(venue, desk.poiId);
  const what = accessible ? "step-free way" : "way";
  const help = desk
    ? `Please ask at ${desk.name} (${desk.location}), the nearest information desk.`
    : "Please ask the staff.";
  return {
    message: `No ${what} from ${from.name} to ${to.name} is recorded. One may exist all the same. ${help}`,
    data: {
      from: from.name,
      to: to.name,
      recorded: false,
      ...(desk && { informationDesk: desk }),
    },
    ui: mapHint(venue, { pins: [from, to, ...(deskPlace ? [deskPlace] : [])].map((place) => pinOf(place)) }),
  };
}
