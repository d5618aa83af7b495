import { join } from "node:path";
import type { McpServerFile } from "@capstan/server";
import { AgentError } from "capstan";
import type { Io } from "../io.ts";
import { checkTrust, trustFile } from "../trust/trust.ts";
import { changeMcpFile, type McpEntry, readMcpFile } from "./mcp-file.ts";
import { findMcpFolder } from "./server-actions.ts";

/** The project's `.mcp.json`, which `capstan mcp add` changes too. `onChange` is called after each change. */
export function openProjectServers(
  io: Io,
  onChange: (path: string) => void = () => undefined,
): McpServerFile {
  const folder = findMcpFolder(io);
  const path = join(folder, ".mcp.json");

  async function change(name: string, entry: McpEntry | undefined): Promise<void> {
    const { exists } = await readMcpFile(folder);
    // Trusting the file after this change must not trust what others wrote into it.
    if (exists && checkTrust(path, io.env).state !== "trusted")
      throw new AgentError(
        "mcp_config",
        `${path} is not trusted, or has changed since. Review it, run capstan with --trust, then try again.`,
      );
    await changeMcpFile(folder, name, entry);
    await trustFile(checkTrust(path, io.env), io.env);
    onChange(path);
  }
  return {
    path,
    // A damaged file has no servers that could be removed here.
    list: () =>
      readMcpFile(folder).then(
        ({ servers }) => Object.keys(servers),
        () => [],
      ),
    put: (name, config) => change(name, "url" in config ? { type: "http", ...config } : config),
    remove: (name) => change(name, undefined),
  };
}
