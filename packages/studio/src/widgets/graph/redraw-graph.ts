import type { GraphNode, GraphProps } from "../widget-props.ts";
import { buildGraph, findChangedNodes, type GraphModel, type LayoutName } from "./graph-model.ts";

/** A drawn graph and the nodes that have just changed. */
export type GraphState = {
  readonly props: GraphProps;
  readonly layout: LayoutName;
  readonly graph: GraphModel;
  readonly changed: readonly string[];
  /** True if the nodes changed; false if they are only highlighted. */
  readonly isChange: boolean;
};

/** Replaces the props. Remaining nodes keep their positions; changed nodes flash. */
export function redrawGraph(previous: GraphState | undefined, props: GraphProps): GraphState {
  const { layout: requestedLayout, nodes, flash } = props;
  const isNewLayout = requestedLayout !== undefined && requestedLayout !== previous?.props.layout;
  const layout = isNewLayout ? requestedLayout : (previous?.layout ?? requestedLayout ?? "force");
  const graph = buildGraph(props, layout, previous?.layout === layout ? previous.graph : undefined);
  const changedIds = previous ? findChangedNodes(previous.props.nodes, nodes) : [];
  const isChange = previous ? changedIds.length > 0 : isStyled(nodes, flash ?? []);
  return { props, layout, graph, changed: flash ?? changedIds, isChange };
}

/** Without a previous drawing, nodes that all have a style count as changed. */
function isStyled(nodes: readonly GraphNode[], flash: readonly string[]): boolean {
  const flashing = nodes.filter(({ id }) => flash.includes(id));
  return flashing.length > 0 && flashing.every(({ color, size }) => (color ?? size) !== undefined);
}
