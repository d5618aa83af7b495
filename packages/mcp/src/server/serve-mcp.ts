import { randomBytes } from "node:crypto";
import { createRequestStateCodec, McpServer } from "@modelcontextprotocol/server";
import {
  type Agent,
  AgentError,
  type ContextSource,
  type Event,
  type Model,
  type PolicyOverrides,
  type Result,
  type Store,
} from "capstan";
import { memory } from "capstan/stores/memory";
import { createAgentCalls, type WaitingState } from "./agent-calls.ts";
import type { RunCaller, RunPolicy } from "./agent-runs.ts";
import { createToolRegistrar, type Exposure } from "./agent-tools.ts";
import { addKnowledgeTools, type Knowledge } from "./knowledge-tools.ts";
import { type McpHandler, type McpHandlerOptions, mcpHandler } from "./mcp-handler.ts";
import { createSessionKeys, hashPrefix, type SessionPrefix } from "./session-keys.ts";
import { addWidgetResource, widgetToolMeta } from "./widget-resource.ts";

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
  /** Returns a result as this user may see it. Default: unchanged, with the messages of failed models. */
  readonly filterResult?: (result: Result, user: string | undefined) => Result;
};

export type McpService = Pick<McpHandler, "fetch" | "stdio" | "close">;

/** How long a question stays valid. */
const daySeconds = 24 * 60 * 60;

/**
 * Serves agents to MCP clients, over HTTP (`fetch`) and stdio. Does not check tokens: your application authenticates the
 * caller and passes the `user`, and credentials are removed from the request. Not an authorization server.
 */
export function serveMcp<A extends Agent>(options: ServeMcpOptions<A>): McpService;
export function serveMcp(options: ServeMcpOptions): McpService {
  const { agents, store = memory(), expose = "query", knowledge, onEvent, onBeforeModel, secrets } = options;
  const { policy, sessionPrefix = hashPrefix } = options;
  const { name = "capstan", version = "0.0.0", instructions, onError = () => undefined } = options;
  if (agents.length === 0) throw new AgentError("invalid_definition", "`serveMcp` needs at least one agent.");
  const { widgets } = options;
  const meta = widgets === undefined ? undefined : widgetToolMeta;
  const addAgentTools = createToolRegistrar({ agents, expose, meta });
  const context = options.context ?? ((caller: RunCaller) => caller);
  const key = randomBytes(32);

  const { fetch, stdio, close } = mcpHandler(({ user }) => {
    const bind = () => JSON.stringify([user ?? null]);
    const codec = createRequestStateCodec<WaitingState>({ key, bind, ttlSeconds: daySeconds });
    const server = new McpServer(
      { name, version },
      {
        capabilities: { tools: { listChanged: false } },
        requestState: { verify: codec.verify },
        ...(instructions !== undefined && { instructions }),
      },
    );
    const keys = createSessionKeys(sessionPrefix(user));
    const calls = createAgentCalls({
      ...{ agents, store, user, keys, codec, policy, context, onError },
      hasWidgets: widgets !== undefined,
      filterResult: (result) => options.filterResult?.(result, user) ?? result,
      ...(onEvent && { onEvent }),
      ...(onBeforeModel && { onBeforeModel }),
      ...(secrets && { secrets }),
      server: server.server,
    });
    addAgentTools(server, calls);
    if (widgets !== undefined) addWidgetResource(server, widgets);
    if (knowledge) addKnowledgeTools(server, { knowledge, user, onError });
    return server;
  }, options);
  return { fetch, stdio, close };
}
