import type { Event } from "capstan";
import { getScope } from "capstan/sessions";

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
