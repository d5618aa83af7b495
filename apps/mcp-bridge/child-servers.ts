// The MCP servers whose tools the agent uses, by default those in mcp.json.
import { join } from "node:path";
import { type McpOptions, type McpTools, mcpTools } from "@capstan/mcp";
import { dataFolder } from "capstan/data-folder";

export type ChildServerOptions = Pick<McpOptions, "mcpServers" | "file"> & {
  /** Data folder of the servers in mcp.json. */
  readonly dataFolder?: string;
};

/**
 * Starts the servers in `mcpServers`, or else those in `file`, which defaults to the mcp.json of this app. The caller
 * closes them.
 */
export function startChildServers(options: ChildServerOptions = {}): Promise<McpTools> {
  const { mcpServers, dataFolder: data = getDefaultDataFolder() } = options;
  const file = options.file ?? join(import.meta.dirname, "mcp.json");
  return mcpTools({
    ...(mcpServers ? { mcpServers } : { file }),
    variables: { ...process.env, NODE: process.execPath, APP: import.meta.dirname, DATA: data },
  });
}

/** The data folder also holds the database and the logs. */
export const getDefaultDataFolder = (): string => join(dataFolder(), "mcp-bridge");
