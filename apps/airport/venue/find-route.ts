import { avoidSteps, type Hop, hopsTo, reachFrom } from "./shortest-way.ts";
import { metresBetween, type Place, type Venue } from "./venue.ts";

/** From one stop to the next. Without a walking graph it has no hops: only a straight line is known. */
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

/** The shortest way by all stops, in their order. */
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
    // A straight line tells nothing about steps.
    return accessible ? undefined : { from, to, metres: Math.round(metresBetween(from.at, to.at)), hops: [] };
  const [start, end] = [walking.nodeOf.get(from.featureId), walking.nodeOf.get(to.featureId)];
  if (start === undefined || end === undefined) return undefined;
  const reach = reachFrom(walking, start, accessible ? avoidSteps : undefined);
  const hops = hopsTo(reach, end);
  return hops && { from, to, metres: reach.metres.get(end) ?? 0, hops };
}

const mostTried = 7;

/** The stops in the order that makes the way short. The first stays first, the last stays last. */
export function orderStops(venue: Venue, stops: readonly Place[], options: RouteOptions): readonly Place[] {
  const [first, ...rest] = stops;
  const last = rest.pop();
  if (!first || !last || rest.length < 2) return stops;
  const metres = new Map<string, number>();
  const between = (from: Place, to: Place): number => {
    const key = `${from.poiId} ${to.poiId}`;
    const known = metres.get(key) ?? findLeg(venue, [from, to], options)?.metres ?? Number.POSITIVE_INFINITY;
    metres.set(key, known);
    return known;
  };
  const length = (order: readonly Place[]): number =>
    [...order, last].reduce((sum, to, index) => sum + between(order[index - 1] ?? first, to), 0);
  if (rest.length > mostTried) return [first, ...nearestNext(first, rest, between), last];
  const best = orders(rest).reduce((one, other) => (length(other) < length(one) ? other : one), rest);
  return [first, ...best, last];
}

function orders(stops: readonly Place[]): readonly (readonly Place[])[] {
  if (stops.length < 2) return [stops];
  return stops.flatMap((stop) =>
    orders(stops.filter((other) => other !== stop)).map((rest) => [stop, ...rest]),
  );
}

/** With many stops not every order can be tried: always on to the nearest is good enough. */
function nearestNext(
  first: Place,
  stops: readonly Place[],
  between: (from: Place, to: Place) => number,
): Place[] {
  const left = [...stops];
  const order: Place[] = [];
  for (let at = first; left.length > 0; at = order.at(-1) ?? first) {
    left.sort((one, other) => between(at, one) - between(at, other));
    order.push(...left.splice(0, 1));
  }
  return order;
}
