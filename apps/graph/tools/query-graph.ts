import type { Tool, ToolExample } from "capstan";
import {
  type CommandResult,
  defineCommand,
  type Facts,
  type GraphContext,
  type PictureUpdate,
  Refusal,
} from "../command.ts";
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
import { matchRelation } from "../relation.ts";
import { explainNoNodes, formatCount, formatNoNodes } from "../selection.ts";

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
const directions = ["incoming", "outgoing", "both"] as const;
type Input = {
  readonly query: (typeof queries)[number];
  readonly node?: string;
  readonly relation?: string;
  readonly direction?: (typeof directions)[number];
};

/** The types of edges become examples: "who sails {node}". */
export function queryGraph(graphContext: GraphContext, edgeTypes: readonly string[] = []): Tool {
  return defineCommand<Input>(graphContext, {
    name: "queryGraph",
    description:
      "Counts nodes or edges, lists their types, or describes one node: its degree, its neighbors, or all its properties. `degree`, `neighbours` and `node` need `node`.",
    input: {
      query: { type: "string", enum: [...queries], description: "What to ask" },
      node: { type: "string", description: "Name or id of the node, for degree, neighbours and node" },
      relation: {
        type: "string",
        description: "For neighbours: only by this kind of edge, such as owner_of or owns",
      },
      direction: {
        type: "string",
        enum: [...directions],
        default: "both",
        description: "For neighbours: by edges to the node (incoming) or from it (outgoing)",
      },
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
      ...relationExamples,
      ...edgeTypes.flatMap(createExample),
      { phrase: "tell me about {node}", input: { query: "node" } },
      { phrase: "tell me more about {node}", input: { query: "node" } },
      { phrase: "who is {node}", input: { query: "node" } },
      { phrase: "how old is {node}", input: { query: "node" } },
      { phrase: "describe the node {node}", input: { query: "node" } },
      { phrase: "how many nodes and edges are there", input: { query: "summary" } },
      { phrase: "give an overview of the graph", input: { query: "summary" } },
      { phrase: "tell me about the graph", input: { query: "summary" } },
    ],
    run({ query, node, relation, direction = "both" }, { network }) {
      const needsNode = query === "degree" || query === "neighbours" || query === "node";
      if (needsNode && !node) throw new Refusal(`"${query}" needs a node.`);
      if (query === "node") return describeNodes(network, node ?? "");
      const target = needsNode ? getNode(network, node ?? "") : undefined;
      const result = !target
        ? describeGraph(network, query)
        : query === "degree"
          ? describeDegree(network, target)
          : describeNeighbors(network, target, { relation, direction });
      return [
        result,
        { ...(target && { flash: [target.id] }), replies: ["What are some sample nodes?", "Run PageRank"] },
      ];
    },
  });
}

function describeGraph(network: Network, query: Input["query"]): CommandResult {
  const { nodes, edges, title } = network;
  const [nodeCount, edgeCount] = [nodes.length, edges.length];
  switch (query) {
    case "nodeCount":
      return createResult(`The graph has ${nodeCount} nodes.`, { nodeCount });
    case "edgeCount":
      return createResult(`The graph has ${edgeCount} edges.`, { edgeCount });
    case "types":
      return createResult(`The nodes have ${countTypes(nodes).length} types.`, { types: countTypes(nodes) });
    case "edgeTypes":
      return createResult(`The edges have ${countTypes(edges).length} types.`, {
        edgeTypes: countTypes(edges),
      });
    default:
      return createResult(`${title}: ${nodeCount} nodes and ${edgeCount} edges.`, {
        title,
        nodeCount,
        edgeCount,
        types: countTypes(nodes),
        edgeTypes: countTypes(edges),
      });
  }
}

const relationExamples: readonly ToolExample[] = [
  { phrase: "who owns {node}", input: { query: "neighbours", relation: "owns", direction: "incoming" } },
  { phrase: "who is the owner of {node}", input: { query: "neighbours", relation: "owner" } },
  { phrase: "what does {node} own", input: { query: "neighbours", relation: "owns", direction: "outgoing" } },
  {
    phrase: "where does {node} live",
    input: { query: "neighbours", relation: "lives", direction: "outgoing" },
  },
  { phrase: "who lives in {node}", input: { query: "neighbours", relation: "lives", direction: "incoming" } },
  { phrase: "who are the friends of {node}", input: { query: "neighbours", relation: "friend" } },
  { phrase: "neighbours of {node} by {relation}", input: { query: "neighbours" } },
];

