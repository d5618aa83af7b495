// Programs outside the sandbox execute what a repository names: `git status` starts the file system monitor, hooks and
// filters of `.git/config`, and of any folder that looks like a repository.
import type { Dirent } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import { foldName } from "../files/protected-paths.ts";
import { decodeBytes, fromBytes } from "./walk-tree.ts";

const repositoryNames = new Set([".git", ".hg", ".svn"]);

export function isRepositoryName(name: string): boolean {
  return /^[.\x80-\xff]/.test(name) && repositoryNames.has(foldName(decodeBytes(name)));
}

/** Whether git takes a folder for a repository, whatever its name: it has a `HEAD` and, here or elsewhere, objects and refs. */
export function looksLikeRepository(entries: readonly Dirent[]): boolean {
  const has = (wanted: string) => entries.some(({ name }) => name.toLowerCase() === wanted);
  return has("head") && (has("commondir") || (has("objects") && has("refs")));
}

/** Two files with the same identity are the same file. */
export async function identifyFile(path: string): Promise<string> {
  const info = await lstat(fromBytes(path), { bigint: true });
  const link = info.isSymbolicLink() ? await readlink(fromBytes(path), { encoding: "latin1" }) : "";
  return [info.dev, info.ino, info.mode & 0o170000n, link].join(":");
}

export function exists(path: string): Promise<boolean> {
  return lstat(fromBytes(path)).then(
    () => true,
    () => false,
  );
}
