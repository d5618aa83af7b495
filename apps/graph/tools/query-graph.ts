import type { Tool, ToolExample } from "capstan";
import {
  type CommandResult,
  defineCommand,
  type Facts,
  type GraphContext,
  type PictureUpdate,
} from "../command.ts";
import { matchNodes } from "../match-nodes.ts";
import {
  countTypes,
  getName,
  groupEdgesByNode,
  listProperties,
  type Network,
  type NetworkNode,
} from "../network.ts";
import { getNode } from "../pick-nodes.ts";
import { formatType } from "../relation.ts";
import { explainNoNodes, formatCount, formatNoNodes, refuseTypo } from "../selection.ts";
import { findPropertyName } from "../selector.ts";
import {
  describeConnection,
  describeNeighbors,
  describeSharing,
  directions,
  requireNames,
} from "./neighbors.ts";

const queries = [
  "nodeCount",
  "edgeCount",
  "types",
  "edgeTypes",
  "degree",
  "neighbours",
  "shared",
  "connection",
  "node",
  "summary",
] as const;
type Input = {
  readonly query: (typeof queries)[number];
  readonly node?: string;
  readonly other?: string;
  readonly property?: string;
  readonly relation?: string;
  readonly direction?: (typeof directions)[number];
};

/** The types of edges become examples: "who sails {node}". */
export function queryGraph(graphContext: GraphContext, edgeTypes: readonly string[] = []): Tool {
  return defineCommand<Input>(graphContext, {
    name: "queryGraph",
    description:
      "Counts nodes or edges, lists their types, or describes one node: its degree, its neighbors, the nodes that share a neighbor with it (`shared`), its connection to another one, or all its properties. All of these need `node`; `connection` also needs `other`.",
    input: {
      query: { type: "string", enum: [...queries], description: "What to ask" },
      node: {
        type: "string",
        description: "Name or id of the node; for neighbours and node also a type",
      },
      other: { type: "string", description: "For connection: name or id of the other node" },
      property: { type: "string", description: "For node: only this property" },
      relation: {
        type: "string",
        description:
          "For neighbours, shared and connection: only by this kind of edge, such as owner_of or owns",
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
      ...edgeTypes.flatMap(createExamples),
      { phrase: "tell me about {node}", input: { query: "node" } },
      { phrase: "tell me more about {node}", input: { query: "node" } },
      { phrase: "who is {node}", input: { query: "node" } },
      { phrase: "how old is {node}", input: { query: "node" } },
      { phrase: "what is the {property} of {node}", input: { query: "node" } },
      { phrase: "what {property} is {node}", input: { query: "node" } },
      { phrase: "what {property} does {node} have", input: { query: "node" } },
      { phrase: "how many {property} does {node} have", input: { query: "node" } },
      { phrase: "describe the node {node}", input: { query: "node" } },
      { phrase: "how many nodes and edges are there", input: { query: "summary" } },
      { phrase: "give an overview of the graph", input: { query: "summary" } },
      { phrase: "tell me about the graph", input: { query: "summary" } },
      { phrase: "what am I looking at", input: { query: "summary" } },
      { phrase: "what is this graph about", input: { query: "summary" } },
      { phrase: "what kinds of things are in the graph", input: { query: "types" } },
      { phrase: "what kinds of things are there", input: { query: "types" } },
    ],
    run(input, { network }) {
      const { query, node = "", property } = input;
      if (query === "node" && node !== "") return describeNodes(network, node, property);
      const result = describe(network, input);
      const target = node === "" ? undefined : matchNodes(network, node)?.map(({ id }) => id);
      return [
        result,
        { ...(target && { flash: target }), replies: ["What are some sample nodes?", "Run PageRank"] },
      ];
    },
  });
}

function describe(
  network: Network,
  { query, node = "", other = "", relation, direction = "both" }: Input,
): CommandResult {
  switch (query) {
    case "degree":
    case "neighbours":
    case "shared":
    case "node":
      requireNames(query, node);
      break;
    case "connection":
      requireNames(query, node, other);
      return describeConnection(network, [node, other], relation);
  }
  if (query === "degree") return describeDegree(network, getNode(network, node));
  if (query === "neighbours") return describeNeighbors(network, node, { relation, direction });
  if (query === "shared") return describeSharing(network, node, { relation, direction });
  return describeGraph(network, query);
}

function describeGraph(network: Network, query: Input["query"]): CommandResult {
  const { nodes, edges, title } = network;
  const [nodeCount, edgeCount] = [nodes.length, edges.length];
  switch (query) {
    case "nodeCount":
      return createResult(`The graph has ${formatCount(nodeCount, "node")}.`, { nodeCount });
    case "edgeCount":
      return createResult(`The graph has ${formatCount(edgeCount, "edge")}.`, { edgeCount });
    case "types":
      return createResult(`The nodes have ${formatCount(countTypes(nodes).length, "type")}.`, {
        types: countTypes(nodes),
      });
    case "edgeTypes":
      return createResult(`The edges have ${formatCount(countTypes(edges).length, "type")}.`, {
        edgeTypes: countTypes(edges),
      });
    default:
      return createResult(
        `${title}: ${formatCount(nodeCount, "node")} and ${formatCount(edgeCount, "edge")}.`,
        {
          title,
          nodeCount,
          edgeCount,
          types: countTypes(nodes),
          edgeTypes: countTypes(edges),
        },
      );
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
  { phrase: "what does {node} {relation}", input: { query: "neighbours", direction: "outgoing" } },
  { phrase: "what do {node} {relation}", input: { query: "neighbours", direction: "outgoing" } },
  { phrase: "who does {node} {relation}", input: { query: "neighbours" } },
  { phrase: "who lives with {node}", input: { query: "shared", relation: "lives" } },
  { phrase: "who lives in the same {type} as {node}", input: { query: "shared", relation: "lives" } },
  { phrase: "who has the same {relation} as {node}", input: { query: "shared" } },
  { phrase: "does {node} know {other}", input: { query: "connection", relation: "know" } },
  { phrase: "does {node} own {other}", input: { query: "connection", relation: "own" } },
  { phrase: "does {node} live in {other}", input: { query: "connection", relation: "live" } },
  { phrase: "is {node} a friend of {other}", input: { query: "connection", relation: "friend" } },
  { phrase: "are {node} and {other} friends", input: { query: "connection", relation: "friend" } },
  { phrase: "is {node} connected to {other}", input: { query: "connection" } },
  { phrase: "neighbours of {node} by {relation}", input: { query: "neighbours" } },
];

function createExamples(type: string): readonly ToolExample[] {
  const words = formatType(type).toLowerCase();
  if (words === "" || words.length > 30) return [];
  const input = { query: "neighbours", relation: type };
  return [
    { phrase: `who ${words} {node}`, input: { ...input, direction: "incoming" } },
    { phrase: `what is {node} ${words}`, input: { ...input, direction: "outgoing" } },
  ];
}

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

/** Describes nodes by name or type. No match is not an error. */
function describeNodes(
  network: Network,
  words: string,
  property: string | undefined,
): readonly [CommandResult, PictureUpdate] {
  const found = matchNodes(network, words) ?? [];
  const flash = found.map(({ id }) => id);
  const [node] = found;
  if (!node) {
    refuseTypo(network, words);
    const data = { count: 0, types: countTypes(network.nodes) };
    return [{ ...createResult(explainNoNodes(network, words), data), note: formatNoNodes(words) }, {}];
  }
  const edges = groupEdgesByNode(network);
  const nodes = found.map((match) => ({
    id: match.id,
    ...match.data,
    connections: edges.get(match.id)?.length ?? 0,
  }));
  if (property !== undefined) return [describeValues(found, property), { flash }];
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

function describeValues(found: readonly NetworkNode[], property: string): CommandResult {
  const name = findPropertyName(property, listProperties(found));
  const owners = found.filter(({ data }) => name !== undefined && Object.hasOwn(data, name));
  if (name === undefined || owners.length === 0) {
    const note = `No "${property}" is recorded for "${found.map(getName).slice(0, 5).join(", ")}".`;
    return { ...createResult(note, { nodes: [] }), note };
  }
  const nodes = owners.map(({ id, data }) => ({ id, name: getName({ id, data }), [name]: data[name] ?? "" }));
  return createResult(`The ${name} of ${formatCount(nodes.length, "node")}.`, { nodes });
}

function formatProperties({ data }: NetworkNode, connections: number): string {
  const { type, name: _, ...others } = data;
  const properties = Object.entries(others).map(([property, value]) => `${property} ${value}`);
  return [...(type === undefined ? [] : [type]), ...properties, formatCount(connections, "connection")].join(
    ", ",
  );
}

const createResult = (message: string, data: Facts): CommandResult => ({ success: true, message, data });
