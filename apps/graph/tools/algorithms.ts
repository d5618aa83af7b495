import type { Tool } from "capstan";
import { connectedComponents } from "graphology-components";
import { pagerank } from "graphology-metrics/centrality/index.js";
import { bidirectional } from "graphology-shortest-path";
import { type CommandResult, defineCommand, type Facts, type GraphContext, Refusal } from "../command.ts";
import {
  getName,
  groupEdgesByNode,
  type Network,
  type NetworkNode,
  toGraphology,
  toId,
  toKey,
} from "../network.ts";
import { getNode } from "../pick-nodes.ts";
import { formatCount } from "../selection.ts";

type Input = {
  readonly algorithm: string;
  readonly from?: string;
  readonly to?: string;
  readonly top?: number;
};
type AlgorithmResult = { readonly message: string; readonly data: Facts; readonly flash: readonly string[] };
type Algorithm = {
  readonly title: string;
  readonly about: string;
  run(network: Network, input: Input): AlgorithmResult;
};

const algorithms: { readonly [name: string]: Algorithm } = {
  degree: {
    title: "degree",
    about: "The nodes with the most connections.",
    run(network, { top }) {
      const edges = groupEdgesByNode(network);
      return rankNodes(network, top, { name: "degree", compute: ({ id }) => edges.get(id)?.length ?? 0 });
    },
  },
  components: {
    title: "connected components",
    about: "The connected parts of the graph, ignoring the direction of edges.",
    run: findComponents,
  },
  shortestPath: {
    title: "shortest path",
    about: "The shortest path between two nodes, ignoring the direction of edges; needs from and to.",
    run: findShortestPath,
  },
  pageRank: {
    title: "PageRank",
    about: "The nodes that other important nodes point to.",
    run(network, { top }) {
      const ranks = pagerank(toGraphology(network), { getEdgeWeight: null });
      return rankNodes(network, top, {
        name: "rank",
        compute: ({ id }) => Number((ranks[toKey(id)] ?? 0).toFixed(4)),
      });
    },
  },
};

export function listAlgorithms(graphContext: GraphContext): Tool {
  return defineCommand(graphContext, {
    name: "listAlgorithms",
    description: "Lists the algorithms that runAlgorithm can run.",
    input: {},
    effects: "none",
    // The list never changes.
    cacheMs: 86_400_000,
    examples: [
      { phrase: "which algorithms can you run" },
      { phrase: "list the algorithms" },
      { phrase: "show me the algorithms" },
    ],
    run() {
      const list = Object.entries(algorithms).map(([id, { title, about }]) => ({
        name: title,
        about,
        algorithm: id,
      }));
      return [{ success: true, message: `There are ${list.length} algorithms.`, data: { algorithms: list } }];
    },
  });
}

export function runAlgorithm(graphContext: GraphContext): Tool {
  return defineCommand<Input>(graphContext, {
    name: "runAlgorithm",
    description: `Runs an algorithm on the graph: ${Object.keys(algorithms).join(", ")}. A shortest path needs \`from\` and \`to\`.`,
    input: {
      algorithm: { type: "string", enum: Object.keys(algorithms), description: "Which algorithm" },
      from: { type: "string", description: "For shortestPath: name or id of the first node" },
      to: { type: "string", description: "For shortestPath: name or id of the last node" },
      top: {
        type: "integer",
        minimum: 1,
        maximum: 100,
        default: 5,
        description: "For rankings: number of nodes",
      },
    },
    required: ["algorithm"],
    effects: "none",
    examples: [
      { phrase: "run {algorithm}" },
      { phrase: "who has the most connections", input: { algorithm: "degree" } },
      { phrase: "which node has the most connections", input: { algorithm: "degree" } },
      { phrase: "who has the most links", input: { algorithm: "degree" } },
      { phrase: "which node has the most links", input: { algorithm: "degree" } },
      { phrase: "which node has the most edges", input: { algorithm: "degree" } },
      { phrase: "who is the most connected", input: { algorithm: "degree" } },
      { phrase: "what is the most connected node", input: { algorithm: "degree" } },
      { phrase: "which nodes are the most connected", input: { algorithm: "degree" } },
      { phrase: "who is the most important", input: { algorithm: "pageRank" } },
      { phrase: "which nodes are the most important", input: { algorithm: "pageRank" } },
      { phrase: "how many connected components are there", input: { algorithm: "components" } },
      { phrase: "shortest path from {from} to {to}", input: { algorithm: "shortestPath" } },
      { phrase: "path from {from} to {to}", input: { algorithm: "shortestPath" } },
      { phrase: "how do I get from {from} to {to}", input: { algorithm: "shortestPath" } },
      { phrase: "how far is it from {from} to {to}", input: { algorithm: "shortestPath" } },
      { phrase: "how is {from} connected to {to}", input: { algorithm: "shortestPath" } },
      { phrase: "how are {from} and {to} connected", input: { algorithm: "shortestPath" } },
    ],
    run(input, { network }) {
      const algorithm = Object.hasOwn(algorithms, input.algorithm) ? algorithms[input.algorithm] : undefined;
      if (!algorithm) throw new Refusal(`Unknown algorithm "${input.algorithm}".`);
      const { message, data, flash } = algorithm.run(network, input);
      const result: CommandResult = { success: true, message, data };
      return [result, { flash, replies: ["Which algorithms can you run?"] }];
    },
  });
}

type Score = { readonly name: string; compute(node: NetworkNode): number };

function rankNodes({ nodes }: Network, top = 5, score: Score): AlgorithmResult {
  const scored = nodes.map((node) => ({ node, score: score.compute(node) }));
  const best = scored.sort((left, right) => right.score - left.score).slice(0, top);
  const list = best.map(({ node, score: value }) => ({
    id: node.id,
    name: getName(node),
    [score.name]: value,
  }));
  return {
    message: `The ${list.length} nodes with the highest ${score.name}.`,
    data: { nodes: list },
    flash: best.map(({ node }) => node.id),
  };
}

function findComponents(network: Network): AlgorithmResult {
  const byId = new Map(network.nodes.map((node) => [node.id, getName(node)]));
  const parts = connectedComponents(toGraphology(network))
    .map((keys) => keys.map(toId))
    .sort((left, right) => right.length - left.length);
  const largest = parts.slice(0, 10).map((ids) => {
    return { size: ids.length, names: ids.slice(0, 5).map((id) => byId.get(id) ?? id) };
  });
  const count = parts.length;
  return {
    message: `The graph has ${count} connected ${count === 1 ? "component" : "components"}.`,
    data: { componentCount: count, components: largest },
    flash: parts[0] ?? [],
  };
}

function findShortestPath(network: Network, { from, to }: Input): AlgorithmResult {
  if (!from || !to) throw new Refusal("A shortest path needs two nodes: from and to.");
  const [first, last] = [getNode(network, from), getNode(network, to)];
  const graph = toGraphology({ ...network, isDirected: false });
  const found = bidirectional(graph, toKey(first.id), toKey(last.id))?.map(toId);
  const ends = `from ${getName(first)} to ${getName(last)}`;
  if (!found)
    return { message: `There is no path ${ends}.`, data: { steps: null }, flash: [first.id, last.id] };
  const byId = new Map(network.nodes.map((node) => [node.id, getName(node)]));
  const path = found.map((id) => byId.get(id) ?? id);
  const steps = found.length - 1;
  return {
    message: `The shortest path ${ends} has ${formatCount(steps, "step")}.`,
    data: { steps, path },
    flash: found,
  };
}
