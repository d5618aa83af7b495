import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from "d3-force";
import { escapeBidi } from "../../ui/escape-text.ts";
import type { GraphNode, GraphProps } from "../widget-props.ts";

export type LayoutName = NonNullable<GraphProps["layout"]>;

/** A position in a square from 0 to 1, which is stretched to the size of the drawing. */
export type Point = { readonly x: number; readonly y: number };

export type ModelNode = Point & {
  readonly id: string;
  readonly label: string;
  /** Index of its type; -1 without one. */
  readonly kind: number;
  readonly kindName: string;
  /** The color that a tool has set. */
  readonly color: string | undefined;
  /** Radius in pixels. */
  readonly radius: number;
};

export type ModelEdge = {
  readonly from: string;
  readonly to: string;
  readonly label: string;
  readonly color: string | undefined;
  readonly width: number;
};

/** A graph with a position for every node. */
export type GraphModel = {
  readonly nodes: ReadonlyMap<string, ModelNode>;
  readonly edges: readonly ModelEdge[];
  readonly neighbors: ReadonlyMap<string, ReadonlySet<string>>;
  readonly isDirected: boolean;
};

/**
 * Builds the graph with a position for every node. Drops edges to missing nodes. Keeps the previous positions if most
 * nodes are still there.
 */
export function buildGraph(props: GraphProps, layout: LayoutName, previous?: GraphModel): GraphModel {
  const unique = new Map(props.nodes.map((node) => [node.id, node]));
  const edges = props.edges
    .filter(({ from, to }) => unique.has(from) && unique.has(to))
    .map(({ from, to, label = "", color, size = 1 }) => ({
      ...{ from, to, label: escapeBidi(label), color, width: 0.6 + 0.6 * size },
    }));
  const ids = [...unique.keys()];
  const neighbors = findNeighbors(ids, edges);
  const types = countTypes(props.nodes).map(({ type }) => type);
  const positions = placeNodes(layout, { ids, edges, neighbors, previous });
  const nodes = new Map(
    [...unique.values()].map(({ id, label = id, type = "", color, size = 1 }): [string, ModelNode] => [
      id,
      {
        ...(positions.get(id) ?? { x: 0.5, y: 0.5 }),
        ...{ id, label: escapeBidi(label), kind: types.indexOf(type), kindName: escapeBidi(type), color },
        radius: 4 + 3 * Math.sqrt(size),
      },
    ]),
  );
  return { nodes, edges, neighbors, isDirected: props.isDirected ?? false };
}

function findNeighbors(
  ids: readonly string[],
  edges: readonly ModelEdge[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const neighbors = new Map(ids.map((id) => [id, new Set<string>()]));
  for (const { from, to } of edges) {
    neighbors.get(from)?.add(to);
    neighbors.get(to)?.add(from);
  }
  return neighbors;
}

type LayoutInput = Pick<GraphModel, "edges" | "neighbors"> & {
  readonly ids: readonly string[];
  readonly previous: GraphModel | undefined;
};

function placeNodes(layout: LayoutName, input: LayoutInput): ReadonlyMap<string, Point> {
  const { ids, previous } = input;
  const toMap = (place: (index: number, count: number) => Point) =>
    new Map(ids.map((id, index) => [id, place(index, ids.length)]));
  if (layout === "circle") return toMap(placeOnCircle);
  if (layout === "grid") return toMap(placeOnGrid);
  return (previous && keepPositions(input, previous)) ?? placeByForce(input);
}

/** Keeps known positions and places new nodes near their neighbors. Undefined if too few nodes are known. */
function keepPositions(
  { ids, neighbors }: LayoutInput,
  previous: GraphModel,
): ReadonlyMap<string, Point> | undefined {
  const known = (id: string): Point[] => {
    const node = previous.nodes.get(id);
    return node ? [{ x: node.x, y: node.y }] : [];
  };
  const keptIds = ids.filter((id) => previous.nodes.has(id));
  if (keptIds.length * 2 <= ids.length) return undefined;
  const newIds = ids.filter((id) => !previous.nodes.has(id));
  const positions = new Map(keptIds.flatMap((id) => known(id).map((point) => [id, point] as const)));
  newIds.forEach((id, index) => {
    const near = [...(neighbors.get(id) ?? [])].flatMap(known);
    const references = near.length > 0 ? near : keptIds.flatMap(known);
    const offset = placeOnCircle(index, newIds.length);
    positions.set(id, {
      x: clampUnit(computeMean(references.map(({ x }) => x)) + (offset.x - 0.5) * 0.1),
      y: clampUnit(computeMean(references.map(({ y }) => y)) + (offset.y - 0.5) * 0.1),
    });
  });
  return positions;
}

const clampUnit = (value: number): number => Math.min(Math.max(value, 0), 1);

const computeMean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);

