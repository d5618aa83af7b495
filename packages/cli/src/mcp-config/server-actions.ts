import { dirname } from "node:path";
import { AgentError, escapeInvisible, suggestName } from "capstan";
import { userFolder } from "capstan/data-folder";
import { findUpwards } from "../config/find-upwards.ts";
import { configNames } from "../config/load-project.ts";
import type { Io } from "../io.ts";
import { checkTrust, isTrusted, trustFile } from "../trust/trust.ts";
import { changeMcpFile, type McpFile, readMcpFile } from "./mcp-file.ts";
import { describeServer, findPlainSecrets, parseServer } from "./parse-server.ts";

/** Returns the folder of the nearest `.mcp.json`, else of the config, else the current folder. */
export function findMcpFolder({ cwd, env }: Pick<Io, "cwd" | "env">): string {
  const home = userFolder(env);
  const found =
    findUpwards([".mcp.json"], { from: cwd, home }) ?? findUpwards(configNames, { from: cwd, home });
  return found === undefined ? cwd : dirname(found);
}

/** `capstan mcp add`. */
export async function addServer(
  { words, isForced }: { readonly words: readonly string[]; readonly isForced: boolean },
  io: Io,
): Promise<void> {
  const { name, entry } = parseServer(words);
  const folder = findMcpFolder(io);
  const { servers, path } = await readMcpFile(folder);
  if (Object.hasOwn(servers, name) && !isForced)
    throw new AgentError(
      "invalid_input",
      `${path} already has a server "${name}". Choose another name, or replace it with --force.`,
    );
  await changeTrustedFile(folder, io, () => changeMcpFile(folder, name, entry));
  io.stderr.write(`Added to ${path}: ${name} · ${escapeInvisible(describeServer(entry))}\n`);
  for (const secret of findPlainSecrets(entry))
    io.stderr.write(
      `The value of ${secret} is stored in plain text in a file that is often shared. Use \${${secret.replaceAll(/\W/g, "_").toUpperCase()}} to read it from the environment.\n`,
    );
}

/** `capstan mcp list`. */
export async function listServers({ json = false }: { readonly json?: boolean }, io: Io): Promise<void> {
  const folder = findMcpFolder(io);
  const { servers, path } = await readMcpFile(folder);
  const lines = Object.entries(servers).map(([name, entry]) => ({ name, server: describeServer(entry) }));
  if (json) {
    io.stdout.write(`${JSON.stringify({ file: path, servers: lines })}\n`);
    return;
  }
  if (lines.length === 0) {
    io.stderr.write("No MCP servers. Add one: capstan mcp add <name> -- <command|url> [args…]\n");
    return;
  }
  const width = Math.max(...lines.map(({ name }) => name.length));
  for (const { name, server } of lines)
    io.stdout.write(`${escapeInvisible(name).padEnd(width)}  ${escapeInvisible(server)}\n`);
  if (checkTrust(path, io.env).state !== "trusted")
    io.stderr.write(
      "This file is not trusted yet, so these servers are not started. Run `capstan` in a terminal to trust it.\n",
    );
}

/** Changes `.mcp.json` and keeps it trusted if it was: the user made this change. */
async function changeTrustedFile(folder: string, { env }: Io, change: () => Promise<McpFile>): Promise<void> {
  const { path, exists } = await readMcpFile(folder);
  const wasTrusted = exists ? checkTrust(path, env).state === "trusted" : isTrusted(folder, env);
  await change();
  if (wasTrusted) await trustFile(checkTrust(path, env), env);
}

/** `capstan mcp remove`. */
export async function removeServer(name: string, io: Io): Promise<void> {
  const folder = findMcpFolder(io);
  const { servers, path } = await readMcpFile(folder);
  if (!Object.hasOwn(servers, name))
    throw new AgentError(
      "invalid_input",
      `${path} has no server "${name}".${suggestName(name, Object.keys(servers)) || " Run `capstan mcp list` to list servers."}`,
    );
  await changeTrustedFile(folder, io, () => changeMcpFile(folder, name, undefined));
  io.stderr.write(`Removed ${name} from ${path}.\n`);
}
