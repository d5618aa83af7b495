import type { McpServer } from "@modelcontextprotocol/server";
import type {
  Agent,
  ContextSource,
  ErrorSource,
  Event,
  Model,
  PolicyOverrides,
  Result,
  Store,
} from "capstan";
import { checkAgentNames, type Exposure } from "./agent-names.ts";
import type { RunCaller, RunPolicy } from "./agent-runs.ts";
import type { CreateAgentServer } from "./agent-server.ts";
import type { Knowledge } from "./knowledge-tools.ts";
import { type McpCaller, type McpHandler, type McpHandlerOptions, mcpHandler } from "./mcp-handler.ts";
import type { SessionPrefix } from "./session-keys.ts";

/** `context` builds the context of a run. Request headers are never part of the caller. */
export type ServeMcpOptions<A extends Agent = Agent> = BaseOptions<A> & ContextSource<A, RunCaller>;

type BaseOptions<A> = McpHandlerOptions & {
  /** The first agent answers a `query` without `agent`. */
  readonly agents: readonly A[];
  /** Stores the conversations; default: in memory. */
  readonly store?: Store;
  readonly name?: string;
  readonly version?: string;
  /** Tells clients what this server is for and how to use it. */
  readonly instructions?: string;
  /** One `query` tool for all agents (default), or one tool per agent. */
  readonly expose?: Exposure;
  /** Adds the tools `search` and `fetch`. */
  readonly knowledge?: Knowledge;
  /**
   * The page that shows the widgets of an answer in hosts with MCP Apps: the content of `widgetPage` of
   * `@capstan/studio`. Without it, hosts get the text alone.
   */
  readonly widgets?: string | undefined;
  /** For every run, or for each new run of a user. A rejection is the error of the call. */
  readonly policy?: PolicyOverrides | RunPolicy;
  /** Prefix of a user's session ids in the store. Must be unique per user; default: a hash. */
  readonly sessionPrefix?: SessionPrefix;
  /** Masked in everything that leaves a run. */
  readonly secrets?: readonly string[];
  /** Receives every event of every run, for logging. */
  readonly onEvent?: (event: Event) => void;
  /** Called before a model is called. A returned model replaces it. */
  readonly onBeforeModel?: (model: Model) => Model | undefined;
  /** Receives what a tool or a model of a run threw, with its stack. */
  readonly onRunError?: (error: unknown, source: ErrorSource) => void;
  /** Returns a result as this user may see it. Default: unchanged, with the messages of failed models. */
  readonly filterResult?: (result: Result, user: string | undefined) => Result;
};

export type McpService = Pick<McpHandler, "fetch" | "stdio" | "close">;

/**
 * Serves agents to MCP clients, over HTTP (`fetch`) and stdio. Does not check tokens: your application authenticates the
 * caller and passes the `user`, and credentials are removed from the request. Not an authorization server.
 */
export function serveMcp<A extends Agent>(options: ServeMcpOptions<A>): McpService;
export function serveMcp(options: ServeMcpOptions): McpService {
  const { agents, expose = "query" } = options;
  checkAgentNames(agents, expose);
  // Imports the SDK, too.
  let loading: Promise<CreateAgentServer> | undefined;
  async function createServer({ user }: McpCaller): Promise<McpServer> {
    loading ??= import("./agent-server.ts").then(({ createAgentServers }) => createAgentServers(options));
    return (await loading)(user);
  }
  const { fetch, stdio, close } = mcpHandler(createServer, options);
  return { fetch, stdio, close };
}