const createExample = (type: string): readonly ToolExample[] => {
  const words = type
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
  const input = { query: "neighbours", relation: type, direction: "incoming" };
  return words === "" || words.length > 30 ? [] : [{ phrase: `who ${words} {node}`, input }];
};

function describeDegree(network: Network, node: NetworkNode): CommandResult {
  const edges = groupEdgesByNode(network).get(node.id) ?? [];
  const name = getName(node);
  const outgoing = edges.filter(({ from }) => from === node.id).length;
  const byDirection = network.isDirected ? { outgoing, incoming: edges.length - outgoing } : {};
  return createResult(`${name} has ${formatCount(edges.length, "connection")}.`, {
    id: node.id,
    name,
    degree: edges.length,
    ...byDirection,
  });
}

const maxNeighbors = 50;
type NeighborOptions = {
  readonly relation: string | undefined;
  readonly direction: (typeof directions)[number];
};

function describeNeighbors(network: Network, node: NetworkNode, options: NeighborOptions): CommandResult {
  const name = getName(node);
  const own = groupEdgesByNode(network).get(node.id) ?? [];
  const edges = filterEdges(own, node, options);
  if (edges.length === 0 && own.length > 0) {
    const note = `${name} has no connection of the kind "${options.relation ?? options.direction}".`;
    const data = { node: name, neighbours: [], edgeTypes: countTypes(own) };
    return {
      ...createResult(`${note} Kinds: ${data.edgeTypes.map(({ type }) => type).join(", ")}.`, data),
      note,
    };
  }
  const byId = new Map(network.nodes.map((other) => [other.id, other]));
  const neighbours = edges.slice(0, maxNeighbors).flatMap(({ from, to, data }) => {
    const other = byId.get(from === node.id ? to : from);
    if (!other) return [];
    const { type = "node" } = other.data;
    return [{ id: other.id, name: getName(other), type, by: data.type ?? "edge" }];
  });
  const omittedCount = edges.length - neighbours.length;
  return createResult(
    `${name} is connected to ${formatCount(edges.length, "node")}${omittedCount > 0 ? `; ${omittedCount} of them are omitted` : ""}.`,
    { node: name, neighbours },
  );
}

function filterEdges(
  edges: readonly NetworkEdge[],
  { id }: NetworkNode,
  { relation, direction }: NeighborOptions,
): readonly NetworkEdge[] {
  const types = relation === undefined ? undefined : matchRelation(edges, relation);
  return edges.filter(
    ({ from, to, data }) =>
      (direction === "both" || (direction === "incoming" ? to : from) === id) &&
      (!types || types.includes(String(data.type))),
  );
}

/** Describes nodes by name or type. No match is not an error. */
function describeNodes(network: Network, words: string): readonly [CommandResult, PictureUpdate] {
  const found = matchNodes(network, words) ?? [];
  const flash = found.map(({ id }) => id);
  const [node] = found;
  if (!node) {
    const data = { count: 0, types: countTypes(network.nodes) };
    return [{ ...createResult(explainNoNodes(network, words), data), note: formatNoNodes(words) }, {}];
  }
  const edges = groupEdgesByNode(network);
  const nodes = found.map((match) => ({
    id: match.id,
    ...match.data,
    connections: edges.get(match.id)?.length ?? 0,
  }));
  if (found.length > 1)
    return [
      createResult(`${formatCount(found.length, "node")}: ${found.map(getName).join(", ")}.`, { nodes }),
      { flash },
    ];
  return [
    createResult(
      `${getName(node)}: ${formatProperties(node, edges.get(node.id)?.length ?? 0)}.`,
      nodes[0] ?? {},
    ),
    { flash },
  ];
}

function formatProperties({ data }: NetworkNode, connections: number): string {
  const { type, name: _, ...others } = data;
  const properties = Object.entries(others).map(([property, value]) => `${property} ${value}`);
  return [...(type === undefined ? [] : [type]), ...properties, formatCount(connections, "connection")].join(
    ", ",
  );
}

const createResult = (message: string, data: Facts): CommandResult => ({ success: true, message, data });
