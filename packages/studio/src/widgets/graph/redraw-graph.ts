import type { MultiGraph } from "graphology";
import type { GraphNode, GraphProps } from "../widget-props.ts";
import { changedNodes, graphOf, type LayoutName } from "./graph-model.ts";

/** What is drawn, and what of it has just changed. */
export type RedrawnGraph = {
  readonly props: GraphProps;
  readonly layout: LayoutName;
  readonly graph: MultiGraph;
  readonly changed: readonly string[];
  /** Whether they look different; otherwise the answer is about them. */
  readonly isChange: boolean;
};

/** Other props take the place of those before: what stays is where it was, and what is different flashes. */
export function redrawnGraph(before: RedrawnGraph | undefined, props: GraphProps): RedrawnGraph {
  const { layout: given, nodes, flash } = props;
  const isOther = given !== undefined && given !== before?.props.layout;
  const layout = isOther ? given : (before?.layout ?? given ?? "force");
  const graph = graphOf(props, layout, before?.layout === layout ? before.graph : undefined);
  const different = before ? changedNodes(before.props.nodes, nodes) : [];
  const isChange = before ? different.length > 0 : isStyled(nodes, flash ?? []);
  return { props, layout, graph, changed: flash ?? different, isChange };
}

/** A picture without one before it: what has all been given a look has changed, as far as one can tell. */
function isStyled(nodes: readonly GraphNode[], flash: readonly string[]): boolean {
  const flashing = nodes.filter(({ id }) => flash.includes(id));
  return flashing.length > 0 && flashing.every(({ color, size }) => (color ?? size) !== undefined);
}
