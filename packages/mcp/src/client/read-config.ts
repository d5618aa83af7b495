import { readFile } from "node:fs/promises";
import { AgentError } from "capstan";
import { isRecord } from "../is-record.ts";

/** The entries of a `.mcp.json` or `mcp.json` file, as they are written there. */
export async function readConfigFile(file: string): Promise<Readonly<Record<string, unknown>>> {
  const refuse = (problem: string): never => {
    throw new AgentError("mcp_config", `The MCP configuration ${file} ${problem}.`);
  };
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) =>
    refuse(error.code === "ENOENT" ? "does not exist" : `cannot be read (${error.code})`),
  );
  let content: unknown;
  try {
    content = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    // The rest of the message shows a piece of the file, which may hold a secret.
    const [where = ""] = /at position \d+( \(line \d+ column \d+\))?$/.exec((error as Error).message) ?? [];
    return refuse(`is not JSON ${where}`.trimEnd());
  }
  if (!isRecord(content) || !isRecord(content.mcpServers))
    return refuse('needs an object "mcpServers", with an entry for each server');
  return content.mcpServers;
}
