// One JSON file: { "version": 1, "servers": { "<origin and path>": { "client": …, "tokens": … } } }.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { AgentError } from "capstan";
import { replaceFile } from "capstan/replace-file";
import { isRecord } from "../../is-record.ts";
import type { Credentials, TokenStore } from "./token-store.ts";

type Servers = Readonly<Record<string, Credentials>>;

/** By path: two stores on one file must not lose each other's writes. */
const lastWrites = new Map<string, Promise<void>>();

/** Tokens in a file with mode 0600; folders that are missing are made with mode 0700. */
export function tokenFile(path: string): TokenStore {
  const file = resolve(path);
  return {
    read: async (key) => (await readServers(file))[key] ?? {},
    update(key, change) {
      const take = async () => {
        const servers = await readServers(file);
        await write(file, { ...servers, [key]: change(servers[key] ?? {}) });
      };
      const turn = (lastWrites.get(file) ?? Promise.resolve()).then(take);
      const settled = turn.catch(() => undefined);
      lastWrites.set(file, settled);
      void settled.then(() => lastWrites.get(file) === settled && lastWrites.delete(file));
      return turn;
    },
  };
}

async function readServers(file: string): Promise<Servers> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return {};
    throw new AgentError("mcp_config", `The file of MCP tokens ${file} cannot be read (${codeOf(error)}).`);
  }
  const content = parsed(text);
  if (isRecord(content) && content.version === 1 && areServers(content.servers)) return content.servers;
  // Without the parser's error, which repeats a part of the text.
  const message = `The file of MCP tokens ${file} is damaged or of another version. It was left as it is: move it away, then sign in again.`;
  throw new AgentError("mcp_config", message);
}

async function write(file: string, servers: Servers): Promise<void> {
  try {
    await replaceFile(file, `${JSON.stringify({ version: 1, servers }, undefined, 2)}\n`);
  } catch (error) {
    throw new AgentError(
      "mcp_config",
      `The file of MCP tokens ${file} cannot be written (${codeOf(error)}).`,
    );
  }
}

function areServers(value: unknown): value is Servers {
  return isRecord(value) && Object.values(value).every(areCredentials);
}

function areCredentials(value: unknown): value is Credentials {
  if (!isRecord(value)) return false;
  const { client, tokens } = value;
  const hasClient = client === undefined || (isRecord(client) && typeof client.client_id === "string");
  return hasClient && (tokens === undefined || (isRecord(tokens) && typeof tokens.access_token === "string"));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code ?? "unknown");
}
