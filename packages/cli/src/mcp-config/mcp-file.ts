// The project's `.mcp.json`, as people keep it: read, changed in one entry, and written back whole with its own
// indentation, line ends and everything else that stands in it.

import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { AgentError } from "capstan";
import { replaceFile } from "capstan/replace-file";
import { isRecord } from "../is-record.ts";

/** One entry of `mcpServers`, as it is written in the file. */
export type McpEntry = Readonly<Record<string, unknown>>;

/** The file of a project, in memory. */
export type McpFile = {
  readonly path: string;
  readonly exists: boolean;
  readonly servers: Readonly<Record<string, unknown>>;
};

type Content = Record<string, unknown> & { mcpServers?: Record<string, unknown> };

/** Reads it; one that does not exist has no servers. Throws `mcp_config` for one that cannot be understood. */
export async function readMcpFile(folder: string): Promise<McpFile> {
  const path = join(folder, ".mcp.json");
  const text = await readOptional(path);
  return { path, exists: text !== undefined, servers: parseMcpFile(path, text).mcpServers ?? {} };
}

/** Adds, replaces or (with undefined) removes one server. */
export async function changeMcpFile(
  folder: string,
  name: string,
  entry: McpEntry | undefined,
): Promise<McpFile> {
  const path = join(folder, ".mcp.json");
  const text = await readOptional(path);
  const content = parseMcpFile(path, text);
  const { [name]: _, ...others } = content.mcpServers ?? {};
  const known = content.mcpServers ?? {};
  // A server that is replaced keeps its place.
  const servers = entry === undefined ? others : { ...known, [name]: entry };
  await writeMcpFile(path, formatMcpFile({ ...content, mcpServers: servers }, text));
  return { path, exists: true, servers };
}

async function readOptional(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new AgentError("mcp_config", `${path} cannot be read (${code}): look at its permissions.`);
  }
}

function parseMcpFile(path: string, text: string | undefined): Content {
  if (text === undefined) return {};
  let content: unknown;
  try {
    content = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    // The rest of the message shows a piece of the file, which may hold a secret.
    const [where = ""] = /\(line \d+ column \d+\)/.exec((error as Error).message) ?? [];
    throw new AgentError(
      "mcp_config",
      `${path} is not JSON ${where}`.trimEnd().concat(": repair it, then try again."),
    );
  }
  const isUsable = isRecord(content) && (content.mcpServers === undefined || isRecord(content.mcpServers));
  if (isUsable) return content as Content;
  throw new AgentError(
    "mcp_config",
    `${path} must be an object with an object "mcpServers", which has an entry for each server: repair it, then try again.`,
  );
}

/** In the hand of the text that was there before. */
function formatMcpFile(content: Content, before = ""): string {
  const [, indent = "  "] = /^[^\S\n]*[{[]\r?\n([ \t]+)\S/.exec(before.replace(/^\uFEFF/, "")) ?? [];
  const mark = before.startsWith("\uFEFF") ? "\uFEFF" : "";
  const text = `${mark}${JSON.stringify(content, undefined, indent)}\n`;
  return before.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text;
}

/** Keeps the permissions of the existing file. */
async function writeMcpFile(path: string, text: string): Promise<void> {
  const mode = await stat(path).then(
    (stats) => stats.mode & 0o777,
    () => 0o644,
  );
  try {
    await replaceFile(path, text, { mode });
  } catch (error) {
    throw new AgentError(
      "mcp_config",
      `${path} cannot be written (${(error as NodeJS.ErrnoException).code}): look at the permissions of its folder.`,
      { cause: error },
    );
  }
}
