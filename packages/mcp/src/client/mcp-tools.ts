import type { GetPromptResult, Prompt, ReadResourceResult, Resource } from "@modelcontextprotocol/client";
import { AgentError, type Tool } from "capstan";
import { type AppPage, parseAppPage } from "./apps/read-app.ts";
import type { Variables } from "./config/expand-variables.ts";
import { readConfigFile } from "./config/read-config-file.ts";
import { parseServerConfig, type ServerConfig } from "./config/server-config.ts";
import type { Sampling } from "./requests/sampling.ts";
import type { Server, ServerOptions, SignIn } from "./server.ts";
import { createReaders, findServer } from "./server-readers.ts";
import { getServerStatus, type ServerStatus } from "./server-status.ts";
import { openTrustStore } from "./tools/trust.ts";
import type { TrafficMessage } from "./transport/traffic.ts";

export type McpOptions = {
  /** Servers by name, as in `.mcp.json`. Their commands are executed: never take this from a request. */
  readonly mcpServers?: Readonly<Record<string, ServerConfig>>;
  /** Path of a `.mcp.json` file. Read it only if the user trusts its folder. */
  readonly file?: string;
  /** Values for `${VAR}` in the configuration; default: the environment. */
  readonly variables?: Variables;
  /** When to list tools. `startup`: at startup and on `refreshTools()`. `on-change`: also when a server announces a change. */
  readonly discovery?: "startup" | "on-change";
  /** Stores what you have approved. Without it, approvals last until the process ends. */
  readonly trustFile?: string;
  /** Folders that servers may know about. */
  readonly roots?: readonly string[];
  /** Lets servers use your model; off by default. */
  readonly sampling?: Sampling;
  /** Sign-in for servers that require it. */
  readonly oauth?: SignIn;
  /** For servers with a URL. */
  readonly fetch?: typeof globalThis.fetch;
};

/** The user interface of a tool: an MCP App. */
export type McpApp = {
  readonly server: string;
  /** The `ui://` resource. */
  readonly uri: string;
  /** Reads its page. Rejects with `mcp_protocol` if the server does not return one that can be shown. */
  read(): Promise<AppPage>;
};

/** A set of running MCP servers. */
export interface McpTools {
  /** All available tools. Use `tools: () => mcp.tools` in an agent to pick up changes between turns. */
  readonly tools: readonly Tool[];
  status(): readonly ServerStatus[];
  /** Lists the tools of every server again, restarts failed servers, and reads approvals that other processes stored. */
  refreshTools(): Promise<void>;
  /**
   * Approves what the model reads of one tool, or of all tools of a server, and enables tools that were disabled because
   * they changed. With the `fingerprint` of the metadata that was reviewed, rejects with `approval_mismatch` if it has
   * changed since.
   */
  trust(server: string, tool?: string, fingerprint?: string): Promise<void>;
  resources(server: string): Promise<readonly Resource[]>;
  readResource(server: string, uri: string): Promise<ReadResourceResult>;
  /** Returns the app of a tool, by the name that the model uses. Undefined if the tool has none or is disabled. */
  findApp(tool: string): McpApp | undefined;
  /** Returns the tools that the apps of a server may call, by the server's name for them. */
  appTools(server: string): ReadonlyMap<string, Tool>;
  prompts(server: string): Promise<readonly Prompt[]>;
  getPrompt(server: string, name: string, input?: Record<string, string>): Promise<GetPromptResult>;
  /**
   * Starts another server, until `close`. Resolves when it is ready or has failed. Its command is executed. Rejects with
   * `mcp_config` if the configuration is invalid or the name is taken.
   */
  add(name: string, config: ServerConfig): Promise<void>;
  /** Stops a server and forgets it. Its tools are gone from the next turn on. */
  remove(name: string): Promise<void>;
  /** Connects to a server that requires sign-in again, which asks `redirect`. Resolves when the sign-in has ended. */
  signIn(server: string): Promise<void>;
  /** Deletes the tokens of a server, and connects again without them. */
  signOut(server: string): Promise<void>;
  /** Returns the last messages of a server after this number, oldest first, with secrets masked. */
  traffic(server: string, after?: number): readonly TrafficMessage[];
  /** Stops every server and the processes it started. */
  close(): Promise<void>;
}

/**
 * Starts MCP servers and returns their tools, named `mcp_<server>_<tool>`. Resolves when every server is ready or has
 * failed. A failed server does not affect the others; see `status()`.
 */
