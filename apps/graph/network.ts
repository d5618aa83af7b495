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

/** A node or an edge. */
type Member = { readonly data: Properties };

export type TypeCount = { readonly type: string; readonly count: number };
export type DescribedType = TypeCount & { readonly properties: readonly string[] };

/** The types there are, the most usual first. */
export function typesOf(members: readonly Member[]): readonly TypeCount[] {
  return describedTypes(members).map(({ type, count }) => ({ type, count }));
}

/** The types with the properties that members of each have. */
export function describedTypes(members: readonly Member[]): readonly DescribedType[] {
  return [...Map.groupBy(members, ({ data }) => String(data.type ?? "untyped"))]
    .map(([type, own]) => ({ type, count: own.length, properties: propertiesOf(own) }))
    .sort((left, right) => right.count - left.count);
}

/** The properties that any of these has, but for the type. */
export function propertiesOf(members: readonly Member[]): readonly string[] {
  const names = new Set(members.flatMap(({ data }) => Object.keys(data)));
  names.delete("type");
  return [...names];
}

/**
 * For the algorithms. Two nodes may have several edges. Graphology keeps nodes in plain objects, where a node called
 * `__proto__` would change every object of the process: there each has a letter before its id.
 */
export function graphologyOf({ isDirected, nodes, edges }: Network): MultiGraph {
  const graph = new MultiGraph({ type: isDirected ? "directed" : "undirected" });
  for (const { id } of nodes) graph.addNode(keyOf(id));
  for (const { id, from, to } of edges) graph.addEdgeWithKey(keyOf(id), keyOf(from), keyOf(to));
  return graph;
}

/** What a node is called in there, and back. */
export const keyOf = (id: string): string => `n${id}`;
export const idOf = (key: string): string => key.slice(1);

/** The edges at each node, whatever their direction. */
export function edgesByNode({ nodes, edges }: Network): ReadonlyMap<string, readonly NetworkEdge[]> {
  const found = new Map<string, NetworkEdge[]>(nodes.map(({ id }) => [id, []]));
  for (const edge of edges) {
    found.get(edge.from)?.push(edge);
    if (edge.to !== edge.from) found.get(edge.to)?.push(edge);
  }
  return found;
}
