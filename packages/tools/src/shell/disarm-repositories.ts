import type { Dirent } from "node:fs";
import { chmod, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { createSecurityError, quotePath } from "../files/file-errors.ts";
import type { ProtectedPaths } from "./find-protected.ts";
import { exists, identifyFile, isRepositoryName, looksLikeRepository } from "./repositories.ts";
import { decodeBytes, fromBytes, walkTree } from "./walk-tree.ts";

/**
 * Renames every repository that a command has created, so that no program outside takes it for one, and returns the new
 * paths. `before` has those that were there before, which commands could not change.
 */
export async function disarmRepositories(
  roots: readonly string[],
  before: ProtectedPaths,
): Promise<readonly string[]> {
  const renamed: string[] = [];
  const isKnown = async (path: string) =>
    before.repositories.has(path) && before.repositories.get(path) === (await identifyFile(path));
  const visitor = {
    async visit(folder: string, entries: readonly Dirent[]) {
      if (await isKnown(folder)) return [];
      const folders: string[] = [];
      for (const entry of entries) {
        let path = `${folder}/${entry.name}`;
        if (isRepositoryName(entry.name)) {
          if (await isKnown(path)) continue;
          path = await renameAside(path);
          renamed.push(path);
        }
        if (entry.isDirectory()) folders.push(path);
      }
      if (looksLikeRepository(entries)) {
        const head = entries.find(({ name }) => name.toLowerCase() === "head");
        renamed.push(await renameAside(`${folder}/${head?.name}`));
      }
      return folders;
    },
    // A folder without the right to list it still lets git open what it knows the name of.
    onError: (folder: string, code: string | undefined) =>
      code === "EACCES" && !before.secrets.has(folder) && unlock(folder),
  };
  for (const root of roots) await walkTree(root, visitor);
  return renamed.map(decodeBytes);
}

const suffix = "-from-sandbox";

/** Moves a file out of the way, within its folder. */
export async function renameAside(path: string): Promise<string> {
  for (let number = 1; ; number++) {
    const free = `${path}${suffix}${number === 1 ? "" : `-${number}`}`;
    if (await exists(free)) continue;
    const move = () => rename(fromBytes(path), fromBytes(free));
    await move().catch(async (cause: NodeJS.ErrnoException) => {
      if (cause.code === "ENOENT") return; // deleted meanwhile
      if (cause.code === "EACCES" && (await unlock(dirname(path)))) return move();
      const advice = "Delete it before you run git there";
      const message = `The command created the repository ${quotePath(decodeBytes(path))}, which cannot be renamed. ${advice}.`;
      throw createSecurityError(message, cause);
    });
    return free;
  }
}

function unlock(folder: string): Promise<boolean> {
  return chmod(fromBytes(folder), 0o700).then(
    () => true,
    () => false, // another user's
  );
}
