import { chmodSync, mkdirSync } from "node:fs";
import { AgentError } from "capstan";

/** Creates the folder, readable only by its owner, unless it exists; an existing folder keeps its permissions. */
export function ensureDataFolder(folder: string): void {
  const created = createFolder(folder);
  if (created !== undefined && process.platform !== "win32") chmodSync(folder, 0o700);
}

function createFolder(folder: string): string | undefined {
  try {
    return mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw createFolderError(folder, cause as NodeJS.ErrnoException);
  }
}

function createFolderError(folder: string, cause: NodeJS.ErrnoException): AgentError {
  const { code = "" } = cause;
  const why = { EEXIST: "is a file", ENOTDIR: "is inside a file" }[code] ?? `cannot be created (${code})`;
  const message = `The data folder ${folder} ${why}. Set CAPSTAN_HOME to another folder, or choose another file with --database.`;
  return new AgentError("invalid_definition", message, { cause });
}
