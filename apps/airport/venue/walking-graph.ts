import { isPosition } from "./geometry.ts";
import type { Position } from "./venue.ts";

const connectionKinds = ["walk", "stairs", "escalator", "lift", "checkpoint", "exit"] as const;
export type ConnectionKind = (typeof connectionKinds)[number];

export type Node = { readonly at: Position; readonly ordinal: number; readonly area: string };
export type Connection = { readonly to: number; readonly metres: number; readonly kind: ConnectionKind };

/** `connections` lists the outgoing connections of each node. */
export type WalkingGraph = {
  /** `recorded`: measured by the venue. `openings`: derived from doors and rooms. */
  readonly source: "recorded" | "openings";
  readonly nodes: readonly Node[];
  readonly connections: readonly (readonly Connection[])[];
  /** Node of each place, by feature id. */
  readonly nodesByFeature: ReadonlyMap<string, number>;
};

export type Edge = readonly [
  ...[from: number, to: number, metres: number, kind: ConnectionKind],
  direction?: "directed" | "undirected",
];

/** Connections through security are one-way. */
export const isOneWay = (kind: ConnectionKind): boolean => kind === "checkpoint" || kind === "exit";

export function buildConnections(count: number, edges: readonly Edge[]): Connection[][] {
  const connections: Connection[][] = Array.from({ length: count }, () => []);
  for (const [from, to, metres, kind, direction] of edges) {
    connections[from]?.push({ to, metres, kind });
    if (!isOneWay(kind) && direction !== "directed") connections[to]?.push({ to: from, metres, kind });
  }
  return connections;
}

/** Reads a `walking-graph.jsonl`, in which nodes are objects and edges are arrays. `ordinals` maps level ids to level numbers. */
export function readWalkingGraph(text: string, ordinals: ReadonlyMap<string, number>): WalkingGraph {
  const { nodes, edges } = parseGraphFile(text);
  const nodesByFeature = new Map<string, number>();
  const read = nodes.map(({ at, level, area, place }, index) => {
    const ordinal = ordinals.get(level);
    if (ordinal === undefined)
      throw createGraphError(`node ${index} is on level "${level}", which does not exist`);
    if (!isPosition(at)) throw createGraphError(`node ${index} has no position: "at" must be two numbers`);
    if (place !== undefined) nodesByFeature.set(place, index);
    return { at, ordinal, area };
  });
  for (const [from, to, metres, kind] of edges)
    if (!read[from] || !read[to] || !(metres >= 0) || !connectionKinds.includes(kind))
      throw createGraphError(
        `the edge ${JSON.stringify([from, to, metres, kind])} is not [from, to, metres, kind]`,
      );
  return {
    source: "recorded",
    nodes: read,
    connections: buildConnections(read.length, edges),
    nodesByFeature,
  };
}

type GraphFile = {
  readonly nodes: readonly { at: Position; level: string; area: string; place?: string }[];
  readonly edges: readonly Edge[];
};

function parseGraphFile(text: string): GraphFile {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const read = lines.map((line, index) => {
    try {
      return JSON.parse(line);
    } catch (cause) {
      throw createGraphError(`line ${index + 1} is not JSON`, cause);
    }
  });
  const nodes = read.filter(
    (line) => typeof line === "object" && line !== null && "at" in line && "level" in line,
  );
  return {
    nodes,
    edges: read.filter(isEdge),
  };
}

/** The values of an edge are checked when it is added. */
const isEdge = (line: unknown): line is Edge => Array.isArray(line);

const createGraphError = (reason: string, cause?: unknown): Error =>
  new Error(`walking-graph.jsonl cannot be read: ${reason}.`, { cause });
