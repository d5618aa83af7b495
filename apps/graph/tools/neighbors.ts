// The neighbors of nodes, by all edges or by one kind: "who owns Mittens", "what do the cats eat".

import { type CommandResult, Refusal } from "../command.ts";
import { matchNodes } from "../match-nodes.ts";
import {
  countTypes,
  getName,
  groupEdgesByNode,
  type Network,
  type NetworkEdge,
  type NetworkNode,
} from "../network.ts";
import { getNode } from "../pick-nodes.ts";
import { formatType, matchRelation } from "../relation.ts";
import { formatCount } from "../selection.ts";

export const directions = ["incoming", "outgoing", "both"] as const;

export type NeighborOptions = {
  readonly relation: string | undefined;
  readonly direction: (typeof directions)[number];
};

const maxNeighbors = 50;

/** Lists the neighbors of a node, or of all nodes of a type. */
export function describeNeighbors(network: Network, name: string, options: NeighborOptions): CommandResult {
  const nodes = pickNamed(network, name);
  const label = nodes.length === 1 && nodes[0] ? getName(nodes[0]) : name;
  const own = listEdges(network, nodes);
  const edges = filterEdges(own, nodes, options);
  if (edges.length === 0 && own.length > 0) return explainNoEdge(label, own, options);
  const ids = new Set(nodes.map(({ id }) => id));
  const found = edges.map((edge) => ({ id: ids.has(edge.from) ? edge.to : edge.from, edge }));
  return listNeighbors(network, label, found);
}

/** Lists the nodes that share a neighbor with a node: "who lives in the same house as Ben". */
export function describeSharing(network: Network, name: string, options: NeighborOptions): CommandResult {
  const node = getNode(network, name);
  const own = listEdges(network, [node]);
  const edges = filterEdges(own, [node], { ...options, direction: "outgoing" });
  if (edges.length === 0) return explainNoEdge(getName(node), own, options);
  const isShared = (other: NetworkEdge) =>
    other.from !== node.id && edges.some(({ to, data }) => other.to === to && other.data.type === data.type);
  const found = network.edges.filter(isShared).map((edge) => ({ id: edge.from, edge }));
  return listNeighbors(network, getName(node), found);
}

/** Tells whether two nodes are directly connected: "does Eva know Finn". */
export function describeConnection(
  network: Network,
  [first, second]: readonly [string, string],
  relation: string | undefined,
): CommandResult {
  const [left, right] = [getNode(network, first), getNode(network, second)];
  const between = listEdges(network, [left]).filter(({ from, to }) => [from, to].includes(right.id));
  const edges = filterEdges(between, [left], { relation, direction: "both" });
  const names = new Map([left, right].map((node) => [node.id, getName(node)]));
  const kinds = edges.map(
    ({ from, to, data }) => `${names.get(from)} – ${formatType(data.type)} – ${names.get(to)}`,
  );
  const kind = relation === undefined ? "" : ` of the kind "${relation}"`;
  const note =
    kinds.length > 0
      ? `Yes: ${kinds.join("; ")}.`
      : `No connection${kind} between "${getName(left)}" and "${getName(right)}" is recorded.`;
  return { success: true, message: note, note, data: { isConnected: kinds.length > 0 } };
}

/** A type or several names, or else one node. */
function pickNamed(network: Network, name: string): readonly NetworkNode[] {
  const found = matchNodes(network, name) ?? [];
  return found.length > 1 ? found : [getNode(network, name)];
}

function listEdges(network: Network, nodes: readonly NetworkNode[]): readonly NetworkEdge[] {
  const edges = groupEdgesByNode(network);
  return [...new Set(nodes.flatMap(({ id }) => edges.get(id) ?? []))];
}

function filterEdges(
  edges: readonly NetworkEdge[],
  nodes: readonly NetworkNode[],
  { relation, direction }: NeighborOptions,
): readonly NetworkEdge[] {
  const ids = new Set(nodes.map(({ id }) => id));
  const types = relation === undefined ? undefined : matchRelation(edges, relation);
  return edges.filter(
    ({ from, to, data }) =>
      (direction === "both" || ids.has(direction === "incoming" ? to : from)) &&
      (!types || types.includes(String(data.type))),
  );
}

function explainNoEdge(
  name: string,
  own: readonly NetworkEdge[],
  { relation, direction }: NeighborOptions,
): CommandResult {
  const note = `No connection of the kind "${relation ?? direction}" is recorded for "${name}".`;
  const knownKinds = countTypes(own).map(({ type }) => formatType(type));
  const message = `${note} Known kinds: ${knownKinds.join(", ")}.`;
  return { success: true, message, note, data: { neighbours: [], knownKinds } };
}

type Neighbor = { readonly id: string; readonly edge: NetworkEdge };

function listNeighbors(network: Network, name: string, found: readonly Neighbor[]): CommandResult {
  const byId = new Map(network.nodes.map((node) => [node.id, node]));
  const unique = [...new Map(found.map((one) => [`${one.id} ${one.edge.data.type}`, one])).values()];
  const neighbours = unique.slice(0, maxNeighbors).flatMap(({ id, edge }) => {
    const other = byId.get(id);
    if (!other) return [];
    const { type = "node" } = other.data;
    return [{ id, name: getName(other), type, by: edge.data.type ?? "edge" }];
  });
  const omittedCount = unique.length - neighbours.length;
  const omitted = omittedCount > 0 ? `; ${omittedCount} of them are omitted` : "";
  return {
    success: true,
    message: `${name} is connected to ${formatCount(unique.length, "node")}${omitted}.`,
    data: { node: name, neighbours },
  };
}

/** Throws a refusal without the names that a query needs. */
export function requireNames(query: string, ...names: readonly (string | undefined)[]): void {
  if (names.some((name) => !name))
    throw new Refusal(`"${query}" needs ${names.length > 1 ? "two nodes: node and other" : "a node"}.`);
}
