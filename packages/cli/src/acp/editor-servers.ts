import type { McpServer } from "@agentclientprotocol/sdk";
import type { ServerConfig } from "@capstan/mcp";
import { AgentError } from "capstan";
import type { Io } from "../io.ts";
import { isTrusted } from "../trust/trust.ts";

/** MCP servers that an editor passes to a session. */
export type EditorServers = {
  readonly servers: Readonly<Record<string, ServerConfig>>;
  readonly notices: readonly string[];
};

/**
 * Selects the editor's MCP servers. Editors merge the user's and the project's settings, so all of them are treated like
 * the project's `.mcp.json`: used only in a trusted folder.
 */
export function selectEditorServers(
  given: readonly McpServer[],
  { cwd, env }: Pick<Io, "cwd" | "env">,
): EditorServers {
  if (given.length === 0) return { servers: {}, notices: [] };
  if (!isTrusted(cwd, env)) {
    const names = given.map(({ name }) => JSON.stringify(name)).join(", ");
    const advice = "Review them, then run `capstan --trust` once in the folder.";
    const notice = `The editor's MCP servers ${names} are not used: the folder ${cwd} is not trusted. ${advice}`;
    return { servers: {}, notices: [notice] };
  }
  return {
    servers: Object.fromEntries(given.map((server) => [toServerName(server), toServerConfig(server)])),
    notices: [],
  };
}

/** Editors allow any name, but it becomes part of tool names. */
function toServerName({ name }: McpServer): string {
  return (
    name
      .replace(/[^A-Za-z0-9_-]+/g, "-")
      .replace(/^[-_]+/, "")
      .slice(0, 41) || "server"
  );
}

function toServerConfig(server: McpServer): ServerConfig {
  if (!("type" in server)) {
    const { command, args, env } = server;
    return { command: escapeVariables(command), args: args.map(escapeVariables), env: toVariableRecord(env) };
  }
  if (server.type === "http")
    return { type: "http", url: escapeVariables(server.url), headers: toVariableRecord(server.headers) };
  const message = `The MCP server "${server.name}" uses SSE, which MCP has deprecated. Use its streamable HTTP URL.`;
  throw new AgentError("invalid_input", message);
}

const toVariableRecord = (fields: readonly { readonly name: string; readonly value: string }[]) =>
  Object.fromEntries(fields.map(({ name, value }) => [name, escapeVariables(value)]));

/** Escapes `${`: the editor has already expanded its variables, so the text is literal. */
const escapeVariables = (text: string): string => text.replaceAll("${", () => `\${CAPSTAN_LITERAL:-$}{`);
