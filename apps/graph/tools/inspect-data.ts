import type { Json, Tool } from "capstan";
import { defineCommand, type Facts, type GraphContext, getGraphCacheMs } from "../command.ts";
import { describeTypes, getName, type Network } from "../network.ts";
import { formatCount, targetInput } from "../selection.ts";

type Target = "nodes" | "edges";
export function sampleData(graphContext: GraphContext): Tool {
  return defineCommand<{ readonly target?: Target; readonly count?: number }>(graphContext, {
    name: "sampleData",
    description: "Returns a few nodes or edges with all their properties, as samples of the graph.",
    input: {
      target: targetInput,
      count: { type: "integer", minimum: 1, maximum: 1000, default: 3, description: "How many" },
    },
    effects: "none",
    cacheMs: getGraphCacheMs(graphContext),
    examples: [
      { phrase: "what are some sample nodes", input: { target: "nodes" } },
      { phrase: "show {count} sample nodes", input: { target: "nodes" } },
      { phrase: "what are some sample edges", input: { target: "edges" } },
      { phrase: "show {count} sample edges", input: { target: "edges" } },
      { phrase: "show me the edges", input: { target: "edges" } },
      { phrase: "show me some example nodes", input: { target: "nodes" } },
      { phrase: "show {count} example nodes", input: { target: "nodes" } },
    ],
    run({ target = "nodes", count = 3 }, { network }) {
      const samples = target === "nodes" ? sampleNodes(network, count) : sampleEdges(network, count);
      const message = `Returned ${formatCount(samples.length, target === "nodes" ? "node sample" : "edge sample")}.`;
      return [{ success: true, message, data: { total: network[target].length, [target]: samples } }];
    },
  });
}

const sampleNodes = ({ nodes }: Network, count: number): Json[] =>
  nodes.slice(0, count).map(({ id, data }) => ({ id, data }));

function sampleEdges({ nodes, edges }: Network, count: number): Json[] {
  const names = new Map(nodes.map((node) => [node.id, getName(node)]));
  return edges.slice(0, count).map(({ id, from, to, data }) => {
    return { id, from: names.get(from) ?? from, to: names.get(to) ?? to, data };
  });
}

export function getSchema(graphContext: GraphContext): Tool {
  return defineCommand(graphContext, {
    name: "getSchema",
    description: "Returns the node and edge types of the open graph, with counts and properties.",
    input: {},
    effects: "none",
    examples: [
      { phrase: "describe the schema" },
      { phrase: "show me the schema" },
      { phrase: "which properties do the nodes have" },
      { phrase: "what is in this graph" },
    ],
    run(_, { network }) {
      const { title, nodes, edges } = network;
      const message = `"${title}" has ${formatCount(nodes.length, "node")} and ${formatCount(edges.length, "edge")}.`;
      return [{ success: true, message, data: describeSchema(network) }, {}];
    },
  });
}

export function describeSchema({ name, nodes, edges }: Network): Facts {
  return {
    graph: name,
    nodeCount: nodes.length,
    edgeCount: edges.length,
    nodeTypes: describeTypes(nodes),
    edgeTypes: describeTypes(edges),
  };
}
