export type { HttpConfig, ServerConfig, StdioConfig, ToolConfig } from "./client/config.ts";
export { type McpOptions, type McpTools, mcpTools } from "./client/mcp-tools.ts";
export type { Sampling } from "./client/sampling.ts";
export type { ServerStatus } from "./client/server.ts";
