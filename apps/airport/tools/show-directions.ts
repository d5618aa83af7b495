import { AgentError, defineTool, type Tool, type ToolReturn } from "capstan";
import { createMapHint, createPin, roundPosition } from "../map-hint.ts";
import { describeRoute } from "../venue/describe-route.ts";
import { describeAccuracy, formatWalk } from "../venue/distances.ts";
import { findRoute, type Leg, orderStops } from "../venue/find-route.ts";
import { findPlace, type Place } from "../venue/venue.ts";
import { getPlace, sortByDistance, type VenueContext } from "./venue-context.ts";

/** Finds the route through all stops, draws it, and describes its steps. */
export function showDirections(venueContext: VenueContext): Tool {
  const minWaypoints = venueContext.kiosk ? 1 : 2;
  return defineTool({
    name: "showDirections",
    description: `Shows the route between places on the map and describes it step by step, with metres and minutes. Search for the places first; both searches can run in parallel.${
      venueContext.kiosk ? " With a single place, the route starts at this kiosk." : ""
    }`,
    input: {
      type: "object",
      properties: {
        waypoints: {
          type: "array",
          items: { type: "number" },
          minItems: minWaypoints,
          maxItems: 12,
          description: "The stops in order, given by their poiIds from earlier searches",
        },
        accessible: {
          type: "boolean",
          description: "Only step-free routes, for a wheelchair or a pram: no stairs, no escalators",
        },
        shortestOrder: {
          type: "boolean",
          description: "Reorder the stops between the first and the last to shorten the route",
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
      {
        phrase: "shortest way from {from} to {to} via {stop} and {other}",
        input: { waypoints: ["{from}", "{stop}", "{other}", "{to}"], shortestOrder: true },
      },
      ...(venueContext.kiosk
        ? [
            { phrase: "how do I get to {to}", input: { waypoints: ["{to}"] } },
            { phrase: "take me to {to}", input: { waypoints: ["{to}"] } },
          ]
        : []),
    ],
    effects: "ui",
    reads: [venueContext.reads],
    execute: ({ waypoints, accessible = false, shortestOrder = false }) =>
      buildDirections(venueContext, { waypoints, accessible, shortestOrder }),
  });
}

type DirectionsRequest = {
  readonly waypoints: readonly number[];
  readonly accessible: boolean;
  readonly shortestOrder: boolean;
};

function buildDirections(
  venueContext: VenueContext,
  { waypoints, accessible, shortestOrder }: DirectionsRequest,
): ToolReturn {
  const { venue, kiosk } = venueContext;
  const places = waypoints.map((poiId) => getPlace(venueContext, poiId));
  const stops = kiosk && places.length === 1 ? [kiosk, ...places] : places;
  if (new Set(stops).size < 2)
    throw new AgentError(
      "bad_arguments",
      "Directions need two different places. Ask the user for the start or the destination.",
    );
  const ordered = shortestOrder ? orderStops(venue, stops, { accessible }) : stops;
  const route = findRoute(venue, ordered, { accessible });
  if (route.type === "unknown") return explainUnknownRoute(venueContext, { ...route, accessible });
  const { steps, metres, minutes } = describeRoute(venue, route.legs);
  const [first, last] = [ordered[0], ordered.at(-1)];
  const walk = formatWalk(metres, minutes);
  const note = describeAccuracy(venue);
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
    ui: createMapHint(venue, {
      pins: ordered.map((place) => createPin(place, place === kiosk ? "here" : "place")),
      route: { points: route.legs.flatMap((leg) => getPoints(venueContext, leg)), steps },
    }),
  };
}

function getPoints(
  { venue: { walking } }: VenueContext,
  { from, to, hops }: Leg,
): { level: string; at: Place["at"] }[] {
  const passedNodes = hops.flatMap(({ to: node }) => walking?.nodes[node] ?? []);
  const spots = [from, ...(passedNodes.length > 0 ? passedNodes : [to])];
  return spots.map(({ ordinal, at }) => ({ level: String(ordinal), at: roundPosition(at) }));
}

type UnknownRoute = { readonly from: Place; readonly to: Place; readonly accessible: boolean };

/** A route that is not recorded may still exist, so the answer points to an information desk. */
function explainUnknownRoute({ venue }: VenueContext, { from, to, accessible }: UnknownRoute): ToolReturn {
  const desks = venue.places.filter(({ category }) => category === "information");
  const [desk] = sortByDistance(venue, desks, from);
  const deskPlace = desk && findPlace(venue, desk.poiId);
  const routeName = accessible ? "step-free route" : "route";
  const help = desk
    ? `Please ask at ${desk.name} (${desk.location}), the nearest information desk.`
    : "Please ask the staff.";
  return {
    message: `No ${routeName} from ${from.name} to ${to.name} is recorded. There may still be one. ${help}`,
    data: {
      from: from.name,
      to: to.name,
      recorded: false,
      ...(desk && { informationDesk: desk }),
    },
    ui: createMapHint(venue, {
      pins: [from, to, ...(deskPlace ? [deskPlace] : [])].map((place) => createPin(place)),
    }),
  };
}
