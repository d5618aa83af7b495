import type { Tool } from "capstan";
import { type CommandResult, commandTool, type Desk, type Facts, Refusal, type Shown } from "../command.ts";
import { edgesByNode, type Network, type NetworkNode, nameOf, typesOf } from "../network.ts";
import { nodesSaid } from "../nodes-said.ts";
import { nodeCalled } from "../pick.ts";
import { counted, noNodes, nothingSaid } from "../selection-words.ts";

const queries = [
  "nodeCount",
  "edgeCount",
  "types",
  "edgeTypes",
  "degree",
  "neighbours",
  "node",
  "summary",
] as const;
type Input = { readonly query: (typeof queries)[number]; readonly node?: string };

export function queryGraph(desk: Desk): Tool {
  return commandTool<Input>(desk, {
    name: "queryGraph",
    description:
      "Counts nodes or edges, lists their types, or tells about one node: its degree, its neighbours, or all its properties. `degree`, `neighbours` and `node` need `node`.",
    input: {
      query: { type: "string", enum: [...queries], description: "What to ask" },
      node: { type: "string", description: "Name or id of the node, for degree, neighbours and node" },
    },
    required: ["query"],
    effects: "none",
    examples: [
      { phrase: "how many nodes are there", input: { query: "nodeCount" } },
      { phrase: "number of nodes", input: { query: "nodeCount" } },
      { phrase: "how many edges are there", input: { query: "edgeCount" } },
      { phrase: "how many edges does the graph have", input: { query: "edgeCount" } },
      { phrase: "how many nodes does it have", input: { query: "nodeCount" } },
      { phrase: "number of edges", input: { query: "edgeCount" } },
      { phrase: "what types of nodes are there", input: { query: "types" } },
      { phrase: "what kinds of edges exist", input: { query: "edgeTypes" } },
      { phrase: "list all edge types", input: { query: "edgeTypes" } },
      { phrase: "how many connections does {node} have", input: { query: "degree" } },
      { phrase: "degree of {node}", input: { query: "degree" } },
      { phrase: "neighbours of {node}", input: { query: "neighbours" } },
      { phrase: "what is connected to {node}", input: { query: "neighbours" } },
      { phrase: "who is connected to {node}", input: { query: "neighbours" } },
      { phrase: "who owns {node}", input: { query: "neighbours" } },
      { phrase: "who is the owner of {node}", input: { query: "neighbours" } },
      { phrase: "where does {node} live", input: { query: "neighbours" } },
      { phrase: "tell me about {node}", input: { query: "node" } },
      { phrase: "tell me more about {node}", input: { query: "node" } },
      { phrase: "who is {node}", input: { query: "node" } },
      { phrase: "how old is {node}", input: { query: "node" } },
      { phrase: "describe the node {node}", input: { query: "node" } },
      { phrase: "how many nodes and edges are there", input: { query: "summary" } },
      { phrase: "give an overview of the graph", input: { query: "summary" } },
      { phrase: "tell me about the graph", input: { query: "summary" } },
    ],
    carryOut({ query, node }, { network }) {
      const needsNode = query === "degree" || query === "neighbours" || query === "node";
      if (needsNode && !node) throw new Refusal(`For "${query}", say which node.`);
      if (query === "node") return aboutSome(network, node ?? "");
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

/** All properties of a node, or of some: people name a type as well. What is not there is no failure. */
function aboutSome(network: Network, words: string): readonly [CommandResult, Shown] {
  const found = nodesSaid(network, words) ?? [];
  const flash = found.map(({ id }) => id);
  const [node] = found;
  if (!node) {
    const data = { count: 0, types: typesOf(network.nodes) };
    return [{ ...said(noNodes(network, words), data), note: nothingSaid(words) }, {}];
  }
  const edges = edgesByNode(network);
  const nodes = found.map((one) => ({
    id: one.id,
    ...one.data,
    connections: edges.get(one.id)?.length ?? 0,
  }));
  if (found.length > 1)
    return [said(`${counted(found.length, "node")}: ${found.map(nameOf).join(", ")}.`, { nodes }), { flash }];
  return [
    said(`${nameOf(node)}: ${inWords(node, edges.get(node.id)?.length ?? 0)}.`, nodes[0] ?? {}),
    { flash },
  ];
}

function inWords({ data }: NetworkNode, connections: number): string {
  const { type, name: _, ...others } = data;
  const told = Object.entries(others).map(([property, value]) => `${property} ${value}`);
  return [...(type === undefined ? [] : [type]), ...told, counted(connections, "connection")].join(", ");
}

const said = (message: string, data: Facts): CommandResult => ({ success: true, message, data });
