import { type Agent, type AgentDefinition, defineAgent, type PolicyOverrides } from "capstan";
import { defaultModel } from "capstan/models";
import { type CatalogueOptions, catalogue } from "./catalogue.ts";
import type { Desk } from "./command.ts";
import { instructionsFor } from "./instructions.ts";
import { listAlgorithms, runAlgorithm } from "./tools/algorithms.ts";
import { clearStyles, openGraph, setLayout, zoomToNodes } from "./tools/change-view.ts";
import { findNodes } from "./tools/find-nodes.ts";
import { describeProperty, getSchema, sampleData } from "./tools/look-at-data.ts";
import { queryGraph } from "./tools/query-graph.ts";
import { styleEdges } from "./tools/style-edges.ts";
import { styleNodes } from "./tools/style-nodes.ts";
import { viewsFolder, viewsIn } from "./views.ts";

export const about = {
  title: "Graph explorer",
  description: "Ask a graph, find and colour its nodes, and run algorithms on it.",
  suggestions: [
    "How many nodes are there?",
    "What are some sample nodes?",
    "Find all cats and make them blue",
    "What is the shortest path from Whiskers to Grace?",
  ],
} as const;

/** Five turns, tools to the end, and at the limit a failure that says so. */
export const policy: PolicyOverrides = {
  maxTurns: 5,
  wrapUpAt: 0,
  finalTurn: "keep-tools",
  onLimit: ["fail"],
  toolExecution: "sequential",
  retry: { maxAttempts: 1 },
  onAllToolsFailed: "continue",
  maxToolResultSize: 4000,
  // The limit of turns ends a loop, also one of the same call; only who raises it meets this one.
  repetition: { stopAt: 6 },
  memory: "session",
  requireToolFirst: false,
  summaries: false,
};

export type GraphOptions = CatalogueOptions & {
  readonly model?: AgentDefinition["model"];
  /** Where the views of sessions are kept; by default `graph` in CAPSTAN_HOME. */
  readonly folder?: string;
  /** `run`: every sentence is understood by itself. By default the session is remembered: "what about the edges?" */
  readonly memory?: "session" | "run";
};

export async function graph(options: GraphOptions = {}): Promise<Agent> {
  const { model, folder = viewsFolder(), memory = "session" } = options;
  const graphsToOpen = catalogue(options);
  const desk: Desk = {
    catalogue: graphsToOpen,
    views: viewsIn(folder),
    reads: options.graphFile || options.graphs ? "private" : "public",
  };
  // A file that cannot be read is told now, not in the middle of a conversation.
  const first = await graphsToOpen.get(graphsToOpen.first, AbortSignal.timeout(60_000));
  return defineAgent({
    name: "graph",
    model: model ?? (await defaultModel()),
    instructions: instructionsFor(first, graphsToOpen.names),
    tools: [
      queryGraph(desk),
      findNodes(desk),
      styleNodes(desk),
      styleEdges(desk),
      sampleData(desk),
      describeProperty(desk),
      getSchema(desk),
      setLayout(desk),
      zoomToNodes(desk),
      clearStyles(desk),
      listAlgorithms(desk),
      runAlgorithm(desk),
      openGraph(desk),
    ],
    policy: { ...policy, memory },
  });
}
