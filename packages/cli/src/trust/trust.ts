// Which folders are trusted: `trust.json` in the data folder, {"folders": [real paths]}, for its owner alone. A trusted
// folder covers those below it, except for the home folder and the root, which hold everything.
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { AgentError } from "capstan";
import { dataFolder, userFolder } from "capstan/data-folder";
import { replaceFile } from "capstan/replace-file";
import { ensureDataFolder } from "../config/ensure-data-folder.ts";
import type { Io } from "../io.ts";

/** Whether the user has said that code and commands found in the folder may be run. */
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

/** Remembers it. */
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
    // Below a file there is nothing either; whoever makes the data folder says so.
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw createFileError(file, "cannot be read");
  }
  try {
    const { folders } = JSON.parse(text) as { folders: unknown };
    if (Array.isArray(folders) && folders.every((folder) => typeof folder === "string")) return folders;
  } catch {
    // Said below.
  }
  throw createFileError(file, "is damaged");
}

function createFileError(file: string, problem: string): AgentError {
  const message = `The list of trusted folders ${file} ${problem}. Repair or remove it; you are then asked again.`;
  return new AgentError("invalid_definition", message);
}

function resolveHome(env: Io["env"]): string {
  try {
    return realpathSync(userFolder(env));
  } catch {
    return userFolder(env); // of a user without one
  }
}
