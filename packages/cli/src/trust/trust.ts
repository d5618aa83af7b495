// Which folders are trusted: `trust.json` in the data folder, {"folders": [real paths]}, for its owner alone. A trusted
// folder covers those below it, except for the home folder and the root, which hold everything.
import { chmodSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { AgentError } from "capstan";
import { dataFolder, userFolder } from "capstan/data-folder";
import { replaceFile } from "capstan/replace-file";
import type { Io } from "../io.ts";

/** Whether the user has said that code and commands found in the folder may be run. */
export function isTrusted(folder: string, env: Io["env"]): boolean {
  const known = new Set(readTrusted(trustFile(env)));
  const start = realpathSync(folder);
  const home = realHome(env);
  for (let above = start; ; above = dirname(above)) {
    const isAll = above === home || dirname(above) === above;
    if (known.has(above) && (above === start || !isAll)) return true;
    if (dirname(above) === above) return false;
  }
}

/** Remembers it. */
export async function trustFolder(folder: string, env: Io["env"]): Promise<void> {
  const file = trustFile(env);
  const folders = [...new Set([...readTrusted(file), realpathSync(folder)])].sort();
  makeDataFolder(dirname(file));
  await replaceFile(file, `${JSON.stringify({ folders }, undefined, 2)}\n`);
}

/** Makes it for its owner alone; what was there keeps its rights. */
export function makeDataFolder(folder: string): void {
  const made = madeFolder(folder);
  if (made !== undefined && process.platform !== "win32") chmodSync(folder, 0o700);
}

function madeFolder(folder: string): string | undefined {
  try {
    return mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw noFolder(folder, cause as NodeJS.ErrnoException);
  }
}

function noFolder(folder: string, cause: NodeJS.ErrnoException): AgentError {
  const { code = "" } = cause;
  const why = { EEXIST: "is a file", ENOTDIR: "is below a file" }[code] ?? `cannot be made (${code})`;
  const message = `The data folder ${folder} ${why}: name another one with CAPSTAN_HOME, or another file with --database.`;
  return new AgentError("invalid_definition", message, { cause });
}

const trustFile = (env: Io["env"]): string => join(dataFolder(env), "trust.json");

function readTrusted(file: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Below a file there is nothing either; whoever makes the data folder says so.
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw damaged(file, "cannot be read");
  }
  try {
    const { folders } = JSON.parse(text) as { folders: unknown };
    if (Array.isArray(folders) && folders.every((folder) => typeof folder === "string")) return folders;
  } catch {
    // Said below.
  }
  throw damaged(file, "is damaged");
}

function damaged(file: string, problem: string): AgentError {
  const message = `The list of trusted folders ${file} ${problem}. Repair or remove it; you are then asked again.`;
  return new AgentError("invalid_definition", message);
}

function realHome(env: Io["env"]): string {
  try {
    return realpathSync(userFolder(env));
  } catch {
    return userFolder(env); // of a user without one
  }
}