/** Ids of new or restyled nodes, or none if the graphs have no node in common. */
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

/** Uses fewer iterations for larger graphs to keep the page responsive. Deterministic. */
function placeByForce({ ids, edges }: LayoutInput): ReadonlyMap<string, Point> {
  const nodes: (SimulationNodeDatum & { readonly id: string })[] = ids.map((id) => ({ id }));
  const links: SimulationLinkDatum<(typeof nodes)[number]>[] = edges.map(({ from, to }) => ({
    source: from,
    target: to,
  }));
  const iterations = Math.round(Math.min(Math.max(120_000 / (ids.length + edges.length), 8), 300));
  forceSimulation(nodes)
    .force(
      "link",
      forceLink<(typeof nodes)[number], (typeof links)[number]>(links)
        .id(({ id }) => id)
        .distance(60),
    )
    .force("charge", forceManyBody().strength(-260).distanceMax(600))
    .force("collide", forceCollide(26))
    // Holds parts together that no edge connects.
    .force("x", forceX(0).strength(0.06))
    .force("y", forceY(0).strength(0.06))
    .stop()
    .tick(iterations);
  const points = alignMainAxis(nodes.map(({ x = 0, y = 0 }) => ({ x, y })));
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  const [toX, toY] = [createUnitScale(xs), createUnitScale(ys)];
  return new Map(ids.map((id, index) => [id, { x: toX(xs[index] ?? 0), y: toY(ys[index] ?? 0) }]));
}

/** Turns the points so that they extend most along x. */
function alignMainAxis(points: readonly Point[]): readonly Point[] {
  const [meanX, meanY] = [computeMean(points.map(({ x }) => x)), computeMean(points.map(({ y }) => y))];
  let [xx, xy, yy] = [0, 0, 0];
  for (const { x, y } of points) {
    xx += (x - meanX) ** 2;
    yy += (y - meanY) ** 2;
    xy += (x - meanX) * (y - meanY);
  }
  const angle = Math.atan2(2 * xy, xx - yy) / 2;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return points.map(({ x, y }) => ({
    x: (x - meanX) * cos + (y - meanY) * sin,
    y: (y - meanY) * cos - (x - meanX) * sin,
  }));
}

/** Maps values to 0…1; a single value to the middle. */
function createUnitScale(values: readonly number[]): (value: number) => number {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return (value) => (high - low < 1e-6 ? 0.5 : (value - low) / (high - low));
}

function placeOnCircle(index: number, count: number): Point {
  const angle = (2 * Math.PI * index) / Math.max(count, 1);
  return { x: 0.5 + 0.5 * Math.cos(angle), y: 0.5 + 0.5 * Math.sin(angle) };
}

function placeOnGrid(index: number, count: number): Point {
  const columns = Math.ceil(Math.sqrt(count * 1.6));
  const rows = Math.ceil(count / columns);
  const spread = (at: number, length: number) => (length > 1 ? at / (length - 1) : 0.5);
  return { x: spread(index % columns, columns), y: spread(Math.floor(index / columns), rows) };
}

export type NodeType = { readonly type: string; readonly count: number; readonly color: string | undefined };

/** Counts the node types, most frequent first. A type has a color if all its nodes share it. */
export function countTypes(nodes: readonly GraphNode[]): readonly NodeType[] {
  const typed = nodes.filter(({ type }) => type !== undefined);
  return [...Map.groupBy(typed, ({ type = "" }) => type)]
    .map(([type, members]) => {
      const color = members[0]?.color;
      const isShared = members.every((node) => node.color === color);
      return { type, count: members.length, color: isShared ? color : undefined };
    })
    .sort((left, right) => right.count - left.count);
}
