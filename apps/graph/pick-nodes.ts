// Selects the nodes and edges for a command: by ids, by names, or by a selector.

import { suggestName } from "capstan";
import { Refusal } from "./command.ts";
import { findType, getPlainText, matchNodes } from "./match-nodes.ts";
import {
  getName,
  groupEdgesByNode,
  type Network,
  type NetworkEdge,
  type NetworkNode,
  type Properties,
} from "./network.ts";
import { parseSelector } from "./selector.ts";

export type NodeSelection = { readonly nodeIds?: readonly string[]; readonly selector?: string };

/** Selects nodes by a selector or by plain text. A selector can also use `id` and `degree`. */
export function selectNodes(network: Network, selector: string): readonly NetworkNode[] {
  const plainText = getPlainText(selector);
  if (plainText !== undefined) return matchNodes(network, plainText) ?? [];
  const edges = groupEdgesByNode(network);
  const members = network.nodes.map((node) => ({
    member: node,
    properties: { ...node.data, id: node.id, degree: edges.get(node.id)?.length ?? 0 },
  }));
  return selectMembers(members, resolveTypes(network, selector), "node");
}

/** Replaces the types of a selector by those of the graph: `people` by `human`. */
const resolveTypes = ({ nodes }: Network, selector: string): string =>
  selector.replaceAll(/(?<=\btype\s*==\s*)(['"])([^'"]*)\1/gu, (quoted, quote: string, type: string) => {
    const known = findType(nodes, type);
    return known === undefined ? quoted : `${quote}${known}${quote}`;
  });

/** Selects edges by a selector, which can also use `id`, `from`, `to`, `fromName` and `toName`. */
export function selectEdges(network: Network, selector: string): readonly NetworkEdge[] {
  const names = new Map(network.nodes.map((node) => [node.id, getName(node)]));
  const members = network.edges.map((edge) => ({
    member: edge,
    properties: {
      ...edge.data,
      id: edge.id,
      from: edge.from,
      to: edge.to,
      fromName: names.get(edge.from) ?? "",
      toName: names.get(edge.to) ?? "",
    },
  }));
  return selectMembers(members, selector, "edge");
}

type Member<Kind> = { readonly member: Kind; readonly properties: Properties };

function selectMembers<Kind>(
  members: readonly Member<Kind>[],
  source: string,
  memberName: string,
): readonly Kind[] {
  const known = [...new Set(members.flatMap(({ properties }) => Object.keys(properties)))];
  const selector = parseSelector(source, known);
  const unknown = selector.properties.find((property) => !known.includes(property));
  if (unknown !== undefined && members.length > 0)
    throw new Refusal(
      `No ${memberName} has the property "${unknown}".${suggestName(unknown, known)} Known properties: ${known.join(", ")}.`,
    );
  return members.filter(({ properties }) => selector.matches(properties)).map(({ member }) => member);
}

/** Stands for many ids in a list of ids. */
export const selectorPrefix = "selector: ";

/** Selects nodes by ids or names, or by a selector. Throws a refusal without either. */
export function pickNodes(network: Network, { nodeIds, selector }: NodeSelection): readonly NetworkNode[] {
  if (nodeIds !== undefined)
    return [
      ...new Set(
        nodeIds.flatMap((nameOrId) =>
          nameOrId.startsWith(selectorPrefix)
            ? selectNodes(network, nameOrId.slice(selectorPrefix.length))
            : getNode(network, nameOrId),
        ),
      ),
    ];
  if (selector !== undefined) return selectNodes(network, selector);
  throw new Refusal(
    "Specify the nodes with nodeIds or a selector: names, a type, type == 'cat' and age > 4, or * for all.",
  );
}

/** Finds a node by id, by name, or by a part of the name that only one node has. */
export function getNode({ nodes, title }: Network, nameOrId: string): NetworkNode {
  const normalizedName = nameOrId.trim().toLowerCase();
  const exact =
    nodes.find(({ id }) => id === nameOrId.trim()) ??
    nodes.find(
      (node) => getName(node).toLowerCase() === normalizedName || node.id.toLowerCase() === normalizedName,
    );
  if (exact) return exact;
  const similar =
    normalizedName === "" ? [] : nodes.filter((node) => getName(node).toLowerCase().includes(normalizedName));
  if (similar.length === 1 && similar[0]) return similar[0];
  const hint =
    similar.length > 1
      ? ` Several names contain it: ${similar.slice(0, 5).map(getName).join(", ")}.`
      : suggestName(nameOrId, nodes.map(getName));
  throw new Refusal(`Node "${nameOrId}" not found in "${title}".${hint}`);
}
