import type { McpTools, ServerStatus } from "@capstan/mcp";
import type { Tool } from "capstan";
import type { ToolInfo } from "capstan/client";
import type { Caller } from "../access/caller.ts";
import { toolView } from "./agent-view.ts";
import type { McpCall, McpCalls } from "./mcp-calls.ts";

/** An MCP server as people look after it. */
export type McpServerView = {
  readonly name: string;
  readonly state: ServerStatus["state"];
  readonly error?: { readonly code: string; readonly message: string };
  readonly restarts: number;
  /** By the server's names for them. */
  readonly tools: readonly ToolInfo[];
  /** Off until they are trusted again. */
  readonly changed: readonly { readonly name: string; readonly was: unknown; readonly is: unknown }[];
  readonly problems: readonly string[];
  /** Of whoever asks, the newest first. */
  readonly calls: readonly McpCall[];
  /** The last lines, for those who look after the server. */
  readonly log?: readonly string[];
};

/** The servers of a deployment, for somebody who asks. */
export function mcpView(
  mcp: McpTools | undefined,
  calls: McpCalls,
  { scope, isAdmin }: Caller,
): readonly McpServerView[] {
  if (!mcp) return [];
  const tools = new Map(mcp.tools.map((tool) => [tool.name, tool]));
  return mcp.status().map(({ name, state, error, restarts, changed, problems, log, tools: names }) => ({
    ...{ name, state, restarts, problems },
    // What went wrong may show how it is started.
    ...(error && { error: { code: error.code, message: isAdmin ? error.message : "It does not work." } }),
    tools: names.flatMap((full) => shownTool(tools.get(full), name)),
    changed: isAdmin ? changed : changed.map((tool) => ({ name: tool.name, was: undefined, is: undefined })),
    calls: calls.of(name, scope),
    ...(isAdmin && { log }),
  }));
}

function shownTool(tool: Tool | undefined, server: string): readonly ToolInfo[] {
  return tool ? [{ ...toolView(tool), name: tool.name.slice(`mcp_${server}_`.length) }] : [];
}
