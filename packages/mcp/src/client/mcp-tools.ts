import type { GetPromptResult, Prompt, ReadResourceResult, Resource } from "@modelcontextprotocol/client";
import { AgentError, type Tool } from "capstan";
import { readServer, type ServerConfig } from "./config.ts";
import type { Variables } from "./expand.ts";
import { readConfigFile } from "./read-config.ts";
import type { Sampling } from "./sampling.ts";
import {
  openServer,
  type Server,
  type ServerOptions,
  type ServerStatus,
  type SignIn,
  serverStatus,
} from "./server.ts";
import { serverError } from "./server-error.ts";
import { trustIn } from "./trust.ts";

export type McpOptions = {
  /** Servers by name, as in `.mcp.json`. Commands in it are started: never take it from a request. */
  readonly mcpServers?: Readonly<Record<string, ServerConfig>>;
  /** A `.mcp.json` file. Read it only where the user trusts its folder. */
  readonly file?: string;
  /** For `${VAR}` in the configuration; by default the environment. */
  readonly variables?: Variables;
  /** `startup`: the tools are those of the start, and of `refreshTools()`. `on-change`: also when a server says so. */
  readonly discovery?: "startup" | "on-change";
  /** Where it is kept what the tools were when they were first seen. Left out: only until the process ends. */
  readonly trustFile?: string;
  /** Folders that servers may know of. */
  readonly roots?: readonly string[];
  /** Lets servers ask your model; off when left out. */
  readonly sampling?: Sampling;
  /** For servers that people sign in to: how they are asked, and where their tokens are kept. */
  readonly oauth?: SignIn;
  /** For servers at an address. */
  readonly fetch?: typeof globalThis.fetch;
};

/** MCP servers in use. */
export interface McpTools {
  /** All tools that can be used now. Give an agent `tools: () => mcp.tools`, and changes reach it between two turns. */
  readonly tools: readonly Tool[];
  status(): readonly ServerStatus[];
  /** Asks every server for its tools anew, and starts those that had been given up. */
  refreshTools(): Promise<void>;
  /** Switches tools on again that have changed since they were trusted: one of them, or all of a server. */
  trust(server: string, tool?: string): Promise<void>;
  resources(server: string): Promise<readonly Resource[]>;
  readResource(server: string, uri: string): Promise<ReadResourceResult>;
  prompts(server: string): Promise<readonly Prompt[]>;
  getPrompt(server: string, name: string, input?: Record<string, string>): Promise<GetPromptResult>;
  /** Ends every server, and the processes it has started. */
  close(): Promise<void>;
}

/**
 * Starts MCP servers and makes their tools Capstan tools, named `mcp_<server>_<tool>`. Resolves when each server is ready
 * or has failed; one that fails stops none of the others, and `status()` says why.
 */
export async function mcpTools(options: McpOptions): Promise<McpTools> {
  const entries = {
    ...(options.file === undefined ? {} : await readConfigFile(options.file)),
    ...options.mcpServers,
  };
  const trust = await trustIn(options.trustFile);
  const shared: ServerOptions = {
    trust,
    roots: options.roots ?? [],
    sampling: options.sampling,
    hearsChanges: options.discovery === "on-change",
    fetch: options.fetch ?? globalThis.fetch,
    signIn: options.oauth,
  };
  const servers = new Map<string, Server>();
  const required: string[] = [];
  for (const [name, entry] of Object.entries(entries)) {
    const config = readOrError(() => readServer(name, entry, options.variables ?? process.env));
    if ((entry as { required?: unknown } | null)?.required === true) required.push(name);
    servers.set(name, openServer(name, config, shared));
  }
  await Promise.all([...servers].map(([name, { connection }]) => connection.start(required.includes(name))));
  await checkRequired(required, servers);
  return {
    get tools() {
      return uniqueTools(servers);
    },
    status: () => statusOf(servers),
    async refreshTools() {
      await Promise.allSettled([...servers.values()].map(({ connection }) => connection.refresh()));
    },
    async trust(name, tool) {
      serverOf(servers, name).list.trust(tool);
      await trust.saved();
    },
    ...reading(servers),
    async close() {
      await Promise.allSettled([...servers.values()].map((server) => server.close()));
      await trust.saved();
    },
  };
}

/** A mistake in one entry must not stop the other servers. */
function readOrError(read: () => ServerConfig): ServerConfig | AgentError {
  try {
    return read();
  } catch (error) {
    if (error instanceof AgentError) return error;
    throw error;
  }
}

/** Two servers can give a tool the same name ("a" with "b_c", "a_b" with "c"): the first one has it. */
function uniqueTools(servers: ReadonlyMap<string, Server>): Tool[] {
  const byName = new Map<string, Tool>();
  for (const { list } of servers.values())
    for (const tool of list.tools) if (!byName.has(tool.name)) byName.set(tool.name, tool);
  return [...byName.values()];
}

function statusOf(servers: ReadonlyMap<string, Server>): ServerStatus[] {
  const taken = new Map<string, string>();
  return [...servers.values()].map((server) => {
    const status = serverStatus(server);
    const collisions = status.tools.filter((name) => taken.has(name));
    const refused = collisions.map(
      (name) =>
        `The tool "${name}" is not offered: the server "${taken.get(name)}" has one of that name. Rename one of the servers.`,
    );
    const tools = status.tools.filter((name) => !taken.has(name));
    for (const name of tools) taken.set(name, status.name);
    return { ...status, tools, problems: [...status.problems, ...refused] };
  });
}

async function checkRequired(
  required: readonly string[],
  servers: ReadonlyMap<string, Server>,
): Promise<void> {
  for (const name of required) {
    const { state, error } = serverOf(servers, name).connection.status();
    if (state === "ready") continue;
    await Promise.allSettled([...servers.values()].map((server) => server.close()));
    const why = error?.message ?? `It is ${state}.`;
    throw new AgentError("mcp_disconnected", `The MCP server "${name}" is required and not there. ${why}`);
  }
}

function serverOf(servers: ReadonlyMap<string, Server>, name: string): Server {
  const server = servers.get(name);
  if (server) return server;
  const known = [...servers.keys()].map((one) => `"${one}"`).join(", ") || "none";
  throw new AgentError("mcp_config", `There is no MCP server "${name}"; there are: ${known}.`);
}

/** What an application can read of a server beside its tools. */
function reading(
  servers: ReadonlyMap<string, Server>,
): Pick<McpTools, "resources" | "readResource" | "prompts" | "getPrompt"> {
  type Client = Awaited<ReturnType<Server["connection"]["client"]>>;
  async function ask<Result>(name: string, question: (client: Client) => Promise<Result>): Promise<Result> {
    const client = await serverOf(servers, name).connection.client();
    try {
      return await question(client);
    } catch (thrown) {
      throw serverError(thrown, name);
    }
  }
  return {
    resources: async (server) => (await ask(server, (client) => client.listResources())).resources,
    readResource: (server, uri) => ask(server, (client) => client.readResource({ uri })),
    prompts: async (server) => (await ask(server, (client) => client.listPrompts())).prompts,
    getPrompt: (server, name, input = {}) =>
      ask(server, (client) => client.getPrompt({ name, arguments: input })),
  };
}
