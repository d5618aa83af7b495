export { appHintKind } from "./client/apps/app-hint.ts";
export type { AppDomains, AppPage } from "./client/apps/read-app.ts";
export type { HttpConfig, ServerConfig, StdioConfig, ToolConfig } from "./client/config/server-config.ts";
export { joinMcpTools } from "./client/join-mcp-tools.ts";
export { type McpApp, type McpOptions, type McpTools, mcpTools } from "./client/mcp-tools.ts";
export {
  type CallbackOptions,
  type CallbackRedirect,
  callbackRedirect,
} from "./client/oauth/callback-redirect.ts";
export { type LoopbackOptions, loopbackRedirect } from "./client/oauth/loopback-redirect.ts";
export type { AuthorizationRequest, Redirect } from "./client/oauth/redirect.ts";
export { tokenFile } from "./client/oauth/token-file.ts";
export { type Credentials, memoryTokens, type TokenStore } from "./client/oauth/token-store.ts";
export type { Sampling } from "./client/requests/sampling.ts";
export type { SignIn } from "./client/server.ts";
export type { ServerStatus } from "./client/server-status.ts";
export type { ServerMetadata, ToolMetadata } from "./client/tools/tool-list.ts";
export type { TrafficMessage } from "./client/transport/traffic.ts";
export type { Knowledge } from "./server/knowledge-tools.ts";
export {
  type McpCaller,
  type McpHandler,
  type McpHandlerOptions,
  type McpServerFactory,
  mcpHandler,
} from "./server/mcp-handler.ts";
export { type McpService, type ServeMcpOptions, serveMcp } from "./server/serve-mcp.ts";
export type { StdioService } from "./server/stdio-service.ts";
