import type { PolicyLimits } from "../agents/policy-limits.ts";
import type { SettingsLimits } from "../agents/settings-limits.ts";
import type { Connection } from "./connection.ts";
import { createMcpClient, type McpClient } from "./mcp-client.ts";

/** An agent, as shown to users. */
export type AboutAgent = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly suggestions?: readonly string[];
  /** Words and names that questions for this agent contain. */
  readonly topics?: readonly string[];
  /** What its picture shows. */
  readonly picture?: "chat" | "files" | "graph" | "map" | "sources" | "tools";
  /** The app, if this is its agent on own data. */
  readonly app?: string;
};

/** Describes a server and the current user. */
export type About = {
  readonly name: string;
  readonly version: string;
  /** Default model. */
  readonly model: string;
  /** True when the rule-based offline model answers. */
  readonly isOffline: boolean;
  /** Empty for the local user. */
  readonly user: string;
  readonly isAdmin: boolean;
  readonly agents: readonly AboutAgent[];
  /** Views of the events, for `viewEvents` of runs and sessions. */
  readonly eventViews: readonly { readonly name: string; readonly description: string }[];
};

/** State of a provider's API key. */
export type KeyInfo =
  | { readonly type: "set"; readonly variable: string }
  | { readonly type: "missing"; readonly variables: readonly string[] }
  | { readonly type: "external"; readonly source: string }
  | { readonly type: "not_needed" }
  | { readonly type: "unknown_provider" };

/** A model that is or could be used. */
export type ModelInfo = {
  /** Undefined for providers with many models, any of which can be named. */
  readonly model?: string;
  readonly provider: string;
  /** True for the default model. */
  readonly inUse: boolean;
  /** Requests may choose it. */
  readonly isOffered: boolean;
  /** Found on the server's machine: in a file, or on a running model server. */
  readonly isLocal: boolean;
  readonly key: KeyInfo;
  /** US dollars per million tokens. Undefined if it is not known. */
  readonly price?: { readonly input: number; readonly output: number };
  /** Maximum tokens of input and output together. Undefined if it is not known. */
  readonly contextWindow?: number;
};

/** The parts that a stored agent can be built from. */
export type AgentParts = {
  readonly tools: readonly { readonly name: string; readonly description?: string }[];
  readonly sources: readonly string[];
  /** Undefined when any `provider/model` is allowed. */
  readonly models?: readonly string[];
  readonly policyLimits: PolicyLimits;
  readonly settingsLimits: SettingsLimits;
};

/** Lists the models of a server. */
export interface ModelsClient {
  /** The default model first. Never includes keys. */
  list(): Promise<readonly ModelInfo[]>;
}

/** Server-wide information: models, MCP servers, agent parts. */
export interface ServerClient {
  about(): Promise<About>;
  /** Lists the parts that stored agents can be built from. */
  agentParts(): Promise<AgentParts>;
  readonly models: ModelsClient;
  readonly mcp: McpClient;
}

export function createServerClient({ request }: Connection): ServerClient {
  return {
    about: () => request({ method: "GET", path: "/api/about" }),
    agentParts: () => request({ method: "GET", path: "/api/agent-parts" }),
    models: {
      list: async () =>
        (await request<{ models: readonly ModelInfo[] }>({ method: "GET", path: "/api/models" })).models,
    },
    mcp: createMcpClient(request),
  };
}
