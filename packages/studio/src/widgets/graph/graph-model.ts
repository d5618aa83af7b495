import { MultiGraph } from "graphology";
import forceAtlas2Module, { type ForceAtlas2Settings } from "graphology-layout-forceatlas2";
import { steadyText } from "../../markdown/visible-text.ts";
import type { GraphNode, GraphProps } from "../widget-props.ts";

// Its types describe another form of module than the one that is loaded.
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
 * The graph with a place for every node. An edge of a node that is not there is left out. What was drawn before stays where
 * it was, as far as most of it is still there.
 */
export function graphOf(props: GraphProps, layout: LayoutName, before?: MultiGraph): MultiGraph {
  const { nodes, edges, isDirected = false } = props;
  const graph = new MultiGraph({ type: isDirected ? "directed" : "undirected" });
  const types = typesOf(nodes).map(({ type }) => type);
  nodes.forEach(({ id, label = id, type = "", color, size = 1 }, index) => {
    if (graph.hasNode(id)) return;
    const at = layout === "grid" ? inGrid(index, nodes.length) : inCircle(index, nodes.length);
    const kind = types.indexOf(type);
    graph.addNode(id, {
      ...at,
      label: steadyText(label),
      kind,
      kindName: steadyText(type),
      given: color,
      size: 4 + 3 * Math.sqrt(size),
    });
  });
  for (const { from, to, label = "", color, size = 1 } of edges)
    if (graph.hasNode(from) && graph.hasNode(to))
      graph.addEdge(from, to, { label: steadyText(label), given: color, size: 0.6 + 0.6 * size });
  if (layout === "force" && graph.order > 1 && !(before && keepPlaces(graph, before))) spread(graph);
  return graph;
}

/** Puts every node where it was, and a new one beside those that it is joined to; false when too few were there. */
function keepPlaces(graph: MultiGraph, before: MultiGraph): boolean {
  const [old, fresh] = [graph.filterNodes((id) => before.hasNode(id)), [] as string[]];
  if (old.length * 2 <= graph.order) return false;
  graph.forEachNode((id) => {
    if (!before.hasNode(id)) return void fresh.push(id);
    graph.mergeNodeAttributes(id, placeOf(before, id));
  });
  fresh.forEach((id, index) => {
    const near = graph.neighbors(id).filter((other) => before.hasNode(other));
    const around = (near.length > 0 ? near : old).map((other) => placeOf(before, other));
    const beside = inCircle(index, fresh.length);
    graph.mergeNodeAttributes(id, {
      x: mean(around.map(({ x }) => x)) + beside.x * 0.1,
      y: mean(around.map(({ y }) => y)) + beside.y * 0.1,
    });
  });
  return true;
}

function placeOf(graph: MultiGraph, id: string): Point {
  return { x: graph.getNodeAttribute(id, "x"), y: graph.getNodeAttribute(id, "y") };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);

/** Ids of nodes that are new, or look different. Of another graph altogether none: there is nothing to compare. */
export function changedNodes(before: readonly GraphNode[], after: readonly GraphNode[]): readonly string[] {
  const known = new Map(before.map((node) => [node.id, node]));
  if (!after.some(({ id }) => known.has(id))) return [];
  return after.filter((node) => !isSameNode(known.get(node.id), node)).map(({ id }) => id);
}

function isSameNode(left: GraphNode | undefined, right: GraphNode): boolean {
  return (
    (["label", "type", "color", "size"] as const).every((name) => left?.[name] === right[name]) && !!left
  );
}

/** Fewer rounds for more nodes, so that a large graph does not stop the page. The start is a circle: never by chance. */
function spread(graph: MultiGraph): void {
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

function inCircle(index: number, count: number): Point {
  const angle = (2 * Math.PI * index) / Math.max(count, 1);
  return { x: 10 * Math.cos(angle), y: 10 * Math.sin(angle) };
}

function inGrid(index: number, count: number): Point {
  const columns = Math.ceil(Math.sqrt(count * 1.6));
  return { x: index % columns, y: -Math.floor(index / columns) };
}

export type NodeType = { readonly type: string; readonly count: number; readonly color: string | undefined };

/** The types there are, the most usual first. A colour that all nodes of a type were given is that of the type. */
export function typesOf(nodes: readonly GraphNode[]): readonly NodeType[] {
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
