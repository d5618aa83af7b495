import type { GraphProps } from "@capstan/studio";
import type { Json, UiHint } from "capstan";
import { edgesByNode, type Network, nameOf } from "./network.ts";
import type { View } from "./views.ts";

export type PictureOptions = {
  /** Ids of nodes that have just changed, or that the answer is about. */
  readonly flash?: readonly string[];
  /** What a person might say next. */
  readonly replies?: readonly string[];
};

// A picture is stored with the result of its call: it must stay small whatever the graph is.
const mostCharacters = 36_000;
const longestLabel = 60;

/** The graph as the session sees it, for the widget. Of a large graph what was asked for and what has most edges. */
export function pictureOf(network: Network, view: View, options: PictureOptions = {}): UiHint {
  let most = 250;
  let props = propsOf({ network, view, most }, options);
  while (most > 1 && JSON.stringify(props).length > mostCharacters) {
    most = Math.floor(most / 2);
    props = propsOf({ network, view, most }, options);
  }
  return { kind: "graph", props: props as unknown as Json };
}

type Part = { readonly network: Network; readonly view: View; readonly most: number };

function propsOf({ network, view, most }: Part, { flash = [], replies }: PictureOptions): GraphProps {
  const shown = shownNodes(network, new Set([...flash, ...view.zoomTo]), most);
  const nodes = network.nodes.filter(({ id }) => shown.has(id));
  const edges = network.edges.filter(({ from, to }) => shown.has(from) && shown.has(to)).slice(0, 2 * most);
  const isWhole = nodes.length === network.nodes.length && edges.length === network.edges.length;
  const part = `${nodes.length} of ${network.nodes.length} nodes, ${edges.length} of ${network.edges.length} edges`;
  const zoomTo = view.zoomTo.filter((id) => shown.has(id));
  return {
    title: shortened(network.title) + (isWhole ? "" : ` (${part})`),
    nodes: nodes.map((node) => ({
      id: drawnId(node.id),
      label: shortened(nameOf(node)),
      ...(node.data.type !== undefined && { type: shortened(String(node.data.type)) }),
      ...colourOf(view.nodeColours, node.id),
    })),
    edges: edges.map(({ id, from, to, data }) => ({
      from: drawnId(from),
      to: drawnId(to),
      ...(data.type !== undefined && isWhole && { label: shortened(String(data.type)) }),
      ...colourOf(view.edgeColours, id),
    })),
    layout: view.layout,
    isDirected: network.isDirected,
    ...(flash.length > 0 && { flash: flash.filter((id) => shown.has(id)).map(drawnId) }),
    ...(zoomTo.length > 0 && { zoomTo: zoomTo.map(drawnId) }),
    ...(replies && { replies }),
  };
}

/** The widget refuses the names that every object has: `constructor`, `__proto__`. */
const drawnId = (id: string): string => (id in {} ? `node ${id}` : id);

const shortened = (text: string): string =>
  text.length > longestLabel ? `${text.slice(0, longestLabel - 1).toWellFormed()}…` : text;

function shownNodes(network: Network, wanted: ReadonlySet<string>, most: number): ReadonlySet<string> {
  if (network.nodes.length <= most) return new Set(network.nodes.map(({ id }) => id));
  const edges = edgesByNode(network);
  const weight = (id: string) => (wanted.has(id) ? 1e9 : 0) + (edges.get(id)?.length ?? 0);
  const ids = network.nodes.map(({ id }) => id).sort((left, right) => weight(right) - weight(left));
  return new Set(ids.slice(0, most));
}

function colourOf(colours: { readonly [id: string]: string }, id: string): { readonly color?: string } {
  const color = Object.hasOwn(colours, id) ? colours[id] : undefined;
  return color === undefined ? {} : { color };
}
