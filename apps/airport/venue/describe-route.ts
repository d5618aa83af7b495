import type { Leg } from "./find-route.ts";
import type { Hop } from "./shortest-paths.ts";
import type { Position, Venue } from "./venue.ts";
import { type ConnectionKind, isOneWay, type Node, type WalkingGraph } from "./walking-graph.ts";

export type RouteDescription = {
  readonly steps: readonly string[];
  readonly metres: number;
  readonly minutes: number;
};

const metresPerSecond = 1.25;
/** Added for waiting and climbing. Waiting at security is not included. */
const extraSeconds: { readonly [Kind in ConnectionKind]: number } = {
  walk: 0,
  stairs: 15,
  escalator: 15,
  lift: 60,
  checkpoint: 0,
  exit: 0,
};
const estimateSeconds = (
  hops: readonly { readonly metres: number; readonly kind: ConnectionKind }[],
): number =>
  hops.reduce((sum, { metres, kind }, index) => {
    const extra = hops[index - 1]?.kind === kind ? 0 : extraSeconds[kind];
    return sum + metres / metresPerSecond + extra;
  }, 0);

/** Turns a route into steps to follow, each with its duration. */
export function describeRoute(venue: Venue, legs: readonly Leg[]): RouteDescription {
  const metres = legs.reduce((sum, leg) => sum + leg.metres, 0);
  const hops = legs.flatMap((leg) => leg.hops);
  const seconds = hops.length > 0 ? estimateSeconds(hops) : metres / metresPerSecond;
  return {
    steps: legs.flatMap((leg) => describeLeg(venue, leg)),
    metres,
    minutes: Math.max(1, Math.round(seconds / 60)),
  };
}

/** Consecutive hops of one kind in one area. */
type RouteStep = { readonly kind: ConnectionKind; readonly area: string; readonly hops: Hop[] };

function describeLeg(venue: Venue, { from, to, metres, hops }: Leg): string[] {
  const graph = venue.walking;
  if (!graph || hops.length === 0)
    return [
      `Go from ${from.name} to ${to.name}: ${metres} metres in a straight line; the route itself is not recorded.`,
    ];
  const routeSteps = groupHops(graph, hops);
  const steps = routeSteps.map((routeStep, index) => {
    const previousHop = routeSteps[index - 1]?.hops.at(-1);
    return `${describeStep(venue, routeStep, previousHop && findTurn(graph, previousHop, routeStep.hops[0]))} (${formatStepDuration(estimateSeconds(routeStep.hops))}).`;
  });
  return [...steps, describeArrival(graph, to.name, hops)];
}

function groupHops(graph: WalkingGraph, hops: readonly Hop[]): RouteStep[] {
  const routeSteps: RouteStep[] = [];
  for (const hop of hops) {
    const last = routeSteps.at(-1);
    const previousHop = last?.hops.at(-1);
    // A room without a name belongs to the hall before it.
    const area = graph.nodes[hop.to]?.area || (last?.area ?? "");
    const isSameHall = area !== "" && graph.nodes[hop.from]?.area === area;
    // Walking straight from one hall into the next stays one step; a turn starts a new one.
    const isSameStep =
      hop.kind === "walk" && isSameHall
        ? last?.area === area
        : previousHop && (hop.kind !== "walk" || !findTurn(graph, previousHop, hop));
    if (last && isSameStep && hop.kind === last.kind && !isOneWay(hop.kind)) last.hops.push(hop);
    else routeSteps.push({ kind: hop.kind, area, hops: [hop] });
  }
  return routeSteps;
}

type Turn = "left" | "right" | undefined;
const minTurnMetres = 2;

function describeStep({ walking, levels }: Venue, { kind, area, hops }: RouteStep, turnSide: Turn): string {
  const metres = hops.reduce((sum, hop) => sum + hop.metres, 0);
  const ordinal = walking?.nodes[hops.at(-1)?.to ?? 0]?.ordinal;
  const level = levels.find((candidate) => candidate.ordinal === ordinal)?.name ?? "the other level";
  const isClimb = walking?.nodes[hops[0]?.from ?? 0]?.ordinal !== ordinal;
  switch (kind) {
    case "lift":
      return `Take the lift to ${level}`;
    case "stairs":
      return isClimb ? `Take the stairs to ${level}` : "Take the steps";
    case "escalator":
      return isClimb ? `Take the escalator to ${level}` : "Take the escalator";
    case "checkpoint":
      return "Go through security; wait time not included";
    case "exit":
      return "Leave the security area through the exit";
    case "walk":
      if (area === "")
        return turnSide ? `Turn ${turnSide} and walk ${metres} metres` : `Walk ${metres} metres`;
      return turnSide
        ? `Turn ${turnSide} into ${area} and walk ${metres} metres`
        : `Walk ${metres} metres through ${area}`;
  }
}

const formatStepDuration = (seconds: number): string =>
  seconds < 45 ? "under 1 min" : `${Math.round(seconds / 60)} min`;

/** Returns undefined if the next hop goes straight on or changes levels. */
function findTurn({ nodes }: WalkingGraph, previousHop: Hop, next: Hop | undefined): Turn {
  const [start, corner, end] = [nodes[previousHop.from], nodes[previousHop.to], next && nodes[next.to]];
  if (!start || !corner || !end || start.ordinal !== corner.ordinal || corner.ordinal !== end.ordinal)
    return undefined;
  // The way through a door is too short for a turn.
  if (next && Math.min(previousHop.metres, next.metres) < minTurnMetres) return undefined;
  const side = computeTurnSine(start, corner, end);
  return Math.abs(side) < 0.3 ? undefined : side > 0 ? "left" : "right";
}

/** Sine of the angle between two hops; positive means left. */
function computeTurnSine(start: Node, corner: Node, end: Node): number {
  const shrink = Math.cos(corner.at[1] * (Math.PI / 180));
  const vector = ([x, y]: Position, [toX, toY]: Position) => [(toX - x) * shrink, toY - y] as const;
  const [first, second] = [vector(start.at, corner.at), vector(corner.at, end.at)];
  const lengths = Math.hypot(...first) * Math.hypot(...second);
  return lengths === 0 ? 0 : (first[0] * second[1] - first[1] * second[0]) / lengths;
}

function describeArrival(graph: WalkingGraph, name: string, hops: readonly Hop[]): string {
  const [previousHop, last] = hops.slice(-2);
  const side = previousHop && last && findTurn(graph, previousHop, last);
  return side ? `${name} is on your ${side}.` : `You are at ${name}.`;
}
