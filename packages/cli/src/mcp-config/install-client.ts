import { dirname, sep } from "node:path";
import { AgentError, escapeInvisible, suggestName } from "capstan";
import { diffLines } from "capstan/sessions";
import { loadProject } from "../config/load-project.ts";
import type { Io } from "../io.ts";
import type { WorkspaceFlags } from "../workspace/workspace.ts";
import {
  buildClientCommand,
  type ClientCommand,
  capstanProgram,
  parseClientEntry,
  toClientEntry,
} from "./client-entry.ts";
import { type ClientFile, readClientFile, writeClientFile } from "./client-file.ts";
import { setMember } from "./jsonc.ts";
import { type McpClient, mcpClientNames, mcpClients } from "./mcp-clients.ts";

export type InstallFlags = Omit<WorkspaceFlags, "print"> & {
  readonly name: string;
  readonly env?: readonly string[];
  /** Print the entry and write nothing. The flag of the program may have a value. */
  readonly print?: boolean | string;
  readonly force?: boolean;
};

/** `capstan mcp install`. Adds the agents of this folder to a client, or prints the entry. */
export async function installClient(
  clientName: string | undefined,
  flags: InstallFlags,
  io: Io,
): Promise<void> {
  // `--print zed` reads the client as the value of the program's own --print.
  const client = findClient(clientName ?? String(flags.print ?? ""));
  // Fails now, with advice, if the config cannot be used: the client would only report a server that does not start.
  const { configFile } = await loadProject(flags, io, "required");
  const folder = configFile === undefined ? io.cwd : dirname(configFile);
  const command = buildClientCommand({ ...flags, folder, variables: flags.env ?? [] }, io);
  const entry = toClientEntry(command, client);
  const path = client.getFile({ platform: process.platform, env: io.env });
  if (flags.print !== undefined) {
    io.stdout.write(`${JSON.stringify({ [client.section]: { [flags.name]: entry } }, undefined, 2)}\n`);
    io.stderr.write(`Add this to ${path}\n`);
    return;
  }
  const file = await readClientFile(path, client);
  if (!flags.force) assertReplaceable(file, { name: flags.name, folder });
  const text = setMember(file.text, [client.section, flags.name], entry);
  if (text === file.text) io.stderr.write(`${client.title} is up to date: ${path}\n`);
  else {
    await writeClientFile(file, text);
    io.stdout.write(formatConfigChange(file.text, text, command));
    io.stderr.write(`Added ${flags.name} to ${client.title}: ${path}\n${client.next}\n`);
  }
  for (const notice of listNotices(command, io)) io.stderr.write(`${notice}\n`);
}

/** `capstan mcp uninstall`. */
export async function uninstallClient(
  clientName: string,
  { name }: Pick<InstallFlags, "name">,
  io: Io,
): Promise<void> {
  const client = findClient(clientName);
  const file = await readClientFile(client.getFile({ platform: process.platform, env: io.env }), client);
  if (!Object.hasOwn(file.servers, name)) {
    const installed = Object.keys(file.servers).filter((key) => parseClientEntry(file.servers[key]));
    const advice =
      suggestName(name, installed) || (installed.length > 0 ? ` Use --name ${installed[0]}.` : "");
    throw new AgentError("invalid_input", `${file.path} has no server "${name}".${advice}`);
  }
  if (!parseClientEntry(file.servers[name]))
    throw new AgentError(
      "invalid_input",
      `The server "${name}" in ${file.path} was not added by capstan mcp install. Remove it in ${client.title}.`,
    );
  const text = setMember(file.text, [client.section, name], undefined);
  await writeClientFile(file, text);
  io.stderr.write(`Removed ${name} from ${client.title}: ${file.path}\n`);
}

function findClient(name: string): McpClient {
  const known = mcpClientNames.find((candidate) => candidate === name);
  if (known) return mcpClients[known];
  throw new AgentError("invalid_input", `Name a client: ${mcpClientNames.join(", ")}.`);
}

/** A server of another folder, or of another program, is replaced only on request. */
function assertReplaceable(
  { servers, path }: ClientFile,
  { name, folder }: { readonly name: string; readonly folder: string },
): void {
  if (!Object.hasOwn(servers, name)) return;
  const installed = parseClientEntry(servers[name]);
  if (installed?.folder === folder) return;
  const owner = installed ? `for ${installed.folder}` : "that Capstan did not add";
  throw new AgentError(
    "invalid_input",
    `${path} already has a server "${name}" ${owner}. Choose another --name, or replace it with --force.`,
  );
}

const marks = { same: " ", left: "-", right: "+" } as const;

/** Formats the changed lines, without the values of variables, which may be secret. */
function formatConfigChange(before: string, after: string, { env }: ClientCommand): string {
  const values = Object.entries(env).filter(([key]) => !key.startsWith("CAPSTAN_"));
  const hideValues = (line: string) =>
    values.reduce((text, [, value]) => text.replaceAll(JSON.stringify(value), '"…"'), line);
  return diffLines(before.split("\n"), after.split("\n"))
    .filter(({ type }) => type !== "same")
    .map(({ type, line }) => `${marks[type]} ${escapeInvisible(hideValues(line.trimEnd()))}\n`)
    .join("");
}

const keyNames = [
  "OPENAI_API_KEY",
  "ANTHROPIC_API_KEY",
  "GEMINI_API_KEY",
  "GOOGLE_API_KEY",
  "OPENROUTER_API_KEY",
];

function listNotices({ env }: ClientCommand, io: Io): readonly string[] {
  const stored = Object.keys(env).filter((key) => !key.startsWith("CAPSTAN_"));
  const missing = keyNames.filter((key) => io.env[key] && !stored.includes(key));
  return [
    ...(stored.length > 0 ? [`The file contains ${stored.join(", ")} in plain text.`] : []),
    ...(missing.length > 0
      ? [
          `Programs that are not started from this shell do not have ${missing.join(", ")}. To store a key in the file, in plain text: -e ${missing[0]}`,
        ]
      : []),
    ...(capstanProgram.includes(`${sep}_npx${sep}`)
      ? [
          "This is a copy in the cache of npx, which may be deleted. Run `npm install -g @capstan/cli`, then install again.",
        ]
      : []),
  ];
}
