import type { McpServer } from "@agentclientprotocol/sdk";
import type { ServerConfig } from "@capstan/mcp";
import { AgentError } from "capstan";
import type { Io } from "../io.ts";
import { isTrusted } from "../trust/trust.ts";

/** The MCP servers that an editor brings to a session, and what a person should know of them. */
export type EditorServers = {
  readonly servers: Readonly<Record<string, ServerConfig>>;
  readonly notices: readonly string[];
};

/**
 * Editors take servers from the user's settings and from those of the project that is open, and do not say which is
 * which. So they count as what the project says, like its `.mcp.json`: used only where the user trusts the folder.
 */
export function selectEditorServers(
  given: readonly McpServer[],
  { cwd, env }: Pick<Io, "cwd" | "env">,
): EditorServers {
  if (given.length === 0) return { servers: {}, notices: [] };
  if (!isTrusted(cwd, env)) {
    const names = given.map(({ name }) => JSON.stringify(name)).join(", ");
    const advice = "If you know what they start, run `capstan --trust` in it once.";
    const notice = `The editor's MCP servers ${names} are not used: the folder ${cwd} is not trusted. ${advice}`;
    return { servers: {}, notices: [notice] };
  }
  return {
    servers: Object.fromEntries(given.map((server) => [toServerName(server), toServerConfig(server)])),
    notices: [],
  };
}

/** Editors allow any name; it becomes part of the names of tools. */
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
    return { command: escapeVariables(command), args: args.map(escapeVariables), env: toFields(env) };
  }
  if (server.type === "http")
    return { type: "http", url: escapeVariables(server.url), headers: toFields(server.headers) };
  const message = `The MCP server "${server.name}" uses SSE, which MCP has given up: use its address for streamable HTTP.`;
  throw new AgentError("invalid_input", message);
}

const toFields = (fields: readonly { readonly name: string; readonly value: string }[]) =>
  Object.fromEntries(fields.map(({ name, value }) => [name, escapeVariables(value)]));

/** An editor has filled in its variables already: what looks like one of ours is meant as it stands. */
const escapeVariables = (text: string): string => text.replaceAll("${", () => `\${CAPSTAN_LITERAL:-$}{`);
