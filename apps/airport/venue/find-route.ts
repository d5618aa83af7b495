import { findShortestPaths, getPathTo, type Hop, hasSteps } from "./shortest-paths.ts";
import { measureDistance, type Place, type Venue } from "./venue.ts";

/** From one stop to the next. Has no hops if only the straight line is known. */
export type Leg = {
  readonly from: Place;
  readonly to: Place;
  readonly metres: number;
  readonly hops: readonly Hop[];
};
export type Route =
  | { readonly type: "found"; readonly legs: readonly Leg[] }
  | { readonly type: "unknown"; readonly from: Place; readonly to: Place };
export type RouteOptions = { readonly accessible: boolean };

/** Finds the shortest route through all stops, in the given order. */
export function findRoute(venue: Venue, stops: readonly Place[], options: RouteOptions): Route {
  const legs: Leg[] = [];
  for (const [index, to] of stops.entries()) {
    const from = stops[index - 1];
    if (!from) continue;
    const leg = findLeg(venue, [from, to], options);
    if (!leg) return { type: "unknown", from, to };
    legs.push(leg);
  }
  return { type: "found", legs };
}

function findLeg(
  { walking }: Venue,
  [from, to]: readonly [Place, Place],
  { accessible }: RouteOptions,
): Leg | undefined {
  if (!walking)
    // A straight line cannot be known to be step-free.
    return accessible
      ? undefined
      : { from, to, metres: Math.round(measureDistance(from.at, to.at)), hops: [] };
  const [start, end] = [walking.nodesByFeature.get(from.featureId), walking.nodesByFeature.get(to.featureId)];
  if (start === undefined || end === undefined) return undefined;
  const reach = findShortestPaths(walking, start, accessible ? hasSteps : undefined);
  const hops = getPathTo(reach, end);
  return hops && { from, to, metres: reach.metres.get(end) ?? 0, hops };
}

const maxPermutedStops = 7;

/** Reorders the stops to shorten the route. The first and the last stay in place. */
export function orderStops(venue: Venue, stops: readonly Place[], options: RouteOptions): readonly Place[] {
  const [first, ...rest] = stops;
  const last = rest.pop();
  if (!first || !last || rest.length < 2) return stops;
  const metres = new Map<string, number>();
  const measureLeg = (from: Place, to: Place): number => {
    const key = `${from.poiId} ${to.poiId}`;
    const distance =
      metres.get(key) ?? findLeg(venue, [from, to], options)?.metres ?? Number.POSITIVE_INFINITY;
    metres.set(key, distance);
    return distance;
  };
  const measureRoute = (order: readonly Place[]): number =>
    [...order, last].reduce((sum, to, index) => sum + measureLeg(order[index - 1] ?? first, to), 0);
  if (rest.length > maxPermutedStops) return [first, ...orderByNearest(first, rest, measureLeg), last];
  const best = listPermutations(rest).reduce(
    (shortest, order) => (measureRoute(order) < measureRoute(shortest) ? order : shortest),
    rest,
  );
  return [first, ...best, last];
}

function listPermutations(stops: readonly Place[]): readonly (readonly Place[])[] {
  if (stops.length < 2) return [stops];
  return stops.flatMap((stop) =>
    listPermutations(stops.filter((other) => other !== stop)).map((rest) => [stop, ...rest]),
  );
}

/** Greedy nearest neighbor, for too many stops to try every order. */
function orderByNearest(
  first: Place,
  stops: readonly Place[],
  measureLeg: (from: Place, to: Place) => number,
): Place[] {
  const remaining = [...stops];
  const order: Place[] = [];
  for (let at = first; remaining.length > 0; at = order.at(-1) ?? first) {
    remaining.sort((left, right) => measureLeg(at, left) - measureLeg(at, right));
    order.push(...remaining.splice(0, 1));
  }
  return order;
}
