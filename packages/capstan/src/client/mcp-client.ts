import type { Json } from "../base/json.ts";
import type { Part } from "../kernel/history.ts";
import type { ToolInfo } from "./agents-client.ts";
import type { ApiRequest, Connection } from "./connection.ts";

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
  /** Its URL without the query, or the name of its program; for admins. */
  readonly address?: string;
  readonly needsSignIn: boolean;
  readonly isSignedIn: boolean;
  /** Whether the current user may remove it. */
  readonly canRemove: boolean;
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

/** What an admin may do with the MCP servers. */
export type McpSettingsInfo = {
  readonly canAdd: boolean;
  /** Whether servers may be programs, which run on the server's machine. */
  readonly allowsCommands: boolean;
  /** Where added servers are stored. */
  readonly file?: string;
};

/** An MCP server to add: a URL or a program. */
export type NewMcpServer =
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> }
  | {
      readonly command: string;
      readonly args?: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
    };

/** Why an MCP server did not answer. */
export type McpFailure = { readonly error: { readonly code: string; readonly message: string } };

/** The result of a tool of an MCP server, or its error. */
export type McpAnswer = Partial<McpFailure> & {
  readonly content?: string | readonly Part[];
  readonly data?: Json;
  /** Questions of the server, all of them declined. */
  readonly declined: readonly string[];
  readonly ms: number;
};

/** A resource of an MCP server, as it describes it. */
export type McpResource = {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
};

/** A prompt of an MCP server, as it describes it. */
export type McpPrompt = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly {
    readonly name: string;
    readonly description?: string;
    readonly required?: boolean;
  }[];
};

/** A JSON-RPC message of an MCP server, with secrets masked. */
export type McpTrafficMessage = {
  readonly number: number;
  readonly at: number;
  readonly direction: "sent" | "received";
  /** JSON; truncated if it is long. */
  readonly text: string;
  /** Characters of the whole message. */
  readonly size: number;
};

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
  settings(): Promise<McpSettingsInfo>;
  /** Starts a server, now and with the process. */
  add(name: string, config: NewMcpServer): Promise<readonly McpServerInfo[]>;
  remove(server: string): Promise<readonly McpServerInfo[]>;
  /** Starts a sign-in. Returns the page to open in a browser, or undefined if none is needed. */
  signIn(server: string): Promise<string | undefined>;
  signOut(server: string): Promise<readonly McpServerInfo[]>;
  /** Calls a tool without an agent. A tool that may change or send something needs `isConfirmed`. */
  callTool(call: McpToolCall): Promise<McpAnswer>;
  resources(server: string): Promise<McpFailure | { readonly resources: readonly McpResource[] }>;
  readResource(server: string, uri: string): Promise<McpFailure | { readonly contents: readonly Json[] }>;
  prompts(server: string): Promise<McpFailure | { readonly prompts: readonly McpPrompt[] }>;
  getPrompt(
    server: string,
    prompt: string,
    input?: Readonly<Record<string, string>>,
  ): Promise<McpFailure | { readonly messages: readonly Json[] }>;
  /** The last messages of a server after this number, oldest first. */
  traffic(server: string, after?: number): Promise<readonly McpTrafficMessage[]>;
}

export type McpToolCall = {
  readonly server: string;
  readonly tool: string;
  readonly input: { readonly [name: string]: Json };
  readonly isConfirmed?: boolean;
  readonly signal?: AbortSignal;
};

export function createMcpClient(request: Connection["request"]): McpClient {
  type Servers = { readonly servers: readonly McpServerInfo[] };
  const root = "/api/mcp-servers";
  const toPath = (server: string, rest: string) => `${root}/${encodeURIComponent(server)}${rest}`;
  const requestServers = async (call: ApiRequest) => (await request<Servers>(call)).servers;
  return {
    list: () => requestServers({ method: "GET", path: root }),
    refresh: () => requestServers({ method: "POST", path: `${root}/refresh`, isIdempotent: true }),
    trust(server, tool, fingerprint) {
      const body = {
        ...(tool !== undefined && { tool }),
        ...(fingerprint !== undefined && { fingerprint }),
      };
      return requestServers({ method: "POST", path: toPath(server, "/trust"), body, isIdempotent: true });
    },
    settings: () => request({ method: "GET", path: "/api/mcp-settings" }),
    add: (name, config) => requestServers({ method: "POST", path: root, body: { name, config } }),
    remove: (server) => requestServers({ method: "DELETE", path: toPath(server, "") }),
    signIn: async (server) =>
      (await request<{ page?: string }>({ method: "POST", path: toPath(server, "/sign-in") })).page,
    signOut: (server) => requestServers({ method: "POST", path: toPath(server, "/sign-out") }),
    callTool: ({ server, tool, input, isConfirmed = false, signal }) =>
      request({
        ...{ method: "POST", path: toPath(server, `/tools/${encodeURIComponent(tool)}/call`), signal },
        body: { input, isConfirmed },
        timeoutMs: toolCallTimeoutMs,
      }),
    resources: (server) => request({ method: "GET", path: toPath(server, "/resources") }),
    readResource: (server, uri) =>
      request({ method: "GET", path: toPath(server, "/resource"), query: { uri } }),
    prompts: (server) => request({ method: "GET", path: toPath(server, "/prompts") }),
    getPrompt: (server, prompt, input = {}) =>
      request({
        ...{ method: "POST", path: toPath(server, `/prompts/${encodeURIComponent(prompt)}`) },
        ...{ body: { input }, isIdempotent: true },
      }),
    async traffic(server, after) {
      type Messages = { readonly messages: readonly McpTrafficMessage[] };
      const call = { method: "GET", path: toPath(server, "/traffic"), query: { after } } as const;
      return (await request<Messages>(call)).messages;
    },
  };
}

/** The server ends a call that takes too long. */
const toolCallTimeoutMs = 600_000;
