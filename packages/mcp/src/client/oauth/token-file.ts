// One JSON file: { "version": 1, "servers": { "<origin and path>": { "client": …, "tokens": … } } }.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { AgentError, isRecord } from "capstan";
import { replaceFile } from "capstan/replace-file";
import type { Credentials, TokenStore } from "./token-store.ts";

type Servers = Readonly<Record<string, Credentials>>;

/** By path: several stores on one file must not lose each other's writes. */
const lastWrites = new Map<string, Promise<void>>();

/** Stores tokens in a file with mode 0600. Missing folders are created with mode 0700. */
export function tokenFile(path: string): TokenStore {
  const file = resolve(path);
  return {
    read: async (key) => (await readServers(file))[key] ?? {},
    update(key, change) {
      const applyUpdate = async () => {
        const servers = await readServers(file);
        await writeServers(file, { ...servers, [key]: change(servers[key] ?? {}) });
      };
      const update = (lastWrites.get(file) ?? Promise.resolve()).then(applyUpdate);
      const settled = update.catch(() => undefined);
      lastWrites.set(file, settled);
      void settled.then(() => lastWrites.get(file) === settled && lastWrites.delete(file));
      return update;
    },
  };
}

async function readServers(file: string): Promise<Servers> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (getFileErrorCode(error) === "ENOENT") return {};
    throw new AgentError(
      "mcp_config",
      `The MCP token file ${file} cannot be read (${getFileErrorCode(error)}).`,
    );
  }
  const content = parseFileJson(text);
  if (isRecord(content) && content.version === 1 && isServers(content.servers)) return content.servers;
  // Without the parser's error, which quotes the text.
  const message = `The MCP token file ${file} is damaged or has another version. It was not changed: move it away, then sign in again.`;
  throw new AgentError("mcp_config", message);
}

async function writeServers(file: string, servers: Servers): Promise<void> {
  try {
    await replaceFile(file, `${JSON.stringify({ version: 1, servers }, undefined, 2)}\n`);
  } catch (error) {
    throw new AgentError(
      "mcp_config",
      `The MCP token file ${file} cannot be written (${getFileErrorCode(error)}).`,
    );
  }
}

function isServers(value: unknown): value is Servers {
  return isRecord(value) && Object.values(value).every(isCredentials);
}

function isCredentials(value: unknown): value is Credentials {
  if (!isRecord(value)) return false;
  const { client, tokens } = value;
  const hasClient = client === undefined || (isRecord(client) && typeof client.client_id === "string");
  return hasClient && (tokens === undefined || (isRecord(tokens) && typeof tokens.access_token === "string"));
}

function parseFileJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function getFileErrorCode(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code ?? "unknown");
}
