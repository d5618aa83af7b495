import type { ServerConfig, ServerStatus, ToolMetadata } from "@capstan/mcp";
import { AgentError, escapeInvisible, suggestName } from "capstan";
import { diffLines } from "capstan/sessions";
import { loadProject } from "../config/load-project.ts";
import type { Io } from "../io.ts";
import { formatJson } from "../output/format-json.ts";
import { escapeTerminal } from "../terminal/escape-terminal.ts";
import { collectMcpServers, startServers } from "../workspace/mcp-servers.ts";
import type { WorkspaceFlags } from "../workspace/workspace.ts";

type ReviewFlags = WorkspaceFlags & { readonly yes?: boolean; readonly json?: boolean };

/** `capstan mcp review`. Shows what the model reads of a server, asks, and stores the approval of exactly that. */
export async function reviewServer(name: string, flags: ReviewFlags, io: Io): Promise<void> {
  const project = await loadProject(flags, io, "required");
  for (const notice of project.notices) io.stderr.write(`${escapeTerminal(notice)}\n`);
  const config = findServerConfig(name, collectMcpServers(flags, project, io));
  const mcp = await startServers({ [name]: { ...config, required: true } }, io, flags);
  const [status] = mcp?.status() ?? [];
  if (!mcp || !status) return;
  try {
    const { metadata, isApproved } = status;
    io.stdout.write(flags.json ? formatJson(metadata) : formatReview(status));
    if (isApproved) return;
    if (!flags.yes && !(await confirmApproval(name, io))) return;
    await mcp.trust(name, undefined, metadata.fingerprint);
    io.stderr.write(`Approved ${name}. Running processes apply this after a refresh or a restart.\n`);
  } finally {
    await mcp.close();
  }
}

function findServerConfig(name: string, servers: Readonly<Record<string, ServerConfig>>): ServerConfig {
  const config = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (config) return config;
  throw new AgentError(
    "invalid_input",
    `MCP server "${name}" not found.${suggestName(name, Object.keys(servers)) || " Run `capstan mcp list` to list servers."}`,
  );
}

/** Formats the texts as the model gets them, and the difference of tools that have changed. */
export function formatReview({ name, isApproved, metadata, changed, problems }: ServerStatus): string {
  const blocks = [
    `MCP server "${name}": ${isApproved ? "approved" : "not approved"}. The model reads:`,
    ...metadata.tools.map(formatTool),
    ...changed.map(
      (tool) => `${tool.name} has changed since you trusted it:\n${formatToolChange(tool.was, tool.is)}`,
    ),
    ...problems,
  ];
  return `${escapeTerminal(blocks.join("\n\n"))}\n`;
}

function formatTool({ name, description, input, isApproved }: ToolMetadata): string {
  return [
    isApproved ? name : `${name} (not approved)`,
    ...description.split("\n").map((line) => `  ${line}`),
    `  Parameters: ${JSON.stringify(input)}`,
  ].join("\n");
}

const marks = { same: " ", left: "-", right: "+" } as const;

function formatToolChange(was: unknown, is: unknown): string {
  const [before = "", after = ""] = [was, is].map((value) => JSON.stringify(value, undefined, 2));
  return diffLines(before.split("\n"), after.split("\n"))
    .filter(({ type }) => type !== "same")
    .map(({ type, line }) => `${marks[type]} ${escapeInvisible(line)}`)
    .join("\n");
}

async function confirmApproval(name: string, io: Io): Promise<boolean> {
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true) {
    io.stderr.write(`Not approved. To approve: capstan mcp review ${name} --yes\n`);
    return false;
  }
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({
    message: "Approve these texts? Until then, effects of other tools may need your approval.",
    initialValue: false,
    input: io.stdin,
    output: io.stderr,
  });
  if (isCancel(answer)) throw new AgentError("aborted", "Cancelled. Nothing was approved.");
  return answer;
}
