import type { Store } from "capstan";
import { storedAgents } from "capstan/agents";
import type { FindAgent } from "capstan/engines/local";
import type { ServerOptions } from "../create-server.ts";
import type { Deployment } from "../deployment.ts";
import { withAppAgents } from "../mcp-apps/app-agents.ts";
import { type ServerAgents, withOwnData } from "../own-data/data-agents.ts";
import { type AgentResolver, createAgentResolver, indexModels, withToolsets } from "./agent-resolver.ts";

type AgentSourceOptions = Pick<
  ServerOptions,
  "agents" | "storedAgents" | "models" | "localModels" | "data" | "dataPaths" | "mcp"
> & {
  readonly store: Store;
};

type AgentSource = {
  readonly agents: ServerAgents;
  readonly ownData: Deployment["ownData"];
  readonly models: Deployment["models"];
  readonly resolver: AgentResolver;
};

/** Creates the agents of a server, coded, stored and of own data, and the models that they can run on. */
export function createAgentSource({
  agents: coded,
  store,
  data,
  ...options
}: AgentSourceOptions): AgentSource {
  const stored = storedAgents({ ...options.storedAgents, store, coded });
  const agents: ServerAgents = data ? withOwnData(stored, data) : stored;
  const models = indexModels(options.models ?? [], options.localModels);
  const ownData = data && { data, allowsPaths: options.dataPaths ?? false };
  const resolver = withAppAgents(withToolsets(createAgentResolver(agents, models), store), options.mcp);
  return { agents, ownData, models, resolver };
}

/** Returns a function that finds the agent of a stored run as a server with these options does. */
export function createAgentFinder(options: AgentSourceOptions): FindAgent {
  return createAgentSource(options).resolver.find;
}
