import { type Agent, type AgentDefinition, defineAgent, type PolicyOverrides } from "capstan";
import { defaultModel } from "capstan/models";
import { type CatalogOptions, createCatalog } from "./catalog.ts";
import type { GraphContext } from "./command.ts";
import { buildInstructions } from "./instructions.ts";
import { listAlgorithms, runAlgorithm } from "./tools/algorithms.ts";
import { clearStyles, openGraph, setLayout, zoomToNodes } from "./tools/change-view.ts";
import { findNodes } from "./tools/find-nodes.ts";
import { describeProperty, getSchema, sampleData } from "./tools/inspect-data.ts";
import { queryGraph } from "./tools/query-graph.ts";
import { styleEdges } from "./tools/style-edges.ts";
import { styleNodes } from "./tools/style-nodes.ts";
import { getViewsFolder, openViews } from "./views.ts";

export const about = {
  title: "Graph explorer",
  description: "Query a graph, find and color its nodes, and run algorithms on it.",
  suggestions: [
    "How many nodes are there?",
    "What are some sample nodes?",
    "Find all cats and make them blue",
    "What is the shortest path from Whiskers to Grace?",
  ],
} as const;

/** Five turns with tools in all of them; the run fails at the limit. */
export const policy: PolicyOverrides = {
  maxTurns: 5,
  wrapUpAt: 0,
  finalTurn: "keep-tools",
  onLimit: ["fail"],
  toolExecution: "sequential",
  retry: { maxAttempts: 1 },
  onAllToolsFailed: "continue",
  maxToolResultSize: 4000,
  // The turn limit usually ends a loop first; this applies if it is raised.
  repetition: { stopAt: 6 },
  memory: "session",
  requireToolFirst: false,
  summaries: false,
};

export type GraphOptions = CatalogOptions & {
  readonly model?: AgentDefinition["model"];
  /** Where the views of the sessions are stored. Defaults to `graph` in CAPSTAN_HOME. */
  readonly folder?: string;
  /** `session` (the default) understands follow-ups such as "what about the edges?"; `run` forgets each turn. */
  readonly memory?: "session" | "run";
};

export async function graph(options: GraphOptions = {}): Promise<Agent> {
  const { model, folder = getViewsFolder(), memory = "session" } = options;
  const graphCatalog = createCatalog(options);
  const graphContext: GraphContext = {
    catalog: graphCatalog,
    views: openViews(folder),
    reads: options.graphFile || options.graphs ? "private" : "public",
  };
  // Report an unreadable file now, not in the middle of a conversation.
  const first = await graphCatalog.get(graphCatalog.first, AbortSignal.timeout(60_000));
  return defineAgent({
    name: "graph",
    model: model ?? (await defaultModel()),
    instructions: buildInstructions(first, graphCatalog.names),
    tools: [
      queryGraph(graphContext),
      findNodes(graphContext),
      styleNodes(graphContext),
      styleEdges(graphContext),
      sampleData(graphContext),
      describeProperty(graphContext),
      getSchema(graphContext),
      setLayout(graphContext),
      zoomToNodes(graphContext),
      clearStyles(graphContext),
      listAlgorithms(graphContext),
      runAlgorithm(graphContext),
      openGraph(graphContext),
    ],
    policy: { ...policy, memory },
  });
}
