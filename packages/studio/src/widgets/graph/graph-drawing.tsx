import { type ReactNode, useMemo } from "react";
import type { View } from "../drawing/use-pan-zoom.ts";
import type { Size } from "../drawing/use-size.ts";
import { getSeriesVariable } from "../theme-colors.ts";
import { type PlacedNode, placeEdgeLabels, placeNodeLabels } from "./arrange-graph.ts";
import type { GraphModel, ModelEdge, ModelNode } from "./graph-model.ts";

type GraphDrawingProps = {
  readonly graph: GraphModel;
  /** The nodes at their places in the full view. */
  readonly placed: ReadonlyMap<string, PlacedNode>;
  readonly view: View;
  readonly size: Size;
  readonly selected: string | undefined;
  readonly hovered: string | undefined;
  readonly changed: readonly string[];
};

/** Nodes and edges of one color are one path each, so that a large graph stays fast. */
export function GraphDrawing(props: GraphDrawingProps): ReactNode {
  const { graph, placed, view, size, selected, hovered, changed } = props;
  const nodes = useMemo(() => moveNodes(placed, view), [placed, view]);
  const focused = selected ?? hovered;
  const isFaded = (id: string): boolean =>
    selected !== undefined &&
    graph.nodes.has(selected) &&
    id !== selected &&
    graph.neighbors.get(selected)?.has(id) !== true;
  const isLit = ({ from, to }: ModelEdge): boolean => focused === from || focused === to;
  const shown = [...nodes.values()];
  const strong = new Set([...changed, ...[selected, hovered].filter((id) => id !== undefined)]);
  const labels = placeNodeLabels(
    shown.filter(({ node }) => !isFaded(node.id)),
    { first: strong, size },
  );
  const edges = focused === undefined ? graph.edges : graph.edges.filter(isLit);
  const edgeLabels = placeEdgeLabels({ edges, nodes, nodeLabels: labels, size });
  const nodeGroups = Map.groupBy(shown, ({ node }) =>
    isFaded(node.id) ? "var(--line)" : getNodeColor(node),
  );
  const edgeGroups = Map.groupBy(graph.edges, (edge) =>
    isLit(edge) ? "var(--accent)" : (edge.color ?? "var(--edge)"),
  );
  return (
    <svg
      width={size.width}
      height={size.height}
      aria-hidden="true"
      className="block [--edge:color-mix(in_oklab,var(--faint)_55%,var(--raised))]"
    >
      {[...edgeGroups].map(([color, members]) => (
        <path key={color} d={drawEdges(members, nodes)} stroke={color} strokeWidth={1.2} fill="none" />
      ))}
      {graph.isDirected &&
        [...edgeGroups].map(([color, members]) => (
          <path key={color} d={drawArrows(members, nodes)} fill={color} />
        ))}
      <g className="fill-none stroke-accent">
        {changed.flatMap((id) => {
          const at = nodes.get(id);
          if (!at) return [];
          return [<circle key={id} cx={at.x} cy={at.y} r={at.node.radius + 4} className="animate-flash" />];
        })}
      </g>
      {[...nodeGroups].map(([color, members]) => (
        <path key={color} data-nodes={members.length} d={drawDots(members)} fill={color} />
      ))}
      <Ring at={focused === undefined ? undefined : nodes.get(focused)} />
      <g textAnchor="middle" strokeWidth={3} paintOrder="stroke" className="stroke-raised text-tiny">
        {edgeLabels.map(({ text, x, y }) => (
          <text key={`${text} ${x} ${y}`} x={x} y={y} dominantBaseline="central" className="fill-faint">
            {text}
          </text>
        ))}
        {labels.map(({ id, text, x, y }) => (
          <text
            key={id}
            x={x}
            y={y}
            data-label={id}
            dominantBaseline="central"
            className={strong.has(id) ? "fill-ink font-semibold" : "fill-ink"}
          >
            {text}
          </text>
        ))}
      </g>
    </svg>
  );
}

function Ring({ at }: { readonly at: PlacedNode | undefined }): ReactNode {
  if (!at) return null;
  return (
    <circle cx={at.x} cy={at.y} r={at.node.radius + 3} strokeWidth={2} className="fill-none stroke-accent" />
  );
}

function moveNodes(placed: ReadonlyMap<string, PlacedNode>, view: View): ReadonlyMap<string, PlacedNode> {
  return new Map(
    [...placed].map(([id, { node, x, y }]) => [
      id,
      { node, x: x * view.scale + view.x, y: y * view.scale + view.y },
    ]),
  );
}

/** The color of a node: its own, or that of its type. */
export function getNodeColor({ color, kind }: ModelNode): string {
  return color ?? (kind < 0 ? "var(--quiet)" : getSeriesVariable(kind));
}

const roundCoordinate = (value: number): number => Math.round(value * 10) / 10;

function drawDots(nodes: readonly PlacedNode[]): string {
  return nodes
    .map(({ node: { radius }, x, y }) => {
      const arc = `a${roundCoordinate(radius)} ${roundCoordinate(radius)} 0 1 0`;
      return `M${roundCoordinate(x - radius)} ${roundCoordinate(y)}${arc} ${roundCoordinate(2 * radius)} 0${arc} ${roundCoordinate(-2 * radius)} 0`;
    })
    .join("");
}

function drawEdges(edges: readonly ModelEdge[], nodes: ReadonlyMap<string, PlacedNode>): string {
  return edges
    .map(({ from, to }) => {
      const [start, end] = [nodes.get(from), nodes.get(to)];
      if (!start || !end) return "";
      return `M${roundCoordinate(start.x)} ${roundCoordinate(start.y)}L${roundCoordinate(end.x)} ${roundCoordinate(end.y)}`;
    })
    .join("");
}

const arrowLength = 7;

/** Triangles that end at the border of the target. */
function drawArrows(edges: readonly ModelEdge[], nodes: ReadonlyMap<string, PlacedNode>): string {
  return edges
    .map(({ from, to }) => {
      const [start, end] = [nodes.get(from), nodes.get(to)];
      const length = start && end ? Math.hypot(end.x - start.x, end.y - start.y) : 0;
      if (!start || !end || length < end.node.radius + arrowLength) return "";
      const [dx, dy] = [(end.x - start.x) / length, (end.y - start.y) / length];
      const [tipX, tipY] = [end.x - dx * (end.node.radius + 1), end.y - dy * (end.node.radius + 1)];
      const [baseX, baseY] = [tipX - dx * arrowLength, tipY - dy * arrowLength];
      const [sideX, sideY] = [-dy * 3, dx * 3];
      return `M${roundCoordinate(tipX)} ${roundCoordinate(tipY)}L${roundCoordinate(baseX + sideX)} ${roundCoordinate(baseY + sideY)}L${roundCoordinate(baseX - sideX)} ${roundCoordinate(baseY - sideY)}Z`;
    })
    .join("");
}
