import type { Json, Tool } from "capstan";
import { type CommandResult, commandTool, type Desk, Refusal } from "../command.ts";
import { edgesByNode, type Network, type NetworkNode, nameOf, typesOf } from "../network.ts";
import { nodeCalled } from "../pick.ts";
import { counted } from "../selection-words.ts";

const queries = ["nodeCount", "edgeCount", "types", "edgeTypes", "degree", "neighbours", "summary"] as const;
type Input = { readonly query: (typeof queries)[number]; readonly node?: string };

export function queryGraph(desk: Desk): Tool {
  return commandTool<Input>(desk, {
    name: "queryGraph",
    description:
      "Counts nodes or edges, lists their types, or tells the degree or the neighbours of one node. `degree` and `neighbours` need `node`.",
    input: {
      query: { type: "string", enum: [...queries], description: "What to ask" },
      node: { type: "string", description: "Name or id of the node, for degree and neighbours" },
    },
    required: ["query"],
    effects: "none",
    examples: [
      { says: "how many nodes are there", input: { query: "nodeCount" } },
      { says: "number of nodes", input: { query: "nodeCount" } },
      { says: "how many edges are there", input: { query: "edgeCount" } },
      { says: "how many edges does the graph have", input: { query: "edgeCount" } },
      { says: "how many nodes does it have", input: { query: "nodeCount" } },
      { says: "number of edges", input: { query: "edgeCount" } },
      { says: "what types of nodes are there", input: { query: "types" } },
      { says: "what kinds of edges exist", input: { query: "edgeTypes" } },
      { says: "list all edge types", input: { query: "edgeTypes" } },
      { says: "how many connections does {node} have", input: { query: "degree" } },
      { says: "degree of {node}", input: { query: "degree" } },
      { says: "neighbours of {node}", input: { query: "neighbours" } },
      { says: "what is connected to {node}", input: { query: "neighbours" } },
      { says: "how many nodes and edges are there", input: { query: "summary" } },
      { says: "give an overview of the graph", input: { query: "summary" } },
    ],
    carryOut({ query, node }, { network }) {
      const needsNode = query === "degree" || query === "neighbours";
      if (needsNode && !node) throw new Refusal(`For "${query}", say which node.`);
      const one = needsNode ? nodeCalled(network, node ?? "") : undefined;
      const result = one ? aboutNode(network, one, query === "degree") : aboutGraph(network, query);
      return [
        result,
        { ...(one && { flash: [one.id] }), replies: ["What are some sample nodes?", "Run PageRank"] },
      ];
    },
  });
}

function aboutGraph(network: Network, query: Input["query"]): CommandResult {
  const { nodes, edges, title } = network;
  const [nodeCount, edgeCount] = [nodes.length, edges.length];
  switch (query) {
    case "nodeCount":
      return said(`The graph has ${nodeCount} nodes.`, { nodeCount });
    case "edgeCount":
      return said(`The graph has ${edgeCount} edges.`, { edgeCount });
    case "types":
      return said(`The nodes have ${typesOf(nodes).length} types.`, { types: typesOf(nodes) });
    case "edgeTypes":
      return said(`The edges have ${typesOf(edges).length} types.`, { edgeTypes: typesOf(edges) });
    default:
      return said(`${title}: ${nodeCount} nodes and ${edgeCount} edges.`, {
        title,
        nodeCount,
        edgeCount,
        types: typesOf(nodes),
        edgeTypes: typesOf(edges),
      });
  }
}

const mostNeighbours = 50;

function aboutNode(network: Network, node: NetworkNode, isDegree: boolean): CommandResult {
  const edges = edgesByNode(network).get(node.id) ?? [];
  const name = nameOf(node);
  if (isDegree) {
    const outgoing = edges.filter(({ from }) => from === node.id).length;
    const ways = network.isDirected ? { outgoing, incoming: edges.length - outgoing } : {};
    return said(`${name} has ${counted(edges.length, "connection")}.`, {
      id: node.id,
      name,
      degree: edges.length,
      ...ways,
    });
  }
  const byId = new Map(network.nodes.map((other) => [other.id, other]));
  const neighbours = edges.slice(0, mostNeighbours).flatMap(({ from, to, data }) => {
    const other = byId.get(from === node.id ? to : from);
    if (!other) return [];
    const { type = "node" } = other.data;
    return [{ id: other.id, name: nameOf(other), type, by: data.type ?? "edge" }];
  });
  const left = edges.length - neighbours.length;
  return said(
    `${name} is connected to ${counted(edges.length, "node")}${left > 0 ? `; ${left} of them are left out` : ""}.`,
    {
      of: name,
      neighbours,
    },
  );
}

const said = (message: string, data: Json): CommandResult => ({ success: true, message, data });
