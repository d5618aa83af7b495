import type { PolicyLimits } from "../agents/policy-limits.ts";
import type { Json } from "../json.ts";
import type { ToolInfo } from "./agents-client.ts";
import type { Connection } from "./connection.ts";

/** An agent as people choose it. */
export type AboutAgent = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly suggestions?: readonly string[];
};

/** What a server says of itself and of whoever asks. */
export type About = {
  readonly name: string;
  readonly version: string;
  /** The one that answers when nothing else is chosen. */
  readonly model: string;
  /** Rules answer, and no model. */
  readonly isOffline: boolean;
  /** Empty for the one local user. */
  readonly user: string;
  readonly isAdmin: boolean;
  readonly agents: readonly AboutAgent[];
};

/** Which variable has the key of a provider, or which ones are missing. */
export type KeyInfo =
  | { readonly type: "set"; readonly variable: string }
  | { readonly type: "missing"; readonly variables: readonly string[] }
  | { readonly type: "not_needed" }
  | { readonly type: "unknown_provider" };

/** A model that is, or could be, asked. */
export type ModelInfo = {
  /** Left out for a provider whose models are many: any of them can be named. */
  readonly model?: string;
  readonly provider: string;
  /** It answers when nothing else is chosen. */
  readonly inUse: boolean;
  /** A request may name it. */
  readonly isOffered: boolean;
  readonly key: KeyInfo;
  /** In US dollars per million tokens. */
  readonly price?: { readonly input: number; readonly output: number };
};

/** What the data of a stored agent may name. */
export type AgentParts = {
  readonly tools: readonly { readonly name: string; readonly description?: string }[];
  readonly sources: readonly string[];
  /** Left out: any `provider/model`. */
  readonly models?: readonly string[];
  readonly policyLimits: PolicyLimits;
};

/** A call of a tool of an MCP server. */
export type McpCallInfo = {
  readonly tool: string;
  readonly at: number;
  readonly ms: number;
  readonly status: string;
  readonly runId: string;
  readonly sessionId: string;
};

/** An MCP server whose tools the agents use. */
export type McpServerInfo = {
  readonly name: string;
  readonly state: "off" | "starting" | "signing-in" | "ready" | "restarting" | "failed" | "closed";
  readonly error?: { readonly code: string; readonly message: string };
  readonly restarts: number;
  readonly tools: readonly ToolInfo[];
  /** Tools that are off until they are trusted again. What they were and are, for admins. */
  readonly changed: readonly { readonly name: string; readonly was?: Json; readonly is?: Json }[];
  readonly problems: readonly string[];
  /** Your own, the newest first. */
  readonly calls: readonly McpCallInfo[];
  /** The last lines, for admins. */
  readonly log?: readonly string[];
};

/** The models of a server. */
export interface ModelsClient {
  /** The one in use first; never a key. */
  list(): Promise<readonly ModelInfo[]>;
}

/** The MCP servers of a server. */
export interface McpClient {
  list(): Promise<readonly McpServerInfo[]>;
  /** Asks each for its tools anew, and starts those that had been given up. */
  refresh(): Promise<readonly McpServerInfo[]>;
  /** Switches changed tools on: one, or all of a server. */
  trust(server: string, tool?: string): Promise<readonly McpServerInfo[]>;
}

/** What a server is, beside its agents, sessions and runs. */
export interface ServerClient {
  about(): Promise<About>;
  /** What the agents that people make can be made of. */
  agentParts(): Promise<AgentParts>;
  readonly models: ModelsClient;
  readonly mcp: McpClient;
}

/** Of the server at the other end. */
export function serverClient({ ask }: Connection): ServerClient {
  type Servers = { readonly servers: readonly McpServerInfo[] };
  return {
    about: () => ask({ method: "GET", path: "/api/about" }),
    agentParts: () => ask({ method: "GET", path: "/api/agent-parts" }),
    models: {
      list: async () =>
        (await ask<{ models: readonly ModelInfo[] }>({ method: "GET", path: "/api/models" })).models,
    },
    mcp: {
      list: async () => (await ask<Servers>({ method: "GET", path: "/api/mcp-servers" })).servers,
      refresh: async () =>
        (await ask<Servers>({ method: "POST", path: "/api/mcp-servers/refresh", isRepeatable: true }))
          .servers,
      async trust(server, tool) {
        const path = `/api/mcp-servers/${encodeURIComponent(server)}/trust`;
        const body = { ...(tool !== undefined && { tool }) };
        return (await ask<Servers>({ method: "POST", path, body, isRepeatable: true })).servers;
      },
    },
  };
}
