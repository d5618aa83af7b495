// Trusted folders: `trust.json` in the data folder, mode 0600: {"folders": [real paths], "files": {path: snapshot}}. A
// project file is used only as it was trusted. Trust in a folder includes its subfolders, except for the home folder and
// the root, which contain everything; a project file in a subfolder needs its own trust.
import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { AgentError, isRecord } from "capstan";
import { dataFolder, userFolder } from "capstan/data-folder";
import { replaceFile } from "capstan/replace-file";
import { ensureDataFolder } from "../config/ensure-data-folder.ts";
import type { Io } from "../io.ts";
import { selectSkill, takeSkillSnapshot, takeSkillsSnapshot } from "./skill-snapshot.ts";
import { type Snapshot, takeSnapshot, tooLarge } from "./snapshot.ts";

/** Whether the user allows code and commands found in the folder to run. */
export function isTrusted(folder: string, env: Io["env"]): boolean {
  const trusted = new Set(readTrust(env).folders);
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
  await changeTrust(env, ({ folders, files }) => ({
    folders: [...new Set([...folders, realpathSync(folder)])].sort(),
    files,
  }));
}

/** A project file, or a folder of skills, compared with what the user has trusted. */
export type FileTrust = {
  readonly file: string;
  readonly isSkillFolder: boolean;
  /** `new`: it was never trusted, or by a version that did not record what. */
  readonly state: "trusted" | "changed" | "new";
  readonly trusted: Snapshot;
  readonly current: Snapshot;
  /** The folder has too many files to be compared, so it is never `trusted`. */
  readonly isTooLarge: boolean;
};

/** Compares a project file and the code that it loads, or a folder of skills, with what the user has trusted. */
export function checkTrust(file: string, env: Io["env"]): FileTrust {
  const isSkillFolder = statSync(file).isDirectory();
  const trusted = findTrusted(file, env);
  const current = isSkillFolder ? takeSkillsSnapshot(file) : takeSnapshot(file, dataFolder(env));
  const shared = { file, isSkillFolder, current, isTooLarge: tooLarge in current };
  if (!trusted) return { ...shared, state: "new", trusted: {} };
  const state = listChangedPaths(trusted, current).length === 0 ? "trusted" : "changed";
  return { ...shared, state, trusted };
}

/** Whether one skill in a project's folder of skills is as the user has trusted it. */
export function isTrustedSkill(folder: string, name: string, env: Io["env"]): boolean {
  const trusted = findTrusted(folder, env);
  const current = trusted && takeSkillSnapshot(folder, name);
  return (
    current !== undefined && listChangedPaths(selectSkill(trusted ?? {}, folder, name), current).length === 0
  );
}

function findTrusted(file: string, env: Io["env"]): Snapshot | undefined {
  return isTrusted(getTrustedFolder(file), env) ? readTrust(env).files[getKey(file)] : undefined;
}

/** The folder of the project: `.claude/skills` and `.capstan/skills` are two levels below it. */
const getTrustedFolder = (file: string): string =>
  statSync(file).isDirectory() ? dirname(dirname(file)) : dirname(file);

/** Returns the paths of files that were changed, added or removed. */
export function listChangedPaths(before: Snapshot, after: Snapshot): readonly string[] {
  const paths = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return paths.filter((path) => before[path]?.sha256 !== after[path]?.sha256);
}

/** Trusts a project file as it was when it was checked, and the folder of the project. */
export async function trustFile({ file, current }: FileTrust, env: Io["env"]): Promise<void> {
  await trustFolder(getTrustedFolder(file), env);
  await changeTrust(env, ({ folders, files }) => ({ folders, files: { ...files, [getKey(file)]: current } }));
}

/** Identifies a project file: by its real folder, and by its name even if that is a link. */
const getKey = (file: string): string => join(realpathSync(dirname(file)), basename(file));

type Trust = { readonly folders: readonly string[]; readonly files: { readonly [file: string]: Snapshot } };

async function changeTrust(env: Io["env"], change: (trust: Trust) => Trust): Promise<void> {
  const file = getTrustPath(env);
  ensureDataFolder(dirname(file));
  await replaceFile(file, `${JSON.stringify(change(readTrust(env)), undefined, 2)}\n`);
}

const getTrustPath = (env: Io["env"]): string => join(dataFolder(env), "trust.json");

function readTrust(env: Io["env"]): Trust {
  const file = getTrustPath(env);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ENOTDIR: the data folder is inside a file; creating it reports that.
    if (code === "ENOENT" || code === "ENOTDIR") return { folders: [], files: {} };
    throw createFileError(file, "cannot be read");
  }
  try {
    // Version 0.1 did not record files.
    const { folders, files = {} } = JSON.parse(text) as { folders: unknown; files?: unknown };
    const areFolders = Array.isArray(folders) && folders.every((folder) => typeof folder === "string");
    if (areFolders && isRecord(files) && Object.values(files).every(isSnapshot))
      return { folders, files: files as Trust["files"] };
  } catch {
    // Reported below.
  }
  throw createFileError(file, "is damaged");
}

const isSnapshot = (value: unknown): boolean =>
  isRecord(value) &&
  Object.values(value).every(
    (file) =>
      isRecord(file) &&
      typeof file.sha256 === "string" &&
      (file.text === undefined || typeof file.text === "string"),
  );

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
