import { AgentError } from "capstan";
import { isPosition } from "./read-imdf.ts";
import type { Position } from "./venue.ts";

const wayKinds = ["walk", "stairs", "escalator", "lift", "checkpoint", "exit"] as const;
export type WayKind = (typeof wayKinds)[number];

export type Node = { readonly at: Position; readonly ordinal: number; readonly area: string };
export type Way = { readonly to: number; readonly metres: number; readonly kind: WayKind };

/** How people walk. `ways` has those that begin at each node. */
export type WalkingGraph = {
  /** `recorded`: measured by whoever made the venue. `openings`: made from doors and rooms. */
  readonly source: "recorded" | "openings";
  readonly nodes: readonly Node[];
  readonly ways: readonly (readonly Way[])[];
  /** The node of a place, by the id of its feature. */
  readonly nodeOf: ReadonlyMap<string, number>;
};

export type Edge = readonly [from: number, to: number, metres: number, kind: WayKind];

/** Those that lead through security go one way. */
const isOneWay = (kind: WayKind): boolean => kind === "checkpoint" || kind === "exit";

export function waysOf(count: number, edges: readonly Edge[]): Way[][] {
  const ways: Way[][] = Array.from({ length: count }, () => []);
  for (const [from, to, metres, kind] of edges) {
    ways[from]?.push({ to, metres, kind });
    if (!isOneWay(kind)) ways[to]?.push({ to: from, metres, kind });
  }
  return ways;
}

/** Reads a `walking-graph.jsonl`: nodes are objects, edges are lists. `ordinals` has the height of each level by its id. */
export function readWalkingGraph(text: string, ordinals: ReadonlyMap<string, number>): WalkingGraph {
  const { nodes, edges } = parsed(text);
  const nodeOf = new Map<string, number>();
  const read = nodes.map(({ at, level, area, place }, index) => {
    const ordinal = ordinals.get(level);
    if (ordinal === undefined) throw broken(`node ${index} is on the level "${level}", which is not there`);
    if (!isPosition(at)) throw broken(`node ${index} is nowhere: "at" must be two numbers`);
    if (place !== undefined) nodeOf.set(place, index);
    return { at, ordinal, area };
  });
  for (const [from, to, metres, kind] of edges)
    if (!read[from] || !read[to] || !(metres >= 0) || !wayKinds.includes(kind))
      throw broken(`the edge ${JSON.stringify([from, to, metres, kind])} is not [from, to, metres, kind]`);
  return { source: "recorded", nodes: read, ways: waysOf(read.length, edges), nodeOf };
}

type GraphFile = {
  readonly nodes: readonly { at: Position; level: string; area: string; place?: string }[];
  readonly edges: readonly Edge[];
};

function parsed(text: string): GraphFile {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const read = lines.map((line, index): unknown => {
    try {
      return JSON.parse(line);
    } catch (cause) {
      throw broken(`line ${index + 1} is not JSON`, cause);
    }
  });
  const nodes = read.filter(
    (line) => typeof line === "object" && line !== null && "at" in line && "level" in line,
  );
  return {
    nodes: nodes as unknown as GraphFile["nodes"],
    edges: read.filter((line) => Array.isArray(line)) as unknown as Edge[],
  };
}

const broken = (why: string, cause?: unknown): AgentError =>
  new AgentError("invalid_input", `walking-graph.jsonl cannot be read: ${why}.`, { cause });
