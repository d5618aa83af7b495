import type { Tool } from "capstan";
import type { MultiGraph } from "graphology";
import { connectedComponents } from "graphology-components";
import pagerankModule from "graphology-metrics/centrality/pagerank.js";
import { bidirectional } from "graphology-shortest-path";
import { type CommandResult, commandTool, type Desk, type Facts, Refusal } from "../command.ts";
import {
  edgesByNode,
  graphologyOf,
  idOf,
  keyOf,
  type Network,
  type NetworkNode,
  nameOf,
} from "../network.ts";
import { nodeCalled } from "../pick.ts";
import { counted } from "../selection-words.ts";

// Its types describe another form of module than the one that is loaded.
const pagerank = pagerankModule as unknown as (
  graph: MultiGraph,
  options: { readonly getEdgeWeight: null },
) => { readonly [id: string]: number };

type Input = {
  readonly algorithm: string;
  readonly from?: string;
  readonly to?: string;
  readonly top?: number;
};
type Found = { readonly message: string; readonly data: Facts; readonly flash: readonly string[] };
type Algorithm = {
  readonly title: string;
  readonly about: string;
  run(network: Network, input: Input): Found;
};

const algorithms: { readonly [name: string]: Algorithm } = {
  degree: {
    title: "degree",
    about: "The nodes with the most connections.",
    run(network, { top }) {
      const edges = edgesByNode(network);
      return ranked(network, top, { name: "degree", of: ({ id }) => edges.get(id)?.length ?? 0 });
    },
  },
  components: {
    title: "connected components",
    about: "The parts of the graph that hang together, whatever the direction of edges.",
    run: components,
  },
  shortestPath: {
    title: "shortest path",
    about: "The fewest steps from one node to another, whatever the direction of edges; needs from and to.",
    run: shortestPath,
  },
  pageRank: {
    title: "PageRank",
    about: "The nodes that important nodes point to.",
    run(network, { top }) {
      const ranks = pagerank(graphologyOf(network), { getEdgeWeight: null });
      return ranked(network, top, {
        name: "rank",
        of: ({ id }) => Number((ranks[keyOf(id)] ?? 0).toFixed(4)),
      });
    },
  },
};

export function listAlgorithms(desk: Desk): Tool {
  return commandTool(desk, {
    name: "listAlgorithms",
    description: "Lists the algorithms that runAlgorithm can run.",
    input: {},
    effects: "none",
    examples: [
      { phrase: "which algorithms can you run" },
      { phrase: "list the algorithms" },
      { phrase: "show me the algorithms" },
    ],
    carryOut() {
      const list = Object.entries(algorithms).map(([id, { title, about }]) => ({
        name: title,
        about,
        algorithm: id,
      }));
      return [{ success: true, message: `There are ${list.length} algorithms.`, data: { algorithms: list } }];
    },
  });
}

export function runAlgorithm(desk: Desk): Tool {
  return commandTool<Input>(desk, {
    name: "runAlgorithm",
    description: `Runs an algorithm on the graph: ${Object.keys(algorithms).join(", ")}. A shortest path needs \`from\` and \`to\`.`,
    input: {
      algorithm: { type: "string", enum: Object.keys(algorithms), description: "Which algorithm" },
      from: { type: "string", description: "Of a shortest path: name or id of the first node" },
      to: { type: "string", description: "Of a shortest path: name or id of the last node" },
      top: {
        type: "integer",
        minimum: 1,
        maximum: 100,
        default: 5,
        description: "Of a ranking: how many nodes",
      },
    },
    required: ["algorithm"],
    effects: "none",
    examples: [
      { phrase: "run {algorithm}" },
      { phrase: "who has the most connections", input: { algorithm: "degree" } },
      { phrase: "which node has the most connections", input: { algorithm: "degree" } },
      { phrase: "who is the most connected", input: { algorithm: "degree" } },
      { phrase: "what is the most connected node", input: { algorithm: "degree" } },
      { phrase: "which nodes are the most connected", input: { algorithm: "degree" } },
      { phrase: "who is the most important", input: { algorithm: "pageRank" } },
      { phrase: "which nodes are the most important", input: { algorithm: "pageRank" } },
      { phrase: "how many connected components are there", input: { algorithm: "components" } },
      { phrase: "shortest path from {from} to {to}", input: { algorithm: "shortestPath" } },
      { phrase: "how is {from} connected to {to}", input: { algorithm: "shortestPath" } },
    ],
    carryOut(input, { network }) {
      const algorithm = Object.hasOwn(algorithms, input.algorithm) ? algorithms[input.algorithm] : undefined;
      if (!algorithm) throw new Refusal(`There is no algorithm "${input.algorithm}".`);
      const { message, data, flash } = algorithm.run(network, input);
      const result: CommandResult = { success: true, message, data };
      return [result, { flash, replies: ["Which algorithms can you run?"] }];
    },
  });
}

type Score = { readonly name: string; of(node: NetworkNode): number };

function ranked({ nodes }: Network, top = 5, score: Score): Found {
  const scored = nodes.map((node) => ({ node, score: score.of(node) }));
  const best = scored.sort((left, right) => right.score - left.score).slice(0, top);
  const list = best.map(({ node, score: value }) => ({
    id: node.id,
    name: nameOf(node),
    [score.name]: value,
  }));
  return {
    message: `The ${list.length} nodes with the highest ${score.name}.`,
    data: { nodes: list },
    flash: best.map(({ node }) => node.id),
  };
}

function components(network: Network): Found {
  const byId = new Map(network.nodes.map((node) => [node.id, nameOf(node)]));
  const parts = connectedComponents(graphologyOf(network))
    .map((keys) => keys.map(idOf))
    .sort((left, right) => right.length - left.length);
  const largest = parts.slice(0, 10).map((ids) => {
    return { size: ids.length, names: ids.slice(0, 5).map((id) => byId.get(id) ?? id) };
  });
  const count = parts.length;
  return {
    message: `The graph has ${count} connected ${count === 1 ? "component" : "components"}.`,
    data: { count, largest },
    flash: parts[0] ?? [],
  };
}

function shortestPath(network: Network, { from, to }: Input): Found {
  if (!from || !to) throw new Refusal("A shortest path needs two nodes: from and to.");
  const [first, last] = [nodeCalled(network, from), nodeCalled(network, to)];
  const graph = graphologyOf({ ...network, isDirected: false });
  const found = bidirectional(graph, keyOf(first.id), keyOf(last.id))?.map(idOf);
  const ends = `from ${nameOf(first)} to ${nameOf(last)}`;
  if (!found)
    return { message: `There is no path ${ends}.`, data: { steps: null }, flash: [first.id, last.id] };
  const byId = new Map(network.nodes.map((node) => [node.id, nameOf(node)]));
  const path = found.map((id) => byId.get(id) ?? id);
  const steps = found.length - 1;
  return {
    message: `The shortest path ${ends} has ${counted(steps, "step")}.`,
    data: { steps, path },
    flash: found,
  };
}
