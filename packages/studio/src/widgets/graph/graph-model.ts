import { MultiGraph } from "graphology";
import forceAtlas2Module, { type ForceAtlas2Settings } from "graphology-layout-forceatlas2";
import { escapeBidi } from "../../ui/escape-text.ts";
import type { GraphNode, GraphProps } from "../widget-props.ts";

// The package's types describe a different module format.
const forceAtlas2 = forceAtlas2Module as unknown as {
  assign(
    graph: MultiGraph,
    options: { readonly iterations: number; readonly settings: ForceAtlas2Settings },
  ): void;
  inferSettings(graph: MultiGraph): ForceAtlas2Settings;
};

export type LayoutName = NonNullable<GraphProps["layout"]>;

type Point = { readonly x: number; readonly y: number };

/**
 * Builds the graph with a position for every node. Drops edges to missing nodes. Keeps the previous positions if most
 * nodes are still there.
 */
export function buildGraph(props: GraphProps, layout: LayoutName, previous?: MultiGraph): MultiGraph {
  const { nodes, edges, isDirected = false } = props;
  const graph = new MultiGraph({ type: isDirected ? "directed" : "undirected" });
  const types = countTypes(nodes).map(({ type }) => type);
  nodes.forEach(({ id, label = id, type = "", color, size = 1 }, index) => {
    if (graph.hasNode(id)) return;
    const at = layout === "grid" ? placeOnGrid(index, nodes.length) : placeOnCircle(index, nodes.length);
    const kind = types.indexOf(type);
    graph.addNode(id, {
      ...at,
      label: escapeBidi(label),
      kind,
      kindName: escapeBidi(type),
      given: color,
      size: 4 + 3 * Math.sqrt(size),
    });
  });
  for (const { from, to, label = "", color, size = 1 } of edges)
    if (graph.hasNode(from) && graph.hasNode(to))
      graph.addEdge(from, to, { label: escapeBidi(label), given: color, size: 0.6 + 0.6 * size });
  if (layout === "force" && graph.order > 1 && !(previous && keepPositions(graph, previous)))
    applyForceLayout(graph);
  return graph;
}

/** Keeps known positions and places new nodes near their neighbors. Returns false if too few nodes are known. */
function keepPositions(graph: MultiGraph, previous: MultiGraph): boolean {
  const [keptIds, newIds] = [graph.filterNodes((id) => previous.hasNode(id)), [] as string[]];
  if (keptIds.length * 2 <= graph.order) return false;
  graph.forEachNode((id) => {
    if (!previous.hasNode(id)) return void newIds.push(id);
    graph.mergeNodeAttributes(id, getNodePosition(previous, id));
  });
  newIds.forEach((id, index) => {
    const knownNeighbors = graph.neighbors(id).filter((other) => previous.hasNode(other));
    const references = (knownNeighbors.length > 0 ? knownNeighbors : keptIds).map((other) =>
      getNodePosition(previous, other),
    );
    const offset = placeOnCircle(index, newIds.length);
    graph.mergeNodeAttributes(id, {
      x: computeMean(references.map(({ x }) => x)) + offset.x * 0.1,
      y: computeMean(references.map(({ y }) => y)) + offset.y * 0.1,
    });
  });
  return true;
}

function getNodePosition(graph: MultiGraph, id: string): Point {
  return { x: graph.getNodeAttribute(id, "x"), y: graph.getNodeAttribute(id, "y") };
}

const computeMean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);

/** Returns the ids of new or restyled nodes, or none if the graphs have no node in common. */
export function findChangedNodes(
  previous: readonly GraphNode[],
  after: readonly GraphNode[],
): readonly string[] {
  const previousNodes = new Map(previous.map((node) => [node.id, node]));
  if (!after.some(({ id }) => previousNodes.has(id))) return [];
  return after.filter((node) => !isSameNode(previousNodes.get(node.id), node)).map(({ id }) => id);
}

function isSameNode(left: GraphNode | undefined, right: GraphNode): boolean {
  return (
    (["label", "type", "color", "size"] as const).every((name) => left?.[name] === right[name]) && !!left
  );
}

/** Uses fewer iterations for larger graphs to keep the page responsive. Deterministic: it starts from a circle. */
function applyForceLayout(graph: MultiGraph): void {
  const work = graph.order + graph.size;
  const iterations = Math.round(Math.min(Math.max(120_000 / work, 8), 250));
  forceAtlas2.assign(graph, {
    iterations,
    settings: {
      ...forceAtlas2.inferSettings(graph),
      adjustSizes: false,
      barnesHutOptimize: graph.order > 400,
    },
  });
}

function placeOnCircle(index: number, count: number): Point {
  const angle = (2 * Math.PI * index) / Math.max(count, 1);
  return { x: 10 * Math.cos(angle), y: 10 * Math.sin(angle) };
}

function placeOnGrid(index: number, count: number): Point {
  const columns = Math.ceil(Math.sqrt(count * 1.6));
  return { x: index % columns, y: -Math.floor(index / columns) };
}

export type NodeType = { readonly type: string; readonly count: number; readonly color: string | undefined };

/** Counts the node types, most frequent first. A type has a color if all its nodes share it. */
export function countTypes(nodes: readonly GraphNode[]): readonly NodeType[] {
  const found = new Map<string, GraphNode[]>();
  for (const node of nodes) {
    if (node.type === undefined) continue;
    const members = found.get(node.type);
    if (members) members.push(node);
    else found.set(node.type, [node]);
  }
  return [...found]
    .map(([type, members]) => {
      const color = members[0]?.color;
      return {
        type,
        count: members.length,
        color: members.every((node) => node.color === color) ? color : undefined,
      };
    })
    .sort((left, right) => right.count - left.count);
}
