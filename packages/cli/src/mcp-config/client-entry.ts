import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { AgentError, isRecord } from "capstan";
import type { Io } from "../io.ts";
import type { WorkspaceFlags } from "../workspace/workspace.ts";
import type { McpClient } from "./mcp-clients.ts";
import type { McpEntry } from "./mcp-file.ts";

/** The command that a client starts. Every path is absolute, because clients start servers in any folder. */
export type ClientCommand = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

/** The program of this installation. */
export const capstanProgram: string = fileURLToPath(new URL("../../bin/capstan.js", import.meta.url));

export type CommandOptions = Pick<WorkspaceFlags, "agent" | "model" | "tools" | "config" | "database"> & {
  /** The folder the agents work in. */
  readonly folder: string;
  /** `KEY=VALUE`, or `KEY` for a variable of this shell. */
  readonly variables?: readonly string[];
};

/** Builds the command that serves the agents of a folder. */
export function buildClientCommand(
  options: CommandOptions,
  { env, cwd }: Pick<Io, "env" | "cwd">,
): ClientCommand {
  const { folder, agent, model, tools, config, database, variables = [] } = options;
  const isUrl = database !== undefined && /^\w+:\/\//.test(database);
  const flags: Record<string, string | undefined> = {
    "--folder": folder,
    "--config": config && resolve(cwd, config),
    "--agent": agent,
    "--model": model,
    "--tools": tools,
    "--database": isUrl ? database : database && resolve(cwd, database),
  };
  // A client starts the server without the variables of this shell.
  const kept = ["CAPSTAN_HOME", "CAPSTAN_MODEL"].flatMap((name) => {
    const value = env[name];
    return value ? [[name, name === "CAPSTAN_HOME" ? resolve(cwd, value) : value] as const] : [];
  });
  return {
    command: process.execPath,
    args: [
      capstanProgram,
      "mcp",
      ...Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [flag, value])),
    ],
    env: Object.fromEntries([...kept, ...variables.map((text) => parseVariable(text, env))]),
  };
}

function parseVariable(text: string, env: Io["env"]): readonly [string, string] {
  const [, key = "", given] = /^([A-Za-z_]\w*)(?:=([\s\S]*))?$/.exec(text) ?? [];
  const value = given ?? env[key];
  if (key !== "" && value !== undefined) return [key, value];
  const problem = key === "" ? `-e must be KEY=VALUE or KEY` : `${key} is not set in this shell`;
  throw new AgentError("invalid_input", `${problem}. Example: capstan mcp install cursor -e OPENAI_API_KEY`);
}

/** Returns the entry in the client's format. */
export function toClientEntry({ command, args, env }: ClientCommand, { hasType }: McpClient): McpEntry {
  return {
    ...(hasType && { type: "stdio" }),
    command,
    args,
    ...(Object.keys(env).length > 0 && { env }),
  };
}

/** Reads an entry that `capstan mcp install` wrote; undefined for any other. */
export function parseClientEntry(entry: unknown): (ClientCommand & { readonly folder: string }) | undefined {
  if (!isRecord(entry) || typeof entry.command !== "string" || !Array.isArray(entry.args)) return undefined;
  const args = entry.args.map(String);
  const [program = "", subcommand, flag, folder] = args;
  if (basename(program) !== "capstan.js" || subcommand !== "mcp" || flag !== "--folder" || !folder)
    return undefined;
  const env = isRecord(entry.env) ? entry.env : {};
  return {
    command: entry.command,
    args,
    env: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, String(value)])),
    folder,
  };
}
