// The MCP servers whose tools the agent uses: those of mcp.json, or others.
import { join } from "node:path";
import { type McpOptions, type McpTools, mcpTools } from "@capstan/mcp";
import { dataFolder } from "capstan/data-folder";

export type ChildOptions = Pick<McpOptions, "mcpServers" | "file"> & {
  /** Where the servers of mcp.json keep their data. */
  readonly data?: string;
};

/**
 * Starts the servers: those of `mcpServers` if given, else those of `file`, by default mcp.json beside this module. Close
 * what you get when you are done.
 */
export function childServers(options: ChildOptions = {}): Promise<McpTools> {
  const { mcpServers, data = usualData() } = options;
  const file = options.file ?? join(import.meta.dirname, "mcp.json");
  return mcpTools({
    ...(mcpServers ? { mcpServers } : { file }),
    variables: { ...process.env, NODE: process.execPath, APP: import.meta.dirname, DATA: data },
  });
}

/** Beside the database and the logs. */
export const usualData = (): string => join(dataFolder(), "mcp-bridge");
