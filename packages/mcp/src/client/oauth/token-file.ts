// One JSON file: { "version": 1, "servers": { "<origin and path>": { "client": …, "tokens": … } } }. It is replaced as a
// whole (written beside, synced, renamed), so a reader sees the old or the new one, and is readable by its owner alone.
import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { AgentError } from "capstan";
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
      const write = async () => {
        const servers = await readServers(file);
        await replaceFile(file, { ...servers, [key]: change(servers[key] ?? {}) });
      };
      const turn = (lastWrites.get(file) ?? Promise.resolve()).then(write);
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

async function replaceFile(file: string, servers: Servers): Promise<void> {
  const beside = `${file}.${randomUUID()}.tmp`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeSynced(beside, `${JSON.stringify({ version: 1, servers }, undefined, 2)}\n`);
    await rename(beside, file);
    await syncFolder(dirname(file));
  } catch (error) {
    await rm(beside, { force: true });
    throw new AgentError(
      "mcp_config",
      `The file of MCP tokens ${file} cannot be written (${codeOf(error)}).`,
    );
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** So that the new name is on the disk too. Windows cannot open a folder. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code ?? "unknown");
}
