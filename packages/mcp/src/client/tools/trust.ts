import { readFile } from "node:fs/promises";
import { AgentError, isRecord } from "capstan";
import { replaceFile } from "capstan/replace-file";

/** A tool as it was listed first, or as the user trusted it last. */
export type TrustedTool = {
  readonly fingerprint: string;
  /** The definition as JSON, to show later changes. */
  readonly definition: string;
  /** The user has approved what the model reads of it. */
  readonly approved?: true;
};

/** Trusted definitions by server and tool. */
export interface TrustStore {
  get(server: string, tool: string): TrustedTool | undefined;
  set(server: string, tool: string, trusted: TrustedTool): void;
  /** Resolves when all changes are saved. */
  save(): Promise<void>;
  /** Reads what other processes have saved meanwhile. */
  reload(): Promise<void>;
}

/** Opens a trust store. Without a file, it lasts until the process ends. */
export async function openTrustStore(file: string | undefined): Promise<TrustStore> {
  const known = new Map<string, TrustedTool>(file === undefined ? [] : await readTrustFile(file));
  let saving = Promise.resolve();
  const unsaved = new Map<string, TrustedTool>();
  const getKey = (server: string, tool: string) => JSON.stringify([server, tool]);
  async function saveChanges(): Promise<void> {
    if (unsaved.size === 0 || file === undefined) return;
    const changes = [...unsaved];
    // Read again: another process may have saved changes, too.
    const stored = Object.fromEntries([...(await readTrustFile(file)), ...changes]);
    await replaceFile(file, `${JSON.stringify(stored, undefined, 2)}\n`);
    for (const [key, trusted] of changes) if (unsaved.get(key) === trusted) unsaved.delete(key);
  }
  return {
    get: (server, tool) => known.get(getKey(server, tool)),
    set(server, tool, trusted) {
      known.set(getKey(server, tool), trusted);
      unsaved.set(getKey(server, tool), trusted);
    },
    save() {
      saving = saving.then(saveChanges, saveChanges);
      return saving;
    },
    async reload() {
      const stored = file === undefined ? [] : await readTrustFile(file);
      for (const [key, trusted] of stored) if (!unsaved.has(key)) known.set(key, trusted);
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
    `The trust file ${file} is damaged. Check it, then repair or delete it; without it no metadata is approved, and changes since the last start are not noticed.`,
  );
}

function isTrustedTool(value: unknown): boolean {
  if (!isRecord(value) || typeof value.fingerprint !== "string" || typeof value.definition !== "string")
    return false;
  if (value.approved !== undefined && value.approved !== true) return false;
  return isRecord(JSON.parse(value.definition));
}
