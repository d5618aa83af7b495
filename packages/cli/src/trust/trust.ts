// Trusted folders: `trust.json` in the data folder, {"folders": [real paths]}, mode 0600. Trust includes subfolders,
// except for the home folder and the root, which contain everything.
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { AgentError } from "capstan";
import { dataFolder, userFolder } from "capstan/data-folder";
import { replaceFile } from "capstan/replace-file";
import { ensureDataFolder } from "../config/ensure-data-folder.ts";
import type { Io } from "../io.ts";

/** Whether the user allows code and commands found in the folder to run. */
export function isTrusted(folder: string, env: Io["env"]): boolean {
  const trusted = new Set(readTrustedFolders(getTrustFile(env)));
  const start = realpathSync(folder);
  const home = resolveHome(env);
  for (let ancestor = start; ; ancestor = dirname(ancestor)) {
    const isTooBroad = ancestor === home || dirname(ancestor) === ancestor;
    if (trusted.has(ancestor) && (ancestor === start || !isTooBroad)) return true;
    if (dirname(ancestor) === ancestor) return false;
  }
}

/** Trusts the folder permanently. */
export async function trustFolder(folder: string, env: Io["env"]): Promise<void> {
  const file = getTrustFile(env);
  const folders = [...new Set([...readTrustedFolders(file), realpathSync(folder)])].sort();
  ensureDataFolder(dirname(file));
  await replaceFile(file, `${JSON.stringify({ folders }, undefined, 2)}\n`);
}

const getTrustFile = (env: Io["env"]): string => join(dataFolder(env), "trust.json");

function readTrustedFolders(file: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ENOTDIR: the data folder is inside a file; creating it reports that.
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw createFileError(file, "cannot be read");
  }
  try {
    const { folders } = JSON.parse(text) as { folders: unknown };
    if (Array.isArray(folders) && folders.every((folder) => typeof folder === "string")) return folders;
  } catch {
    // Reported below.
  }
  throw createFileError(file, "is damaged");
}

function createFileError(file: string, problem: string): AgentError {
  const message = `The list of trusted folders ${file} ${problem}. Repair or delete it; deleting it makes capstan ask again.`;
  return new AgentError("invalid_definition", message);
}

function resolveHome(env: Io["env"]): string {
  try {
    return realpathSync(userFolder(env));
  } catch {
    return userFolder(env); // does not exist
  }
}
