import type { WalkingGraph, Way, WayKind } from "./walking-graph.ts";

/** One hop of a way, from the node before it. */
export type Hop = Way & { readonly from: number };

/** How far every node is that can be reached, and the hop that leads to it. */
export type Reach = {
  readonly metres: ReadonlyMap<number, number>;
  readonly hops: ReadonlyMap<number, Hop>;
};

export type Avoid = (kind: WayKind) => boolean;

/** Neither stairs nor escalators. */
export const avoidSteps: Avoid = (kind) => kind === "stairs" || kind === "escalator";
const avoidNothing: Avoid = () => false;

/** Dijkstra: the shortest ways from one node to all others. */
export function reachFrom({ ways }: WalkingGraph, start: number, avoid: Avoid = avoidNothing): Reach {
  const metres = new Map<number, number>();
  const hops = new Map<number, Hop>();
  // What can be reached and is not settled. It stays small, so that the nearest of it is simply looked for.
  const open = new Map<number, number>([[start, 0]]);
  for (let node = nearestOf(open); node !== undefined; node = nearestOf(open)) {
    const far = open.get(node) ?? 0;
    open.delete(node);
    metres.set(node, far);
    for (const way of ways[node] ?? []) {
      if (metres.has(way.to) || avoid(way.kind)) continue;
      const through = far + way.metres;
      if (through >= (open.get(way.to) ?? Number.POSITIVE_INFINITY)) continue;
      open.set(way.to, through);
      hops.set(way.to, { ...way, from: node });
    }
  }
  return { metres, hops };
}

function nearestOf(open: ReadonlyMap<number, number>): number | undefined {
  let best: number | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const [node, metres] of open) {
    if (metres >= least) continue;
    best = node;
    least = metres;
  }
  return best;
}

/** The hops to a node, in order; nothing when it cannot be reached. */
export function hopsTo({ metres, hops }: Reach, target: number): Hop[] | undefined {
  if (!metres.has(target)) return undefined;
  const way: Hop[] = [];
  for (let hop = hops.get(target); hop; hop = hops.get(hop.from)) way.unshift(hop);
  return way;
}
