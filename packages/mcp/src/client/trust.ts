import { readFile } from "node:fs/promises";
import { AgentError } from "capstan";
import { replaceFile } from "capstan/replace-file";
import { isRecord } from "../is-record.ts";

/** What was trusted of a tool: its fingerprint, and its definition as JSON, to show a person what has changed. */
export type Trusted = { readonly fingerprint: string; readonly definition: string };

/** Which definitions are trusted, by server and tool. */
export interface Trust {
  get(server: string, tool: string): Trusted | undefined;
  set(server: string, tool: string, trusted: Trusted): void;
  /** Resolves when all that was set is kept. */
  saved(): Promise<void>;
}

/** Trust that lasts as long as the process; with a file it lasts. */
export async function trustIn(file: string | undefined): Promise<Trust> {
  const known = new Map<string, Trusted>(file === undefined ? [] : await read(file));
  let saving = Promise.resolve();
  let dirty = false;
  const keyOf = (server: string, tool: string) => JSON.stringify([server, tool]);
  async function save(): Promise<void> {
    if (!dirty || file === undefined) return;
    dirty = false;
    try {
      await replaceFile(file, `${JSON.stringify(Object.fromEntries(known), undefined, 2)}\n`);
    } catch (error) {
      dirty = true;
      throw error;
    }
  }
  return {
    get: (server, tool) => known.get(keyOf(server, tool)),
    set(server, tool, trusted) {
      known.set(keyOf(server, tool), trusted);
      dirty = true;
    },
    saved() {
      saving = saving.then(save, save);
      return saving;
    },
  };
}

async function read(file: string): Promise<[string, Trusted][]> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "{}";
    throw error;
  });
  try {
    const known: unknown = JSON.parse(text);
    if (isRecord(known) && Object.values(known).every(isTrusted))
      return Object.entries(known) as [string, Trusted][];
  } catch {
    // Said below.
  }
  throw new AgentError(
    "mcp_config",
    `The file of trusted tools ${file} is damaged. Look at it, then repair or remove it; without it every tool is trusted anew.`,
  );
}

function isTrusted(value: unknown): boolean {
  if (!isRecord(value) || typeof value.fingerprint !== "string" || typeof value.definition !== "string")
    return false;
  return isRecord(JSON.parse(value.definition));
}
