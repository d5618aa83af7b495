import type { MultiGraph } from "graphology";
import { changedNodes, graphOf, type LayoutName } from "./graph-model.ts";
import type { GraphProps } from "./widget-props.ts";

/** What is drawn, and what of it has just changed. */
export type RedrawnGraph = {
  readonly props: GraphProps;
  readonly layout: LayoutName;
  readonly graph: MultiGraph;
  readonly changed: readonly string[];
};

/** Other props take the place of those before: what stays is where it was, and what is different flashes. */
export function redrawnGraph(before: RedrawnGraph | undefined, props: GraphProps): RedrawnGraph {
  const { layout: given, nodes, flash } = props;
  const isOther = given !== undefined && given !== before?.props.layout;
  const layout = isOther ? given : (before?.layout ?? given ?? "force");
  const graph = graphOf(props, layout, before?.layout === layout ? before.graph : undefined);
  const changed = flash ?? (before ? changedNodes(before.props.nodes, nodes) : []);
  return { props, layout, graph, changed };
}
