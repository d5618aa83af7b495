import { randomBytes } from "node:crypto";
import { createRequestStateCodec, McpServer } from "@modelcontextprotocol/server";
import { type Agent, AgentError, type Event, type PolicyOverrides, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { agentCalls, type Waiting } from "./agent-calls.ts";
import type { RunCaller } from "./agent-runs.ts";
import { agentTools, type Exposure } from "./agent-tools.ts";
import { type McpHandler, type McpHandlerOptions, mcpHandler } from "./handler.ts";
import { addKnowledgeTools, type Knowledge } from "./knowledge-tools.ts";
import { hashedPrefix, type SessionPrefix, sessionKeys } from "./session-keys.ts";

export type ServeMcpOptions = McpHandlerOptions & {
  /** The first one answers a `query` that names none. */
  readonly agents: readonly Agent[];
  /** Where conversations are kept; by default in the memory of this service. */
  readonly store?: Store;
  readonly name?: string;
  readonly version?: string;
  /** Told to clients: what this server is for and how to use it. */
  readonly instructions?: string;
  /** One tool `query` for all agents (the default), or a tool for each. */
  readonly expose?: Exposure;
  /** Adds the tools `search` and `fetch`. */
  readonly knowledge?: Knowledge;
  /** What tools and instructions are given as `context`; by default the caller. Headers are never part of it. */
  readonly context?: (caller: RunCaller) => unknown;
  /** For every run, or for those of a user. */
  readonly policy?:
    | PolicyOverrides
    | ((user: string | undefined) => PolicyOverrides | Promise<PolicyOverrides>);
  /** What the ids of a user's sessions begin with in the store, and those of nobody else; by default a hash. */
  readonly sessionPrefix?: SessionPrefix;
  /** Masked in all that leaves a run. */
  readonly secrets?: readonly string[];
  /** Sees every event of every run: for logs. */
  readonly onEvent?: (event: Event) => void;
};

/** Agents as an MCP server. */
export type McpService = Pick<McpHandler, "fetch" | "stdio" | "close">;

/** How long a question to a person stays good. */
const daySeconds = 24 * 60 * 60;

/**
 * Offers agents to every MCP client, over HTTP (`fetch`) and stdio. It checks no tokens and reads none: whoever mounts
 * `fetch` authenticates and says who the user is, and what proved it goes no further. It is no authorization server.
 */
export function serveMcp(options: ServeMcpOptions): McpService {
  const { agents, store = memory(), expose = "query", knowledge, onEvent, secrets } = options;
  const { policy, sessionPrefix = hashedPrefix } = options;
  const { name = "capstan", version = "0.0.0", instructions, onError = () => undefined } = options;
  if (agents.length === 0) throw new AgentError("invalid_definition", "`serveMcp` needs at least one agent.");
  const addAgentTools = agentTools(agents, expose);
  const context = options.context ?? ((caller: RunCaller) => caller);
  const key = randomBytes(32);

  const { fetch, stdio, close } = mcpHandler(({ user }) => {
    const bind = () => JSON.stringify([user ?? null]);
    const codec = createRequestStateCodec<Waiting>({ key, bind, ttlSeconds: daySeconds });
    const server = new McpServer(
      { name, version },
      {
        capabilities: { tools: { listChanged: false } },
        requestState: { verify: codec.verify },
        ...(instructions !== undefined && { instructions }),
      },
    );
    const keys = sessionKeys(sessionPrefix(user));
    const calls = agentCalls({
      ...{ agents, store, user, keys, codec, policy, context, onError },
      ...(onEvent && { onEvent }),
      ...(secrets && { secrets }),
      server: server.server,
    });
    addAgentTools(server, calls);
    if (knowledge) addKnowledgeTools(server, { knowledge, user, onError });
    return server;
  }, options);
  return { fetch, stdio, close };
}
