import { AgentError } from "capstan";
import type { McpTools } from "./mcp-tools.ts";
import type { Server } from "./server.ts";

/** Throws `mcp_config` for an unknown name. */
export function findServer(servers: ReadonlyMap<string, Server>, name: string): Server {
  const server = servers.get(name);
  if (server) return server;
  const knownNames = [...servers.keys()].map((serverName) => `"${serverName}"`).join(", ") || "none";
  throw new AgentError("mcp_config", `Unknown MCP server "${name}". Known servers: ${knownNames}.`);
}

/** Resources and prompts, for the application. */
export function createReaders(
  servers: ReadonlyMap<string, Server>,
): Pick<McpTools, "resources" | "readResource" | "prompts" | "getPrompt"> {
  type Client = Awaited<ReturnType<Server["connection"]["client"]>>;
  async function request<Result>(name: string, send: (client: Client) => Promise<Result>): Promise<Result> {
    const client = await findServer(servers, name).connection.client();
    try {
      return await send(client);
    } catch (thrown) {
      const { toServerError } = await import("./server-error.ts");
      throw toServerError(thrown, name);
    }
  }
  return {
    resources: async (server) => (await request(server, (client) => client.listResources())).resources,
    readResource: (server, uri) => request(server, (client) => client.readResource({ uri })),
    prompts: async (server) => (await request(server, (client) => client.listPrompts())).prompts,
    getPrompt: (server, name, input = {}) =>
      request(server, (client) => client.getPrompt({ name, arguments: input })),
  };
}
