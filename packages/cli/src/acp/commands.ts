import type { AvailableCommand } from "@agentclientprotocol/sdk";
import type { RunInput } from "capstan";
import { formatCount } from "capstan/sessions";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";
import type { AcpSession } from "./open-session.ts";

const commands: { readonly [name: string]: { readonly about: string; run(session: AcpSession): string[] } } =
  {
    tools: { about: "List the agent's tools", run: listAcpTools },
    mcp: { about: "List MCP servers and their state", run: listMcpServers },
  };

/** Slash commands. Only `retry` and `compact` call the model. */
export const availableCommands: readonly AvailableCommand[] = [
  ...Object.entries(commands).map(([name, { about }]) => ({ name, description: about })),
  { name: "retry", description: "Retry the last run after its model failed" },
  { name: "compact", description: "Summarize older messages now" },
];

/** Whether a prompt asks to continue the failed run. */
export function isRetryCommand(input: RunInput): boolean {
  return typeof input === "string" && /^\s*\/retry\s*$/.test(input);
}

/** Whether a prompt asks to summarize the history. */
export function isCompactCommand(input: RunInput): boolean {
  return typeof input === "string" && /^\s*\/compact\s*$/.test(input);
}

/** Runs the slash command of a prompt; undefined when the prompt is a message. */
export function runCommand(session: AcpSession, input: RunInput): string | undefined {
  const name = typeof input === "string" ? /^\s*\/(\w+)\s*$/.exec(input)?.[1] : undefined;
  const command = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  return command?.run(session).join("\n");
}

function listAcpTools({ agent }: AcpSession): string[] {
  const own = agent.toolSource?.() ?? [...agent.tools.values()];
  if (own.length === 0) return [`${escapeTerminalLine(agent.name)} has no tools.`];
  // Descriptions are untrusted: render them as code.
  return own.map(
    ({ name, description }) => `- \`${escapeCode(name)}\`: \`${escapeCode(description).slice(0, 160)}\``,
  );
}

function listMcpServers({ workspace }: AcpSession): string[] {
  const all = workspace.mcp?.status() ?? [];
  if (all.length === 0) return ["No MCP servers."];
  return all.map(({ name, state, tools: offered, error }) => {
    const trouble = error ? `: \`${escapeCode(error.message)}\`` : "";
    return `- \`${escapeCode(name)}\`: ${state}, ${formatCount(offered.length, "tool")}${trouble}`;
  });
}

const escapeCode = (text: string): string => escapeTerminalLine(text).replaceAll("`", "'");
