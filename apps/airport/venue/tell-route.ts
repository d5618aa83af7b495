import type { Leg } from "./find-route.ts";
import type { Hop } from "./shortest-way.ts";
import type { Position, Venue } from "./venue.ts";
import type { Node, WalkingGraph, WayKind } from "./walking-graph.ts";

export type Told = { readonly steps: readonly string[]; readonly metres: number; readonly minutes: number };

const metresPerSecond = 1.25;
/** What waiting and climbing add to the metres. Waiting at security is not in it. */
const extraSeconds: { readonly [Kind in WayKind]: number } = {
  walk: 0,
  stairs: 15,
  escalator: 15,
  lift: 60,
  checkpoint: 0,
  exit: 0,
};
const secondsOf = (hops: readonly { readonly metres: number; readonly kind: WayKind }[]): number =>
  hops.reduce((sum, { metres, kind }) => sum + metres / metresPerSecond + extraSeconds[kind], 0);

/** A way in words: steps to follow, each with its minutes. */
export function tellRoute(venue: Venue, legs: readonly Leg[]): Told {
  const metres = legs.reduce((sum, leg) => sum + leg.metres, 0);
  const hops = legs.flatMap((leg) => leg.hops);
  const seconds = hops.length > 0 ? secondsOf(hops) : metres / metresPerSecond;
  return {
    steps: legs.flatMap((leg) => stepsOf(venue, leg)),
    metres,
    minutes: Math.max(1, Math.round(seconds / 60)),
  };
}

/** Hops of one kind in one area are one step. */
type Stretch = { readonly kind: WayKind; readonly area: string; readonly hops: Hop[] };

function stepsOf(venue: Venue, { from, to, metres, hops }: Leg): string[] {
  const graph = venue.walking;
  if (!graph || hops.length === 0)
    return [
      `Go from ${from.name} to ${to.name}: ${metres} metres in a straight line; the way itself is not recorded.`,
    ];
  const stretches = stretchesOf(graph, hops);
  const steps = stretches.map((stretch, index) => {
    const before = stretches[index - 1]?.hops.at(-1);
    return `${stepOf(venue, stretch, before && turn(graph, before, stretch.hops[0]))} (${inMinutes(secondsOf(stretch.hops))}).`;
  });
  return [...steps, arrival(graph, to.name, hops)];
}

function stretchesOf(graph: WalkingGraph, hops: readonly Hop[]): Stretch[] {
  const stretches: Stretch[] = [];
  for (const hop of hops) {
    const [from = "", area = ""] = [graph.nodes[hop.from]?.area, graph.nodes[hop.to]?.area];
    const last = stretches.at(-1);
    const before = last?.hops.at(-1);
    // Straight over the end of a hall one is still on the same way: the next hall begins at the turn.
    const goesOn = from === area ? last?.area === area : before && !turn(graph, before, hop);
    if (last && goesOn && hop.kind === "walk" && last.kind === "walk") last.hops.push(hop);
    else stretches.push({ kind: hop.kind, area, hops: [hop] });
  }
  return stretches;
}

type Turn = "left" | "right" | undefined;

function stepOf({ walking, levels }: Venue, { kind, area, hops }: Stretch, turned: Turn): string {
  const metres = hops.reduce((sum, hop) => sum + hop.metres, 0);
  const ordinal = walking?.nodes[hops.at(-1)?.to ?? 0]?.ordinal;
  const level = levels.find((one) => one.ordinal === ordinal)?.name ?? "the other level";
  switch (kind) {
    case "lift":
      return `Take the lift to ${level}`;
    case "stairs":
      return `Take the stairs to ${level}`;
    case "escalator":
      return `Take the escalator to ${level}`;
    case "checkpoint":
      return "Go through security; waiting there is not counted";
    case "exit":
      return "Leave the security area by the exit";
    case "walk":
      if (area === "") return `Walk ${metres} metres`;
      return turned
        ? `Turn ${turned} into ${area} and walk ${metres} metres`
        : `Walk ${metres} metres through ${area}`;
  }
}

const inMinutes = (seconds: number): string =>
  seconds < 45 ? "under 1 min" : `${Math.round(seconds / 60)} min`;

/** Which side the next hop goes to; nothing when it goes on, or goes up or down. */
function turn({ nodes }: WalkingGraph, before: Hop, next: Hop | undefined): Turn {
  const [start, corner, end] = [nodes[before.from], nodes[before.to], next && nodes[next.to]];
  if (!start || !corner || !end || start.ordinal !== corner.ordinal || corner.ordinal !== end.ordinal)
    return undefined;
  const side = crossing(start, corner, end);
  return Math.abs(side) < 0.3 ? undefined : side > 0 ? "left" : "right";
}

/** The sine of the angle between two hops: positive to the left. */
function crossing(start: Node, corner: Node, end: Node): number {
  const shrink = Math.cos(corner.at[1] * (Math.PI / 180));
  const vector = ([x, y]: Position, [toX, toY]: Position) => [(toX - x) * shrink, toY - y] as const;
  const [first, second] = [vector(start.at, corner.at), vector(corner.at, end.at)];
  const lengths = Math.hypot(...first) * Math.hypot(...second);
  return lengths === 0 ? 0 : (first[0] * second[1] - first[1] * second[0]) / lengths;
}

function arrival(graph: WalkingGraph, name: string, hops: readonly Hop[]): string {
  const [before, last] = hops.slice(-2);
  const side = before && last && turn(graph, before, last);
  return side ? `${name} is on your ${side}.` : `You are at ${name}.`;
}
