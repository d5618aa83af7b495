// The graph explorer inside a page: the graph, the views and the model stay in the browser.

import type { Agent, AgentDefinition } from "capstan";
import { type WebLlmEngine, webLlm } from "capstan/models/web-llm";
import { createCatalog, type GraphSources } from "./catalog.ts";
import { defineGraphAgent, type GraphSettings } from "./define-graph-agent.ts";
import { memoryViews } from "./view.ts";

export type InPageOptions = Omit<GraphSettings, "afterTools"> & {
  readonly graphs: GraphSources;
  /** An engine of `@mlc-ai/web-llm`, and the id of the model that it has loaded. */
  readonly webLlm: { readonly engine: WebLlmEngine; readonly model: string };
  /** Reads the user's message and chooses the tools; WebLLM processes the results. Default: WebLLM does both. */
  readonly model?: AgentDefinition["model"];
};

/** Creates the agent with a model in the browser, which at least serves the follow-ups on tool results. */
export function graphInPage({ graphs, webLlm: local, model, ...settings }: InPageOptions): Promise<Agent> {
  const localModel = webLlm(local.engine, { model: local.model });
  return defineGraphAgent(
    { catalog: createCatalog(graphs), views: memoryViews(), reads: "private" },
    { ...settings, model: model ?? localModel, afterTools: localModel },
  );
}
