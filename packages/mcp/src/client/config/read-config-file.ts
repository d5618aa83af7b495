import { readFile } from "node:fs/promises";
import { AgentError, isRecord } from "capstan";

/** Reads the raw entries of a `.mcp.json` or `mcp.json` file. */
export async function readConfigFile(file: string): Promise<Readonly<Record<string, unknown>>> {
  const fail = (problem: string): never => {
    throw new AgentError("mcp_config", `MCP config ${file} ${problem}.`);
  };
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) =>
    fail(error.code === "ENOENT" ? "does not exist" : `cannot be read (${error.code})`),
  );
  let content: unknown;
  try {
    content = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    // The rest of the parser's message quotes the file, which may contain a secret.
    const [position = ""] =
      /at position \d+( \(line \d+ column \d+\))?$/.exec((error as Error).message) ?? [];
    return fail(`is not valid JSON ${position}`.trimEnd());
  }
  if (!isRecord(content) || !isRecord(content.mcpServers))
    return fail('needs an object "mcpServers", with an entry for each server');
  return content.mcpServers;
}
