import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { parse } from "node:path";
import { mcpTools } from "@capstan/mcp";
import type { Io } from "../../io.ts";
import { type ClientCommand, parseClientEntry } from "../../mcp-config/client-entry.ts";
import { readClientFile } from "../../mcp-config/client-file.ts";
import { type McpClientName, mcpClientNames, mcpClients } from "../../mcp-config/mcp-clients.ts";
import { type Finding, getErrorMessage } from "./findings.ts";

const maxStartMs = 30_000;

/** Checks the entries of `capstan mcp install`: their paths, and whether the command starts and lists its tools. */
export async function checkClients(io: Io): Promise<readonly Finding[]> {
  const findings = await Promise.all(
    mcpClientNames.map(async (clientName) => {
      const client = mcpClients[clientName];
      const path = client.getFile({ platform: process.platform, env: io.env });
      try {
        const { servers } = await readClientFile(path, client);
        const entries = Object.entries(servers).flatMap(([name, entry]) => {
          const installed = parseClientEntry(entry);
          return installed ? [{ name, ...installed }] : [];
        });
        return await Promise.all(entries.map((entry) => checkEntry(clientName, path, entry)));
      } catch (error) {
        const finding: Finding = {
          what: `MCP client ${client.title}`,
          state: "limited",
          says: getErrorMessage(error),
        };
        return [finding];
      }
    }),
  );
  const found = findings.flat();
  if (found.length > 0) return found;
  return [
    { what: "MCP clients", state: "ok", says: "none (`capstan mcp install <client>` adds Capstan to one)" },
  ];
}

type InstalledEntry = ClientCommand & { readonly name: string; readonly folder: string };

async function checkEntry(clientName: McpClientName, path: string, entry: InstalledEntry): Promise<Finding> {
  const { name, command, args, env, folder } = entry;
  const what = `MCP client ${mcpClients[clientName].title}`;
  const advice = `In the folder of the project, run \`capstan mcp install ${clientName} --name ${name} --force\`.`;
  const config = args[args.indexOf("--config") + 1];
  const paths = [command, args[0] ?? "", folder, ...(args.includes("--config") && config ? [config] : [])];
  const missing = paths.find((file) => !existsSync(file));
  if (missing !== undefined)
    return { what, state: "broken", says: `${name} in ${path}: ${missing} does not exist`, advice };
  // Another folder than the project's, as with a client.
  const cwd = parse(homedir()).root;
  const mcp = await mcpTools({
    mcpServers: { [name]: { command, args: [...args], env, cwd, startTimeout: maxStartMs } },
    variables: {},
  });
  try {
    const [status] = mcp.status();
    if (status?.state === "ready") {
      const tools = status.tools.map((tool) => tool.slice(`mcp_${name}_`.length)).join(", ");
      return { what, state: "ok", says: `${name} in ${path} starts and offers ${tools}` };
    }
    const reason = status?.error?.message ?? "it did not start";
    const [lastLine = ""] = status?.log.slice(-1) ?? [];
    return { what, state: "broken", says: `${name} in ${path}: ${reason} ${lastLine}`.trimEnd(), advice };
  } finally {
    await mcp.close();
  }
}
