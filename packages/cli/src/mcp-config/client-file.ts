import { readFile, realpath, stat } from "node:fs/promises";
import { AgentError, isRecord } from "capstan";
import { replaceFile } from "capstan/replace-file";
import { JsoncError, parseJsonc } from "./jsonc.ts";
import type { McpClient } from "./mcp-clients.ts";

/** The configuration of a client. */
export type ClientFile = {
  readonly path: string;
  readonly text: string;
  readonly servers: Readonly<Record<string, unknown>>;
};

/** Reads the file; a missing one has no servers. Throws `mcp_config` when it cannot be read or parsed. */
export async function readClientFile(path: string, { section }: McpClient): Promise<ClientFile> {
  const text = await readOrEmpty(path);
  try {
    const content = parseJsonc(text) ?? {};
    const servers = isRecord(content) ? (content[section] ?? {}) : undefined;
    if (isRecord(servers)) return { path, text, servers };
  } catch (error) {
    if (!(error instanceof JsoncError)) throw error;
    throw createClientFileError(path, `is not valid JSON (${error.message})`);
  }
  throw createClientFileError(path, `must be an object whose "${section}" has one entry per server`);
}

/** Replaces the file atomically. Rejects if it has changed since it was read: the client may write it too. */
export async function writeClientFile({ path, text: before }: ClientFile, text: string): Promise<void> {
  // A link, as in a folder of dotfiles, stays a link.
  const target = await realpath(path).catch(() => path);
  if ((await readOrEmpty(path)) !== before)
    throw new AgentError("mcp_config", `${path} was changed by another program. Try again.`);
  const mode = await stat(target).then(
    (stats) => stats.mode & 0o777,
    () => 0o600,
  );
  try {
    await replaceFile(target, text, { mode });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const message = `${path} cannot be written (${code}). Check its permissions, or use --print.`;
    throw new AgentError("mcp_config", message, { cause });
  }
}

async function readOrEmpty(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return "";
    throw new AgentError("mcp_config", `${path} cannot be read (${code}). Check its permissions.`);
  }
}

function createClientFileError(path: string, problem: string): AgentError {
  return new AgentError("mcp_config", `${path} ${problem}. Fix it, or add the output of --print yourself.`);
}
