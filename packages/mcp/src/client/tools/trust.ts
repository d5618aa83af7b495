import { readFile } from "node:fs/promises";
import { AgentError, isRecord } from "capstan";
import { replaceFile } from "capstan/replace-file";

/** A trusted tool: its fingerprint, and its definition as JSON to show later changes. */
export type TrustedTool = { readonly fingerprint: string; readonly definition: string };

/** Trusted definitions by server and tool. */
export interface TrustStore {
  get(server: string, tool: string): TrustedTool | undefined;
  set(server: string, tool: string, trusted: TrustedTool): void;
  /** Resolves when all changes are saved. */
  save(): Promise<void>;
}

/** Opens a trust store. Without a file, it lasts until the process ends. */
export async function openTrustStore(file: string | undefined): Promise<TrustStore> {
  const known = new Map<string, TrustedTool>(file === undefined ? [] : await readTrustFile(file));
  let saving = Promise.resolve();
  let isDirty = false;
  const getKey = (server: string, tool: string) => JSON.stringify([server, tool]);
  async function writeIfDirty(): Promise<void> {
    if (!isDirty || file === undefined) return;
    isDirty = false;
    try {
      await replaceFile(file, `${JSON.stringify(Object.fromEntries(known), undefined, 2)}\n`);
    } catch (error) {
      isDirty = true;
      throw error;
    }
  }
  return {
    get: (server, tool) => known.get(getKey(server, tool)),
    set(server, tool, trusted) {
      known.set(getKey(server, tool), trusted);
      isDirty = true;
    },
    save() {
      saving = saving.then(writeIfDirty, writeIfDirty);
      return saving;
    },
  };
}

async function readTrustFile(file: string): Promise<[string, TrustedTool][]> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "{}";
    throw error;
  });
  try {
    const known: unknown = JSON.parse(text);
    if (isRecord(known) && Object.values(known).every(isTrustedTool))
      return Object.entries(known) as [string, TrustedTool][];
  } catch {
    // Reported below.
  }
  throw new AgentError(
    "mcp_config",
    `The trust file ${file} is damaged. Check it, then repair or delete it; without it every tool is trusted again on first use.`,
  );
}

function isTrustedTool(value: unknown): boolean {
  if (!isRecord(value) || typeof value.fingerprint !== "string" || typeof value.definition !== "string")
    return false;
  return isRecord(JSON.parse(value.definition));
}
