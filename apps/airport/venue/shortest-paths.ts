import type { Connection, ConnectionKind, WalkingGraph } from "./walking-graph.ts";

/** A connection on a path, with the node it starts from. */
export type Hop = Connection & { readonly from: number };

/** The distance of every reachable node, and the last hop to it. */
export type ShortestPaths = {
  readonly metres: ReadonlyMap<number, number>;
  readonly hops: ReadonlyMap<number, Hop>;
};

export type Avoid = (kind: ConnectionKind) => boolean;

export const hasSteps: Avoid = (kind) => kind === "stairs" || kind === "escalator";
const allowAll: Avoid = () => false;

/** Dijkstra's algorithm: the shortest paths from one node to all others. */
export function findShortestPaths(
  { connections }: WalkingGraph,
  start: number,
  avoid: Avoid = allowAll,
): ShortestPaths {
  const metres = new Map<number, number>();
  const hops = new Map<number, Hop>();
  // Reached but not settled. The set stays small, so a linear scan for the nearest is enough.
  const open = new Map<number, number>([[start, 0]]);
  for (let node = findNearest(open); node !== undefined; node = findNearest(open)) {
    const distance = open.get(node) ?? 0;
    open.delete(node);
    metres.set(node, distance);
    for (const connection of connections[node] ?? []) {
      if (metres.has(connection.to) || avoid(connection.kind)) continue;
      const through = distance + connection.metres;
      if (through >= (open.get(connection.to) ?? Number.POSITIVE_INFINITY)) continue;
      open.set(connection.to, through);
      hops.set(connection.to, { ...connection, from: node });
    }
  }
  return { metres, hops };
}

function findNearest(open: ReadonlyMap<number, number>): number | undefined {
  let best: number | undefined;
  let leastMetres = Number.POSITIVE_INFINITY;
  for (const [node, metres] of open) {
    if (metres >= leastMetres) continue;
    best = node;
    leastMetres = metres;
  }
  return best;
}

/** Returns the hops to a node in order, or undefined if it cannot be reached. */
export function getPathTo({ metres, hops }: ShortestPaths, target: number): Hop[] | undefined {
  if (!metres.has(target)) return undefined;
  const path: Hop[] = [];
  for (let hop = hops.get(target); hop; hop = hops.get(hop.from)) path.unshift(hop);
  return path;
}
