import type { McpTools, ServerMetadata, ServerStatus } from "@capstan/mcp";
import type { Event, Tool } from "capstan";
import type { ToolInfo } from "capstan/client";
import { getScope } from "capstan/sessions";
import type { Caller } from "../access/caller.ts";
import { buildToolView } from "./agent-view.ts";

/** Status of an MCP server for the user interface. */
export type McpServerView = {
  readonly name: string;
  readonly state: ServerStatus["state"];
  readonly error?: { readonly code: string; readonly message: string };
  /** For admins only. */
  readonly address?: string;
  readonly needsSignIn: boolean;
  readonly isSignedIn: boolean;
  readonly canRemove: boolean;
  readonly restarts: number;
  /** Named as on the MCP server, without prefix. */
  readonly tools: readonly ToolInfo[];
  /** Disabled until they are trusted again. */
  readonly changed: readonly { readonly name: string; readonly was: unknown; readonly is: unknown }[];
  /** Whether the user or the operator has approved everything that the model reads of it. */
  readonly isApproved: boolean;
  /** What the model reads of it, for admins only. */
  readonly metadata?: ServerMetadata;
  readonly problems: readonly string[];
  /** Calls of the caller, newest first. */
  readonly calls: readonly McpCall[];
  /** Last log lines, for admins only. */
  readonly log?: readonly string[];
};

export type McpServerSources = {
  readonly mcp: McpTools | undefined;
  readonly calls: McpCalls;
  /** Names of the servers that the caller may remove. */
  readonly removable: readonly string[];
};

export function buildMcpServerViews(
  { mcp, calls, removable }: McpServerSources,
  { scope, isAdmin }: Caller,
): readonly McpServerView[] {
  if (!mcp) return [];
  const tools = new Map(mcp.tools.map((tool) => [tool.name, tool]));
  return mcp.status().map(({ name, state, error, restarts, changed, tools: names, ...status }) => ({
    ...{ name, state, restarts, problems: status.problems, isApproved: status.isApproved },
    ...{
      needsSignIn: status.needsSignIn,
      isSignedIn: status.isSignedIn,
      canRemove: removable.includes(name),
    },
    ...(isAdmin && status.address !== undefined && { address: status.address }),
    // Error messages may reveal the server's command line.
    ...(error && {
      error: { code: error.code, message: isAdmin ? error.message : "The server is unavailable." },
    }),
    tools: names.flatMap((full) => buildServerTools(tools.get(full), name)),
    changed: isAdmin ? changed : changed.map((tool) => ({ name: tool.name, was: undefined, is: undefined })),
    calls: calls.list(name, scope),
    ...(isAdmin && { metadata: status.metadata, log: status.log }),
  }));
}

function buildServerTools(tool: Tool | undefined, server: string): readonly ToolInfo[] {
  return tool ? [{ ...buildToolView(tool), name: tool.name.slice(`mcp_${server}_`.length) }] : [];
}

/** A call of an MCP tool, without arguments and result. */
export type McpCall = {
  readonly tool: string;
  readonly at: number;
  readonly ms: number;
  readonly status: string;
  readonly runId: string;
  readonly sessionId: string;
};

/** Recent MCP calls of this process. */
export interface McpCalls {
  record(event: Event): void;
  /** Lists the calls of one user, newest first. */
  list(server: string, scope: string): readonly McpCall[];
}

const maxListed = 20;
/** Per server, for all users. */
const maxStored = 500;

/** Records calls to these servers. Tools are named `mcp_<server>_<tool>`. */
export function createMcpCalls(servers: () => readonly string[]): McpCalls {
  const callsByServer = new Map<string, McpCall[]>();
  /** The longest match, because one server's name may be a prefix of another's. */
  function findServer(name: string): string | undefined {
    if (!name.startsWith("mcp_")) return undefined;
    const named = servers().filter((server) => name.startsWith(`mcp_${server}_`));
    return named.toSorted((left, right) => right.length - left.length)[0];
  }
  return {
    record(event) {
      if (event.type !== "tool_call_result") return;
      const server = findServer(event.name);
      if (server === undefined) return;
      const { at, ms, status, runId, sessionId } = event;
      const calls = callsByServer.get(server) ?? [];
      callsByServer.set(server, calls);
      calls.unshift({ tool: event.name.slice(`mcp_${server}_`.length), at, ms, status, runId, sessionId });
      calls.length = Math.min(calls.length, maxStored);
    },
    list: (server, scope) =>
      (callsByServer.get(server) ?? [])
        .filter(({ sessionId }) => getScope(sessionId) === scope)
        .slice(0, maxListed),
  };
}