export async function mcpTools(options: McpOptions): Promise<McpTools> {
  const entries = {
    ...(options.file === undefined ? {} : await readConfigFile(options.file)),
    ...options.mcpServers,
  };
  const trust = await openTrustStore(options.trustFile);
  const shared: ServerOptions = {
    trust,
    roots: options.roots ?? [],
    sampling: options.sampling,
    watchesToolList: options.discovery === "on-change",
    fetch: options.fetch ?? globalThis.fetch,
    signIn: options.oauth,
  };
  const servers = new Map<string, Server>();
  const required: string[] = [];
  const variables = options.variables ?? process.env;
  async function open(name: string, config: ServerConfig | AgentError): Promise<Server> {
    // Imported here, because an application may never have a server: the SDK takes longer to load than all the rest.
    const { openServer } = await import("./server.ts");
    if (servers.has(name))
      throw new AgentError("mcp_config", `There is already an MCP server "${name}". Choose another name.`);
    const server = openServer(name, config, shared);
    servers.set(name, server);
    return server;
  }
  for (const [name, entry] of Object.entries(entries)) {
    const config = toConfigOrError(() => parseServerConfig(name, entry, variables));
    if ((entry as { required?: unknown } | null)?.required === true) required.push(name);
    await open(name, config);
  }
  await Promise.all([...servers].map(([name, { connection }]) => connection.start(required.includes(name))));
  await checkRequired(required, servers);
  const readers = createReaders(servers);
  return {
    get tools() {
      return listUniqueTools(servers);
    },
    status: () => collectStatus(servers),
    async refreshTools() {
      await Promise.allSettled([...servers.values()].map(({ connection }) => connection.refresh()));
      await trust.reload();
    },
    async trust(name, tool, fingerprint) {
      const { toolList } = findServer(servers, name);
      if (fingerprint !== undefined && fingerprint !== toolList.metadata.fingerprint)
        throw new AgentError(
          "approval_mismatch",
          `The MCP server "${name}" has changed since you reviewed it. Review it again.`,
        );
      toolList.trust(tool);
      await trust.save();
    },
    ...readers,
    findApp(tool) {
      for (const [server, { toolList }] of servers) {
        const uri = toolList.findAppUri(tool);
        const read = async (of: string) => parseAppPage(await readers.readResource(server, of), of);
        if (uri !== undefined) return { server, uri, read: () => read(uri) };
      }
      return undefined;
    },
    appTools: (server) => servers.get(server)?.toolList.appTools ?? new Map(),
    async add(name, config) {
      const { connection } = await open(name, parseServerConfig(name, config, variables));
      await connection.start(false);
    },
    ...createServerControls(servers),
    async close() {
      await Promise.allSettled([...servers.values()].map((server) => server.close()));
      await trust.save();
    },
  };
}

function createServerControls(
  servers: Map<string, Server>,
): Pick<McpTools, "remove" | "signIn" | "signOut" | "traffic"> {
  return {
    async remove(name) {
      const server = findServer(servers, name);
      servers.delete(name);
      await server.close();
    },
    signIn: (name) => findServer(servers, name).connection.refresh(),
    signOut: (name) => findServer(servers, name).signOut(),
    traffic: (name, after) => findServer(servers, name).traffic.list(after),
  };
}

/** An invalid entry must not stop the other servers. */
function toConfigOrError(read: () => ServerConfig): ServerConfig | AgentError {
  try {
    return read();
  } catch (error) {
    if (error instanceof AgentError) return error;
    throw error;
  }
}

/** Two servers can produce the same tool name ("a" with "b_c", "a_b" with "c"): the first one wins. */
function listUniqueTools(servers: ReadonlyMap<string, Server>): Tool[] {
  const byName = new Map<string, Tool>();
  for (const { toolList } of servers.values())
    for (const tool of toolList.tools) if (!byName.has(tool.name)) byName.set(tool.name, tool);
  return [...byName.values()];
}

function collectStatus(servers: ReadonlyMap<string, Server>): ServerStatus[] {
  const ownerByTool = new Map<string, string>();
  return [...servers.values()].map((server) => {
    const status = getServerStatus(server);
    const collisions = status.tools.filter((name) => ownerByTool.has(name));
    const problems = collisions.map(
      (name) =>
        `The tool "${name}" is not offered: the server "${ownerByTool.get(name)}" has a tool of that name. Rename one of the servers.`,
    );
    const tools = status.tools.filter((name) => !ownerByTool.has(name));
    for (const name of tools) ownerByTool.set(name, status.name);
    const metadata = {
      ...status.metadata,
      tools: status.metadata.tools.filter(({ name }) => !collisions.includes(name)),
    };
    return { ...status, tools, metadata, problems: [...status.problems, ...problems] };
  });
}

async function checkRequired(
  required: readonly string[],
  servers: ReadonlyMap<string, Server>,
): Promise<void> {
  for (const name of required) {
    const { state, error } = findServer(servers, name).connection.status();
    if (state === "ready") continue;
    await Promise.allSettled([...servers.values()].map((server) => server.close()));
    const reason = error?.message ?? `It is ${state}.`;
    throw new AgentError(
      "mcp_disconnected",
      `The MCP server "${name}" is required but not available. ${reason}`,
    );
  }
}
