import { MultiGraph } from "graphology";

/** What a node or an edge knows about itself. */
export type Properties = { readonly [name: string]: string | number | boolean };

export type NetworkNode = { readonly id: string; readonly data: Properties };
export type NetworkEdge = {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly data: Properties;
};

/** A graph as data. Nodes keep their order: samples and answers are the same every time. */
export type Network = {
  readonly name: string;
  readonly title: string;
  readonly isDirected: boolean;
  readonly nodes: readonly NetworkNode[];
  readonly edges: readonly NetworkEdge[];
};

/** What people call a node. */
export function nameOf({ id, data }: NetworkNode): string {
  return String(data.name ?? data.label ?? id);
}

export type TypeCount = { readonly type: string; readonly count: number };

/** The types there are, the most usual first. */
export function typesOf(members: readonly { readonly data: Properties }[]): readonly TypeCount[] {
  const counts = new Map<string, number>();
  for (const { data } of members) {
    const type = String(data.type ?? "untyped");
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  return [...counts]
    .map(([type, count]) => ({ type, count }))
    .sort((left, right) => right.count - left.count);
}

/** The properties that any of these has, but for the type. */
export function propertiesOf(members: readonly { readonly data: Properties }[]): readonly string[] {
  const names = new Set(members.flatMap(({ data }) => Object.keys(data)));
  names.delete("type");
  return [...names];
}

/** For the algorithms. Two nodes may have several edges. */
export function graphologyOf({ isDirected, nodes, edges }: Network): MultiGraph {
  const graph = new MultiGraph({ type: isDirected ? "directed" : "undirected" });
  for (const { id } of nodes) graph.addNode(id);
  for (const { id, from, to } of edges) graph.addEdgeWithKey(id, from, to);
  return graph;
}

/** The edges at each node, whatever their direction. */
export function edgesByNode({ nodes, edges }: Network): ReadonlyMap<string, readonly NetworkEdge[]> {
  const found = new Map<string, NetworkEdge[]>(nodes.map(({ id }) => [id, []]));
  for (const edge of edges) {
    found.get(edge.from)?.push(edge);
    if (edge.to !== edge.from) found.get(edge.to)?.push(edge);
  }
  return found;
}
