import { dirname } from "node:path";
import { AgentError, escapeInvisible, suggestName } from "capstan";
import { userFolder } from "capstan/data-folder";
import { findUpwards } from "../config/find-upwards.ts";
import { configNames } from "../config/load-project.ts";
import type { Io } from "../io.ts";
import { isTrusted } from "../trust/trust.ts";
import { changeMcpFile, readMcpFile } from "./mcp-file.ts";
import { describeServer, findPlainSecrets, parseServer } from "./parse-server.ts";

/** Where the project keeps its servers: the nearest `.mcp.json`, else the folder of the configuration, else here. */
function findMcpFolder({ cwd, env }: Io): string {
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
      `${path} has a server "${name}" already: choose another name, replace it with --force, or \`capstan mcp remove ${name}\`.`,
    );
  await changeMcpFile(folder, name, entry);
  io.stderr.write(`Added to ${path}: ${name} · ${escapeInvisible(describeServer(entry))}\n`);
  for (const secret of findPlainSecrets(entry))
    io.stderr.write(
      `The value of ${secret} now stands in that file, which is often shared. \${${secret.replaceAll(/\W/g, "_").toUpperCase()}} in its place takes it from the environment.\n`,
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
    io.stderr.write("No MCP server here. Add one: capstan mcp add <name> -- <command|url> [args…]\n");
    return;
  }
  const width = Math.max(...lines.map(({ name }) => name.length));
  for (const { name, server } of lines)
    io.stdout.write(`${escapeInvisible(name).padEnd(width)}  ${escapeInvisible(server)}\n`);
  if (!isTrusted(folder, io.env))
    io.stderr.write(
      "This folder is not trusted yet, so none of them is started: `capstan` asks about it, in a terminal.\n",
    );
}

/** `capstan mcp remove`. */
export async function removeServer(name: string, io: Io): Promise<void> {
  const folder = findMcpFolder(io);
  const { servers, path } = await readMcpFile(folder);
  if (!Object.hasOwn(servers, name))
    throw new AgentError(
      "invalid_input",
      `${path} has no server "${name}".${suggestName(name, Object.keys(servers)) || " `capstan mcp list` shows those it has."}`,
    );
  await changeMcpFile(folder, name, undefined);
  io.stderr.write(`Removed ${name} from ${path}.\n`);
}
