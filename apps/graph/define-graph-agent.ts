// The agent on any graphs. It uses nothing of Node, so that it also runs in a page.

import { type Agent, type AgentDefinition, defineAgent, type PolicyOverrides } from "capstan";
import type { GraphContext } from "./command.ts";
import { buildInstructions } from "./instructions.ts";
import { countTypes } from "./network.ts";
import { listAlgorithms, runAlgorithm } from "./tools/algorithms.ts";
import { clearStyles, openGraph, setLayout, zoomToNodes } from "./tools/change-view.ts";
import { describeProperty } from "./tools/describe-property.ts";
import { findNodes } from "./tools/find-nodes.ts";
import { getSchema, sampleData } from "./tools/inspect-data.ts";
import { queryGraph } from "./tools/query-graph.ts";
import { styleEdges } from "./tools/style-edges.ts";
import { styleNodes } from "./tools/style-nodes.ts";

type ModelOption = AgentDefinition["model"];

export type GraphSettings = {
  /** Another model for the turns that process tool results; a smaller or local one is often enough. */
  readonly afterTools?: ModelOption;
  /** Model calls per message; at the limit the run fails. Default: 5. */
  readonly maxToolIterations?: number;
  /** Whether the model receives the data of tool results, or only their messages. Default: true. */
  readonly includeToolDataInContext?: boolean;
  /** Characters of a tool result that the model receives. Default: 4000. */
  readonly maxToolResultSize?: number;
  /** `session` (the default) understands follow-ups such as "what about the edges?"; `run` forgets each turn. */
  readonly memory?: "session" | "run";
};

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

type GraphAgentOptions = GraphSettings & { readonly name?: string; readonly model: ModelOption };

/** Creates the agent. Loads the first graph, so that an unreadable one is reported now. */
export async function defineGraphAgent(
  graphContext: GraphContext,
  { name = "graph", model, afterTools, ...settings }: GraphAgentOptions,
): Promise<Agent> {
  const { catalog } = graphContext;
  const first = await catalog.get(catalog.first, AbortSignal.timeout(60_000));
  const edgeTypes = countTypes(first.edges)
    .slice(0, 10)
    .map(({ type }) => type);
  return defineAgent({
    name,
    model,
    ...(afterTools !== undefined && { models: { afterTools } }),
    instructions: buildInstructions(first, catalog.names),
    tools: [
      queryGraph(graphContext, edgeTypes),
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
      ...(catalog.names.length > 1 ? [openGraph(graphContext)] : []),
    ],
    policy: toPolicy(settings),
  });
}

function toPolicy(settings: GraphSettings): PolicyOverrides {
  const { maxToolIterations, includeToolDataInContext, maxToolResultSize, memory } = settings;
  return {
    ...policy,
    ...(maxToolIterations !== undefined && { maxTurns: maxToolIterations }),
    ...(includeToolDataInContext !== undefined && { includeToolData: includeToolDataInContext }),
    ...(maxToolResultSize !== undefined && { maxToolResultSize }),
    ...(memory !== undefined && { memory }),
  };
}
