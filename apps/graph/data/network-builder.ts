import { AgentError } from "capstan";
import type { Network, NetworkEdge, NetworkNode, Properties } from "../network.ts";
import { formatCount } from "../selection.ts";

export type GraphLimits = { readonly nodes: number; readonly edges: number };
export const defaultGraphLimits: GraphLimits = { nodes: 50_000, edges: 250_000 };

/** The limit of the graph widget. */
const maxIdLength = 300;

type NewEdge = {
  readonly id?: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly data: Properties;
};
type EdgeRecord = NewEdge & { readonly from: string; readonly to: string };

/** Why a node or an edge is left out. */
type Problem =
  | "node without an id"
  | "node with the id of another node"
  | "node with an id of more than 300 characters"
  | "edge without two ends"
  | "edge with an end that is not a node";

type ProblemCount = { readonly count: number; readonly first: string };

/** Collects the nodes and edges of a file. Bad ones are left out and counted. */
export interface NetworkBuilder {
  /** The location is named if the id is missing. */
  addNode(id: string | undefined, data: Properties, location: string): void;
  addEdge(edge: NewEdge, location: string): void;
  hasNode(id: string): boolean;
  addProblem(problem: string): void;
  build(options: Pick<Network, "title" | "isDirected">): GraphContent;
}

export type GraphContent = { readonly network: Network; readonly problems: readonly string[] };

/** Throws `file_limit` beyond the limits. */
export function createNetworkBuilder(limits: GraphLimits = defaultGraphLimits): NetworkBuilder {
  const nodes = new Map<string, NetworkNode>();
  const edges: EdgeRecord[] = [];
  const others: string[] = [];
  const problems = new Map<Problem, ProblemCount>();
  const report = (problem: Problem, example: string): void => {
    const { count, first } = problems.get(problem) ?? { count: 0, first: example };
    problems.set(problem, { count: count + 1, first });
  };
  return {
    addNode(id, data, location) {
      if (!id) return report("node without an id", location);
      if (id.length > maxIdLength)
        return report("node with an id of more than 300 characters", `"${id.slice(0, 20)}…"`);
      if (nodes.has(id)) return report("node with the id of another node", `"${id}"`);
      if (nodes.size >= limits.nodes) throw createLimitError(limits.nodes, "nodes");
      nodes.set(id, { id, data });
    },
    addEdge({ id, from, to, data }, location) {
      if (!from || !to) return report("edge without two ends", location);
      if (edges.length >= limits.edges) throw createLimitError(limits.edges, "edges");
      edges.push({ id, from, to, data });
    },
    hasNode: (id) => nodes.has(id),
    addProblem: (problem) => void others.push(problem),
    build({ title, isDirected }) {
      const sound = edges.filter(({ from, to }) => {
        const missing = [from, to].find((end) => !nodes.has(end));
        if (missing !== undefined)
          report("edge with an end that is not a node", `"${missing.slice(0, 100)}"`);
        return missing === undefined;
      });
      return {
        network: { name: "file", title, isDirected, nodes: [...nodes.values()], edges: withIds(sound) },
        problems: [...others, ...[...problems].map(formatProblem)],
      };
    },
  };
}

const createLimitError = (limit: number, members: string): AgentError =>
  new AgentError("file_limit", `The graph has more than ${limit} ${members}.`);

const formatProblem = ([problem, { count, first }]: readonly [Problem, ProblemCount]): string =>
  `${problem.replace(/^\w+/u, (noun) => formatCount(count, noun))}; the first: ${first}.`;

/** Gives edges without an id, or with the id of another, a number. */
function withIds(edges: readonly EdgeRecord[]): NetworkEdge[] {
  const used = new Set(edges.flatMap(({ id }) => id ?? []));
  const given = new Set<string>();
  let number = 0;
  return edges.map(({ id, ...edge }) => {
    let ownId = id;
    while (ownId === undefined || given.has(ownId)) {
      const next = `e${++number}`;
      if (!used.has(next)) ownId = next;
    }
    given.add(ownId);
    return { id: ownId, ...edge };
  });
}
