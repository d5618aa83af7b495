// Which nodes and edges a command means: by ids, by names, or by a selector.

import { suggestName } from "capstan";
import { Refusal } from "./command.ts";
import {
  edgesByNode,
  type Network,
  type NetworkEdge,
  type NetworkNode,
  nameOf,
  type Properties,
} from "./network.ts";
import { nodesSaid, wordsIn } from "./nodes-said.ts";
import { parseSelector } from "./selector.ts";

export type Picked = { readonly nodeIds?: readonly string[]; readonly selector?: string };

/** The nodes that a selector matches, or that plain words name. A selector may also ask for `id` and `degree`. */
export function selectNodes(network: Network, selector: string): readonly NetworkNode[] {
  const words = wordsIn(selector);
  if (words !== undefined) return nodesSaid(network, words) ?? [];
  const edges = edgesByNode(network);
  const members = network.nodes.map((node) => ({
    member: node,
    given: { ...node.data, id: node.id, degree: edges.get(node.id)?.length ?? 0 },
  }));
  return select(members, selector, "node");
}

/** The edges that a selector matches. It may also ask for `id`, `from` and `to`, and these as names. */
export function selectEdges(network: Network, selector: string): readonly NetworkEdge[] {
  const names = new Map(network.nodes.map((node) => [node.id, nameOf(node)]));
  const members = network.edges.map((edge) => ({
    member: edge,
    given: {
      ...edge.data,
      id: edge.id,
      from: edge.from,
      to: edge.to,
      fromName: names.get(edge.from) ?? "",
      toName: names.get(edge.to) ?? "",
    },
  }));
  return select(members, selector, "edge");
}

type Member<Kind> = { readonly member: Kind; readonly given: Properties };

function select<Kind>(members: readonly Member<Kind>[], source: string, what: string): readonly Kind[] {
  const selector = parseSelector(source);
  const known = [...new Set(members.flatMap(({ given }) => Object.keys(given)))];
  const unknown = selector.properties.find((property) => !known.includes(property));
  if (unknown !== undefined && members.length > 0)
    throw new Refusal(
      `No ${what} has the property "${unknown}".${suggestName(unknown, known)} There are: ${known.join(", ")}.`,
    );
  return members.filter(({ given }) => selector.matches(given)).map(({ member }) => member);
}

/** The nodes that are meant, by ids or names, or by a selector; one of the two must be there. */
export function pickNodes(network: Network, { nodeIds, selector }: Picked): readonly NetworkNode[] {
  if (nodeIds !== undefined) return [...new Set(nodeIds.map((said) => nodeCalled(network, said)))];
  if (selector !== undefined) return selectNodes(network, selector);
  throw new Refusal(
    "Say which nodes. By nodeIds, or by a selector: names, a type, type == 'cat' and age > 4, or * for all.",
  );
}

/** The node with this id or name, or with a name that has this in it and is the only one. */
export function nodeCalled({ nodes, title }: Network, said: string): NetworkNode {
  const wanted = said.trim().toLowerCase();
  const exact =
    nodes.find(({ id }) => id === said.trim()) ??
    nodes.find((node) => nameOf(node).toLowerCase() === wanted || node.id.toLowerCase() === wanted);
  if (exact) return exact;
  const similar = wanted === "" ? [] : nodes.filter((node) => nameOf(node).toLowerCase().includes(wanted));
  if (similar.length === 1 && similar[0]) return similar[0];
  const hint =
    similar.length > 1
      ? ` Several have it in their name: ${similar.slice(0, 5).map(nameOf).join(", ")}.`
      : suggestName(said, nodes.map(nameOf));
  throw new Refusal(`There is no node "${said}" in "${title}".${hint}`);
}
