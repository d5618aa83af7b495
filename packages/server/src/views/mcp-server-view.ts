import type { McpTools, ServerStatus } from "@capstan/mcp";
import type { Event, Tool } from "capstan";
import type { ToolInfo } from "capstan/client";
import { getScope } from "capstan/sessions";
import type { Caller } from "../access/caller.ts";
import { toolView } from "./agent-view.ts";

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

/** A call of a tool of an MCP server, without what was asked and answered. */
export type McpCall = {
  readonly tool: string;
  readonly at: number;
  readonly ms: number;
  readonly status: string;
  readonly runId: string;
  readonly sessionId: string;
};

/** The last calls that this process has made. */
export interface McpCalls {
  hear(event: Event): void;
  /** Those of one user, the newest first. */
  of(server: string, scope: string): readonly McpCall[];
}

const mostShown = 20;
/** Of all users together. */
const mostKept = 500;

/** For servers of these names. Tools are named `mcp_<server>_<tool>`. */
export function mcpCalls(servers: () => readonly string[]): McpCalls {
  const kept = new Map<string, McpCall[]>();
  /** The longest one, for the name of a server may begin with that of another. */
  function serverOf(name: string): string | undefined {
    if (!name.startsWith("mcp_")) return undefined;
    const named = servers().filter((server) => name.startsWith(`mcp_${server}_`));
    return named.toSorted((left, right) => right.length - left.length)[0];
  }
  return {
    hear(event) {
      if (event.type !== "tool_call_result") return;
      const server = serverOf(event.name);
      if (server === undefined) return;
      const { at, ms, status, runId, sessionId } = event;
      const calls = kept.get(server) ?? [];
      kept.set(server, calls);
      calls.unshift({ tool: event.name.slice(`mcp_${server}_`.length), at, ms, status, runId, sessionId });
      calls.length = Math.min(calls.length, mostKept);
    },
    of: (server, scope) =>
      (kept.get(server) ?? []).filter(({ sessionId }) => getScope(sessionId) === scope).slice(0, mostShown),
  };
}
