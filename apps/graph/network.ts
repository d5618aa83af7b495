import { MultiGraph } from "graphology";

export type Properties = { readonly [name: string]: string | number | boolean };

export type NetworkNode = { readonly id: string; readonly data: Properties };
export type NetworkEdge = {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly data: Properties;
};

/** A graph as data. Nodes keep their order, so that samples and answers are deterministic. */
export type Network = {
  readonly name: string;
  readonly title: string;
  readonly isDirected: boolean;
  readonly nodes: readonly NetworkNode[];
  readonly edges: readonly NetworkEdge[];
};

/** The display name of a node. */
export function getName({ id, data }: NetworkNode): string {
  return String(data.name ?? data.label ?? id);
}

/** A node or an edge. */
type Member = { readonly data: Properties };

export type TypeCount = { readonly type: string; readonly count: number };
export type TypeDescription = TypeCount & { readonly properties: readonly string[] };

/** Counts members by type, most frequent first. */
export function countTypes(members: readonly Member[]): readonly TypeCount[] {
  return describeTypes(members).map(({ type, count }) => ({ type, count }));
}

/** Lists each type with its count and the properties its members have. */
export function describeTypes(members: readonly Member[]): readonly TypeDescription[] {
  return [...Map.groupBy(members, ({ data }) => String(data.type ?? "untyped"))]
    .map(([type, typeMembers]) => ({
      type,
      count: typeMembers.length,
      properties: listProperties(typeMembers),
    }))
    .sort((left, right) => right.count - left.count);
}

/** All properties of these members except the type. */
export function listProperties(members: readonly Member[]): readonly string[] {
  const names = new Set(members.flatMap(({ data }) => Object.keys(data)));
  names.delete("type");
  return [...names];
}

/**
 * Converts to graphology for the algorithms; parallel edges are allowed. Graphology stores nodes in plain objects, where
 * a node called `__proto__` would pollute the prototype, so keys are prefixed with a letter.
 */
export function toGraphology({ isDirected, nodes, edges }: Network): MultiGraph {
  const graph = new MultiGraph({ type: isDirected ? "directed" : "undirected" });
  for (const { id } of nodes) graph.addNode(toKey(id));
  for (const { id, from, to } of edges) graph.addEdgeWithKey(toKey(id), toKey(from), toKey(to));
  return graph;
}

export const toKey = (id: string): string => `n${id}`;
export const toId = (key: string): string => key.slice(1);

/** The edges of each node in both directions. */
export function groupEdgesByNode({ nodes, edges }: Network): ReadonlyMap<string, readonly NetworkEdge[]> {
  const edgesByNode = new Map<string, NetworkEdge[]>(nodes.map(({ id }) => [id, []]));
  for (const edge of edges) {
    edgesByNode.get(edge.from)?.push(edge);
    if (edge.to !== edge.from) edgesByNode.get(edge.to)?.push(edge);
  }
  return edgesByNode;
}
