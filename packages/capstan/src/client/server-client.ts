import type { PolicyLimits } from "../agents/policy-limits.ts";
import type { SettingsLimits } from "../agents/settings-limits.ts";
import type { Json } from "../json.ts";
import type { ToolInfo } from "./agents-client.ts";
import type { Connection } from "./connection.ts";

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

/** A call to an MCP tool. */
export type McpCallInfo = {
  readonly tool: string;
  readonly at: number;
  readonly ms: number;
  readonly status: string;
  readonly runId: string;
  readonly sessionId: string;
};

/** What the model reads of an MCP tool. */
export type McpToolMetadata = {
  readonly name: string;
  readonly description: string;
  readonly input: Json;
  readonly isApproved: boolean;
};

/** An MCP server and its tools. */
export type McpServerInfo = {
  readonly name: string;
  readonly state: "off" | "starting" | "signing-in" | "ready" | "restarting" | "failed" | "closed";
  readonly error?: { readonly code: string; readonly message: string };
  readonly restarts: number;
  readonly tools: readonly ToolInfo[];
  /** Tools that are disabled until trusted again, with both definitions for admins. */
  readonly changed: readonly { readonly name: string; readonly was?: Json; readonly is?: Json }[];
  /** Whether the user or the operator has approved everything that the model reads of it. */
  readonly isApproved: boolean;
  /** What the model reads of it, for admins. The fingerprint changes with every text. */
  readonly metadata?: { readonly fingerprint: string; readonly tools: readonly McpToolMetadata[] };
  readonly problems: readonly string[];
  /** The current user's calls, newest first. */
  readonly calls: readonly McpCallInfo[];
  /** The last log lines, for admins. */
  readonly log?: readonly string[];
};

/** Lists the models of a server. */
export interface ModelsClient {
  /** The default model first. Never includes keys. */
  list(): Promise<readonly ModelInfo[]>;
}

/** Manages the MCP servers of a server. */
export interface McpClient {
  list(): Promise<readonly McpServerInfo[]>;
  /** Reloads the tools of each server and restarts failed servers. */
  refresh(): Promise<readonly McpServerInfo[]>;
  /**
   * Approves what the model reads of one tool, or of all tools of a server, and enables changed tools. Rejects with
   * `approval_mismatch` if the metadata no longer has the `fingerprint` that was reviewed.
   */
  trust(server: string, tool?: string, fingerprint?: string): Promise<readonly McpServerInfo[]>;
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
  type Servers = { readonly servers: readonly McpServerInfo[] };
  return {
    about: () => request({ method: "GET", path: "/api/about" }),
    agentParts: () => request({ method: "GET", path: "/api/agent-parts" }),
    models: {
      list: async () =>
        (await request<{ models: readonly ModelInfo[] }>({ method: "GET", path: "/api/models" })).models,
    },
    mcp: {
      list: async () => (await request<Servers>({ method: "GET", path: "/api/mcp-servers" })).servers,
      refresh: async () =>
        (await request<Servers>({ method: "POST", path: "/api/mcp-servers/refresh", isIdempotent: true }))
          .servers,
      async trust(server, tool, fingerprint) {
        const path = `/api/mcp-servers/${encodeURIComponent(server)}/trust`;
        const body = {
          ...(tool !== undefined && { tool }),
          ...(fingerprint !== undefined && { fingerprint }),
        };
        return (await request<Servers>({ method: "POST", path, body, isIdempotent: true })).servers;
      },
    },
  };
}
