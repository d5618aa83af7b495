// Edits the project's `.mcp.json`: changes one entry and keeps the file's indentation, line breaks and other content.

import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { AgentError, isRecord } from "capstan";
import { replaceFile } from "capstan/replace-file";

/** An entry of `mcpServers`, as stored in the file. */
export type McpEntry = Readonly<Record<string, unknown>>;

/** The parsed file. */
export type McpFile = {
  readonly path: string;
  readonly exists: boolean;
  readonly servers: Readonly<Record<string, unknown>>;
};

type Content = Record<string, unknown> & { mcpServers?: Record<string, unknown> };

/** Reads the file; a missing file has no servers. Throws `mcp_config` when it cannot be read or parsed. */
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
  // A replaced server keeps its position.
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
    throw new AgentError("mcp_config", `${path} cannot be read (${code}). Check its permissions.`);
  }
}

function parseMcpFile(path: string, text: string | undefined): Content {
  if (text === undefined) return {};
  let content: unknown;
  try {
    content = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    // The parser's message quotes the file, which may contain a secret: keep only the position.
    const [where = ""] = /\(line \d+ column \d+\)/.exec((error as Error).message) ?? [];
    throw new AgentError(
      "mcp_config",
      `${path} is not valid JSON ${where}`.trimEnd().concat(". Fix it, then try again."),
    );
  }
  const isUsable = isRecord(content) && (content.mcpServers === undefined || isRecord(content.mcpServers));
  if (isUsable) return content as Content;
  throw new AgentError(
    "mcp_config",
    `${path} must contain an object "mcpServers" with one entry per server. Fix it, then try again.`,
  );
}

/** Keeps the byte order mark, indentation and line breaks of the previous text. */
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
      `${path} cannot be written (${(error as NodeJS.ErrnoException).code}). Check the permissions of its folder.`,
      { cause: error },
    );
  }
}
