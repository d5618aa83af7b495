import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { McpTools, ServerConfig } from "@capstan/mcp";
import { AgentError } from "capstan";
import { dataFolder } from "capstan/data-folder";
import { formatCount } from "capstan/sessions";
import type { Project } from "../config/load-project.ts";
import type { Io } from "../io.ts";
import type { WorkspaceFlags } from "./workspace.ts";

type Servers = Readonly<Record<string, ServerConfig>>;

/**
 * Collects the configured MCP servers. For servers of the same name the last source wins: `mcp.json` in the data folder,
 * the project's `.mcp.json`, the config, `--mcp-config`.
 */
export function collectMcpServers(
  { mcpConfig }: WorkspaceFlags,
  { config, mcpFile }: Project,
  io: Io,
): Servers {
  const userFile = join(dataFolder(io.env), "mcp.json");
  return {
    ...(existsSync(userFile) && readServers(userFile)),
    ...(mcpFile !== undefined && readServers(mcpFile)),
    ...config.mcpServers,
    ...(mcpConfig !== undefined && readMcpConfig(mcpConfig, io)),
  };
}

/** Starts the servers. Returns undefined, without loading MCP, when none are configured and none can be added. */
export async function startServers(
  mcpServers: Servers,
  io: Io,
  flags: Pick<WorkspaceFlags, "isScript" | "mcpRedirect">,
): Promise<McpTools | undefined> {
  if (Object.keys(mcpServers).length === 0 && !flags.mcpRedirect) return undefined;
  const { mcpTools } = await import("@capstan/mcp");
  const { createSignIn: signIn } = await import("./sign-in.ts");
  return mcpTools({
    mcpServers,
    variables: io.env,
    roots: [io.cwd],
    discovery: "on-change",
    trustFile: join(dataFolder(io.env), "mcp-tools.json"),
    oauth: signIn(io, flags),
  });
}

/** Returns one line per problem of a server. */
export function getMcpNotices(mcp: McpTools | undefined): readonly string[] {
  return (mcp?.status() ?? []).flatMap(({ name, error, changed, isApproved, problems }) => [
    ...(error ? [`MCP server "${name}" failed: ${error.message}`] : []),
    ...(changed.length > 0
      ? [
          `MCP server "${name}": ${formatCount(changed.length, "tool")} changed since you trusted the server: disabled.`,
        ]
      : []),
    ...(isApproved
      ? []
      : [
          `MCP server "${name}" is not approved, so effects of other tools may need your approval. Run \`capstan mcp review ${name}\`.`,
        ]),
    ...problems.map((problem) => `MCP server "${name}": ${problem}`),
  ]);
}

/** Reads `--mcp-config`: a file, or JSON. */
export function readMcpConfig(fileOrJson: string, io: Io): Servers {
  return fileOrJson.trimStart().startsWith("{")
    ? parseServers(fileOrJson, "--mcp-config")
    : readServers(resolve(io.cwd, fileOrJson));
}

function readServers(file: string): Servers {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const problem = code === "ENOENT" ? "does not exist" : `cannot be read (${code})`;
    throw new AgentError("mcp_config", `The MCP config ${file} ${problem}. Check the path.`);
  }
  return parseServers(text, file);
}

function parseServers(text: string, where: string): Servers {
  let content: unknown;
  try {
    content = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    // The parser's message quotes the file, which may contain a secret: keep only the position.
    const [place = ""] = /\(line \d+ column \d+\)/.exec((error as Error).message) ?? [];
    throw new AgentError("mcp_config", `${where} is not valid JSON ${place}`.trimEnd().concat("."));
  }
  const servers = (content as { mcpServers?: unknown } | null)?.mcpServers;
  if (typeof servers === "object" && servers !== null && !Array.isArray(servers)) return servers as Servers;
  const message = `${where} must have an object "mcpServers" with one entry per server.`;
  throw new AgentError("mcp_config", message);
}
