import type { GraphProps } from "@capstan/studio";
import type { UiHint } from "capstan";
import { getName, groupEdgesByNode, type Network } from "./network.ts";
import type { View } from "./view.ts";

export type PictureOptions = {
  /** Ids of nodes that just changed or that the answer is about. */
  readonly flash?: readonly string[];
  /** Suggested replies. */
  readonly replies?: readonly string[];
};

// Pictures are stored with the call's result, so they must stay small for any graph.
const maxCharacters = 36_000;
const maxLabelLength = 60;

/** Draws the graph with the session's view. A large graph is reduced to the requested nodes and those with the most edges. */
export function createPicture(network: Network, view: View, options: PictureOptions = {}): UiHint {
  let maxNodes = 250;
  let props = buildProps({ network, view, maxNodes }, options);
  while (maxNodes > 1 && JSON.stringify(props).length > maxCharacters) {
    maxNodes = Math.floor(maxNodes / 2);
    props = buildProps({ network, view, maxNodes }, options);
  }
  return { kind: "graph", props };
}

type PictureSource = { readonly network: Network; readonly view: View; readonly maxNodes: number };

function buildProps(
  { network, view, maxNodes }: PictureSource,
  { flash = [], replies }: PictureOptions,
): GraphProps {
  const shownIds = selectNodeIds(network, new Set([...flash, ...view.zoomTo]), maxNodes);
  const nodes = network.nodes.filter(({ id }) => shownIds.has(id));
  const edges = network.edges
    .filter(({ from, to }) => shownIds.has(from) && shownIds.has(to))
    .slice(0, 2 * maxNodes);
  const isWhole = nodes.length === network.nodes.length && edges.length === network.edges.length;
  const part = `${nodes.length} of ${network.nodes.length} nodes, ${edges.length} of ${network.edges.length} edges`;
  const zoomTo = view.zoomTo.filter((id) => shownIds.has(id));
  return {
    title: truncateLabel(network.title) + (isWhole ? "" : ` (${part})`),
    nodes: nodes.map((node) => ({
      id: toWidgetId(node.id),
      label: truncateLabel(getName(node)),
      ...(node.data.type !== undefined && { type: truncateLabel(String(node.data.type)) }),
      ...getColor(view.nodeColours, node.id),
    })),
    edges: edges.map(({ id, from, to, data }) => ({
      from: toWidgetId(from),
      to: toWidgetId(to),
      ...(data.type !== undefined && isWhole && { label: truncateLabel(String(data.type)) }),
      ...getColor(view.edgeColours, id),
    })),
    layout: view.layout,
    isDirected: network.isDirected,
    ...(flash.length > 0 && { flash: flash.filter((id) => shownIds.has(id)).map(toWidgetId) }),
    ...(zoomTo.length > 0 && { zoomTo: zoomTo.map(toWidgetId) }),
    ...(replies && { replies }),
  };
}

/** The widget rejects names that every object has, such as `constructor` or `__proto__`. */
const toWidgetId = (id: string): string => (id in {} ? `node ${id}` : id);

const truncateLabel = (text: string): string =>
  text.length > maxLabelLength ? `${text.slice(0, maxLabelLength - 1).toWellFormed()}…` : text;

function selectNodeIds(
  network: Network,
  preferredIds: ReadonlySet<string>,
  maxNodes: number,
): ReadonlySet<string> {
  if (network.nodes.length <= maxNodes) return new Set(network.nodes.map(({ id }) => id));
  const edges = groupEdgesByNode(network);
  const computeWeight = (id: string) => (preferredIds.has(id) ? 1e9 : 0) + (edges.get(id)?.length ?? 0);
  const ids = network.nodes
    .map(({ id }) => id)
    .sort((left, right) => computeWeight(right) - computeWeight(left));
  return new Set(ids.slice(0, maxNodes));
}

function getColor(colours: { readonly [id: string]: string }, id: string): { readonly color?: string } {
  const color = Object.hasOwn(colours, id) ? colours[id] : undefined;
  return color === undefined ? {} : { color };
}
