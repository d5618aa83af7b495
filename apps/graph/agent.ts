import type { Agent, AgentDefinition } from "capstan";
import { defaultModel } from "capstan/models";
import { createCatalog, type GraphSources } from "./catalog.ts";
import { builtInGraphs } from "./data/built-in-graphs.ts";
import { type GraphFile, readGraphFile } from "./data/graph-file.ts";
import { defineGraphAgent, type GraphSettings } from "./define-graph-agent.ts";
import { getViewsFolder, openViews } from "./views.ts";

export const about = {
  title: "Graph explorer",
  picture: "graph",
  description: "Query a graph, find and color its nodes, and run algorithms on it.",
  suggestions: [
    "How many nodes are there?",
    "What are some sample nodes?",
    "Find all cats and make them blue",
    "What is the shortest path from Whiskers to Grace?",
  ],
} as const;

export type GraphOptions = GraphSettings & {
  readonly model?: AgentDefinition["model"];
  readonly graphFile?: GraphFile;
  /** Your own graphs, for example from a database or a service. */
  readonly graphs?: GraphSources;
  /** Where the views of the sessions are stored. Defaults to `graph` in CAPSTAN_HOME. */
  readonly folder?: string;
};

export async function graph(options: GraphOptions = {}): Promise<Agent> {
  const { model, graphFile, graphs, folder = getViewsFolder(), ...settings } = options;
  const ownGraphs: GraphSources = {
    ...(graphFile !== undefined && { file: () => readGraphFile(graphFile) }),
    ...graphs,
  };
  const graphContext = {
    catalog: createCatalog({ ...ownGraphs, ...builtInGraphs }),
    views: openViews(folder),
    reads: graphFile || graphs ? "private" : "public",
  } as const;
  return defineGraphAgent(graphContext, { ...settings, model: model ?? (await defaultModel()) });
}
