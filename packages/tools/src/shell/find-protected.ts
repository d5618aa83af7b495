import type { Dirent } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { AgentError } from "capstan";
import { isWithin } from "../files/parse-path.ts";
import { hasProtectedName } from "../files/protected-paths.ts";
import { identifyFile, isRepositoryName, looksLikeRepository } from "./repositories.ts";
import { decodeBytes, fromBytes, walkTree } from "./walk-tree.ts";

/** What commands must not see or change, as byte paths. */
export type ProtectedPaths = {
  /** Credentials, and folders that cannot be searched: empty for commands. */
  readonly secrets: Map<string, "file" | "folder">;
  /** Repositories and the identity of their files: read-only for commands. */
  readonly repositories: Map<string, string>;
};

export type FindProtectedOptions = {
  /** Folders to search, as byte paths. */
  readonly roots: readonly string[];
  /** A folder that is hidden as a whole. */
  readonly dataFolder?: string | undefined;
  readonly maxEntries?: number;
};

const defaultMaxEntries = 1_000_000;
const maxSearches = 10;
// The system refuses paths of 4,096 bytes. A command can still create them, one relative step at a time.
const maxPathBytes = 3_700;

/**
 * Searches the folders for credentials (`.env`, `.npmrc`, `.aws` and the like) and repositories, at any depth. What cannot
 * be searched is hidden as a whole. Throws `sandbox_unavailable` if the folders have too many entries.
 */
export async function findProtected(options: FindProtectedOptions): Promise<ProtectedPaths> {
  for (let search = 1; search <= maxSearches; search++) {
    const found = await searchOnce(options);
    if (found) return found;
  }
  throw createSearchError(
    "changes while it is searched. Stop the programs that rename or delete folders in it",
  );
}

/** Returns undefined if a folder has disappeared meanwhile: it may be elsewhere. */
async function searchOnce(options: FindProtectedOptions): Promise<ProtectedPaths | undefined> {
  const { roots, dataFolder, maxEntries = defaultMaxEntries } = options;
  const found: ProtectedPaths = { secrets: new Map(), repositories: new Map() };
  let entryCount = 0;
  let hasChanged = false;
  if (dataFolder !== undefined) found.secrets.set(dataFolder, "folder");
  const visitor = {
    async visit(folder: string, entries: readonly Dirent[]) {
      entryCount += entries.length;
      if (entryCount > maxEntries)
        throw createSearchError(
          `has more than ${maxEntries} files and folders. Set \`cwd\` of shellTool to a smaller folder, or delete files`,
        );
      if (looksLikeRepository(entries)) {
        found.repositories.set(folder, await identifyFile(folder));
        return [];
      }
      const folders: string[] = [];
      for (const entry of entries) {
        const path = `${folder}/${entry.name}`;
        if (found.secrets.has(path)) continue;
        if (isRepositoryName(entry.name)) found.repositories.set(path, await identifyFile(path));
        else if (isSecret(entry.name)) await addSecret(path, entry, found.secrets);
        else if (!entry.isDirectory()) continue;
        else if (path.length > maxPathBytes) found.secrets.set(path, "folder");
        else folders.push(path);
      }
      return folders;
    },
    onError(folder: string, code: string | undefined) {
      if (code === "ENOENT" || code === "ENOTDIR") hasChanged = true;
      else if (code === "EACCES" || code === "EPERM") found.secrets.set(folder, "folder");
      else throw createSearchError(`cannot be searched (${code}). Check its disk`);
      return false;
    },
  };
  for (const root of roots) await walkTree(root, visitor);
  return hasChanged ? undefined : found;

  async function addSecret(path: string, entry: Dirent, secrets: Map<string, "file" | "folder">) {
    const target = entry.isSymbolicLink() ? await followLink(path, roots) : { path, entry };
    if (target) secrets.set(target.path, target.entry.isDirectory() ? "folder" : "file");
  }
}

/** Every protected name starts with one of these, or with a character that some file system takes for one of these. */
const secretStart = /^[._cC\x80-\xff]/;

function isSecret(name: string): boolean {
  return secretStart.test(name) && hasProtectedName([decodeBytes(name)]);
}

/** Returns where a link leads, if commands can see it: a link alone hides nothing. */
async function followLink(path: string, roots: readonly string[]) {
  try {
    const target = await realpath(fromBytes(path), { encoding: "latin1" });
    const isInside = roots.some((root) => target !== root && isWithin(target, root));
    return isInside ? { path: target, entry: await stat(fromBytes(target)) } : undefined;
  } catch {
    return undefined; // it leads nowhere
  }
}

function createSearchError(problem: string): AgentError {
  const message = `The command did not run: its folder must be searched for credentials, which commands must not see, but it ${problem}.`;
  return new AgentError("sandbox_unavailable", message);
}
